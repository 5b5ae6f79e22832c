"""Whatever a server sends, an audit ends within its limits and every check survives it."""

import asyncio
import itertools
import json
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.audit.audits import LIMITS, evidence_of
from tests.audit.cases import BY_NAME
from tests.audit.stub import LEGACY, MODERN, Ask, Server
from tests.audit.wires import http_server

from qortal_mcp.audit.evidence import Evidence, Heard, Step, Visit, from_file, to_file
from qortal_mcp.audit.judging import baseline
from qortal_mcp.audit.judging.finding import Report
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.visiting.calls import Permission, minimal
from qortal_mcp.audit.visiting.runner import Order, Unreachable, collect
from qortal_mcp.protocol import lenient
from qortal_mcp.schemas.json_schema import can_judge, mismatch

ODD: list[Any] = [
    None, True, False, 0, -1, 10**400, 1e308, float("nan"), "", "\ud800", "\u202e", "a" * 5_000, [], {}, [[]],
    [None], {"": None}, {"type": []}, {"$ref": "#"}, [1, [2, [3]]], "2025-11-25", {"error": {}}, {"method": 5, "id": {}},
]  # fmt: skip
JSON_VALUES = st.recursive(
    st.sampled_from(ODD) | st.text(max_size=8) | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_evidence: dict[str, Evidence] = {}


async def evidence(name: str, *revisions: str) -> Evidence:
    if name not in _evidence:
        case = BY_NAME[name]
        async with http_server(case.server) as url:
            _evidence[name] = await collect(Order(target=url, revisions=revisions, limits=LIMITS))
    return _evidence[name]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every part of a value, itself included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for key, part in inner for deeper in places(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    if not path:
        return part
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], part)
    return copy


def with_reply(seen: Evidence, visit: int, step: int, data: bytes) -> Evidence:
    visits = list(seen.visits)
    steps = list(visits[visit].steps)
    steps[step] = structs.replace(steps[step], heard=(Heard.of(data),))
    visits[visit] = structs.replace(visits[visit], steps=tuple(steps))
    return structs.replace(seen, visits=tuple(visits))


def assert_survived(report: Report) -> None:
    assert not [one for one in report.not_judged if "failed" in one.reason]


def answered(seen: Evidence) -> list[tuple[int, int, Any]]:
    """Every step that was answered with one message."""
    return [
        (number, at, reading.values[0])
        for number, visit in enumerate(seen.visits)
        for at, step in enumerate(visit.steps)
        if step.heard and len((reading := lenient.read(step.heard[0].data)).values) == 1
    ]


@pytest.mark.parametrize("name", ["link-mixed", "in-ref"])
async def test_no_check_fails_whatever_stands_in_any_member_of_any_reply(name: str) -> None:
    seen = await evidence(name, "2025-11-25", MODERN)
    kinds: dict[tuple[Any, ...], tuple[int, int, Any, tuple[Any, ...]]] = {}
    for visit, at, value in answered(seen):
        for path in places(value):
            kinds.setdefault(
                (seen.visits[visit].revision, seen.visits[visit].steps[at].name, path),
                (visit, at, value, path),
            )
    # Each place gets one of the odd values; over all places and names every odd value comes many times.
    for number, (visit, at, value, path) in enumerate(kinds.values()):
        odd = ODD[(number * 7 + len(name)) % len(ODD)]
        data = json.dumps(replaced(value, path, odd)).encode()
        assert_survived(judge(with_reply(seen, visit, at, data)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_check_fails_for_any_json_in_place_of_any_part(data: st.DataObject) -> None:
    seen = _evidence.get("os-ok") or asyncio.run(evidence("os-ok", "2025-11-25", MODERN))
    for _ in range(3):
        visit, at, value = data.draw(st.sampled_from(answered(seen)))
        path = data.draw(st.sampled_from(places(value)))
        reply = json.dumps(replaced(value, path, data.draw(JSON_VALUES))).encode()
        seen = with_reply(seen, visit, at, reply)
    report = judge(seen)
    assert_survived(report)
    assert judge(from_file(to_file(seen))) == report


@pytest.mark.promise(
    "Audit", "An audit of a hostile server ends within its limits, and any bytes are judged."
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    pieces=st.lists(st.binary(max_size=60), max_size=5),
    transport=st.sampled_from(["stdio", "http", "websocket"]),
)
def test_any_bytes_are_judged(pieces: list[bytes], transport: Any) -> None:
    question = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    step = Step(name="tools/list", text=question, heard=tuple(Heard.of(piece) for piece in pieces))
    visit = Visit(name="v", transport=transport, revision=LEGACY[-1], steps=(step,))
    assert_survived(judge(Evidence(target="x", transport=transport, visits=(visit,))))


DEEP = b'{"a":' * 100_000
HOSTILE = [
    pytest.param(b"[" * 100_000, id="deep-arrays"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":' + DEEP + b"1" + b"}" * 100_001, id="deep-objects"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"tools":[' + b"9" * 100_000 + b"]}}", id="a-huge-number"),
    pytest.param(b'{"jsonrpc":"2.0","id":1e999,"result":{"tools":[1e999]}}', id="infinite"),
    pytest.param(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [None] * 100_000}}).encode(), id="a-hundred-thousand-nulls"),
    pytest.param(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": f"t{at}"} for at in range(100_000)]}}).encode(), id="a-hundred-thousand-tools"),
    pytest.param(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "t", "inputSchema": {"type": "object", "properties": {f"p{at}": {"$ref": "#/properties/p0"} for at in range(3_000)}}}]}}).encode(), id="thousands-of-references"),
    pytest.param(b'[{"jsonrpc":"2.0","id":1,"result":{}},' * 100 + b"1" + b"]" * 100, id="batches-in-batches"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{}}' * 5_000, id="joined"),
]  # fmt: skip


# Seconds that no honest pace needs, measured line by line on a busy machine: only what grows by the square does.
_FAR_TOO_LONG = 90


@pytest.mark.parametrize("data", HOSTILE)
def test_a_hostile_reply_is_judged_in_time(data: bytes) -> None:
    question = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    step = Step(name="tools/list", text=question, heard=(Heard.of(data),))
    visit = Visit(name="v", transport="stdio", revision=LEGACY[-1], steps=(step,))
    began = time.process_time()
    report = judge(Evidence(target="x", transport="stdio", visits=(visit,)))
    assert_survived(report)
    assert time.process_time() - began < _FAR_TOO_LONG
    assert len(report.findings) <= 1_000


def test_many_broken_lines_are_judged_in_time() -> None:
    lines = tuple(Heard.of(b"{\n" if at % 2 else b"}\n") for at in range(5_000))
    step = Step(name="tools/list", text='{"jsonrpc":"2.0","id":1,"method":"tools/list"}', heard=lines)
    visit = Visit(name="v", transport="stdio", revision=LEGACY[-1], steps=(step,))
    began = time.process_time()
    assert_survived(judge(Evidence(target="x", transport="stdio", visits=(visit,))))
    assert time.process_time() - began < _FAR_TOO_LONG


_BOUNDED = structs.replace(
    LIMITS,
    request_seconds=0.5,
    start_seconds=0.5,
    probe_seconds=0.3,
    exit_seconds=0.2,
    total_seconds=6.0,
    heard_pieces=500,
    heard_bytes=1_000_000,
    message_bytes=100_000,
)
_FLOOD = "import sys\nwhile True: sys.stdout.write({line!r})"
PROGRAMS = {
    "endless output without a line": _FLOOD.format(line="x" * 10_000),
    "endless lines": _FLOOD.format(line="hello\n"),
    "endless notifications": _FLOOD.format(
        line='{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n'
    ),
    "endless questions": _FLOOD.format(line='{"jsonrpc":"2.0","id":"s","method":"roots/list"}\n'),
    "endless replies": _FLOOD.format(line='{"jsonrpc":"2.0","id":1,"result":{}}\n'),
    "endless standard error": "import sys\nwhile True: sys.stderr.write('x' * 10_000)",
    "never reads, never ends": "import time\ntime.sleep(60)",
    "ignores every signal it can": "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)",
    "closes its output and lives": "import os, time\nos.close(1)\ntime.sleep(60)",
    "dies after its first line": "import sys\nsys.stdin.readline()\nprint('{')",
}


@pytest.mark.promise(
    "Audit", "An audit of a hostile server ends within its limits, and any bytes are judged."
)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
async def test_an_audit_of_a_hostile_program_ends_within_its_limits(program: str) -> None:
    began = time.monotonic()
    try:
        seen = await collect(Order(target=(sys.executable, "-I", "-S", "-c", program), limits=_BOUNDED))
    except Unreachable:
        pass
    else:
        assert_survived(judge(seen))
        heard = [sum(len(one.data) for step in visit.steps for one in step.heard) for visit in seen.visits]
        assert max(heard) <= _BOUNDED.heard_bytes + _BOUNDED.message_bytes
    assert time.monotonic() - began < _BOUNDED.total_seconds + 24


async def test_a_program_that_dies_at_once_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        await collect(
            Order(target=(sys.executable, "-I", "-S", "-c", "raise SystemExit(3)"), limits=_BOUNDED)
        )


ANSWERS = {
    "an endless body": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
    "an endless stream": b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
    "endless headers": b"HTTP/1.1 200 OK\r\n",
    "no HTTP at all": b"",
}
MORE = {
    "an endless body": b"[" * 60_000,
    "an endless stream": b"data: {}\n\n" * 6_000,
    "endless headers": b"x-a: " + b"a" * 500 + b"\r\n",
    "no HTTP at all": b"hello\n" * 1_000,
}


@pytest.mark.promise(
    "Audit", "An audit of a hostile server ends within its limits, and any bytes are judged."
)
@pytest.mark.parametrize("what", ANSWERS)
async def test_an_audit_of_a_hostile_address_ends_within_its_limits(what: str) -> None:
    tasks: set[asyncio.Task[None]] = set()

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "runs as one"
        tasks.add(task)
        try:
            writer.write(ANSWERS[what])
            while True:
                writer.write(MORE[what])
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(flood, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    began = time.monotonic()
    try:
        assert_survived(judge(await collect(Order(target=url, limits=_BOUNDED))))
    except Unreachable:
        pass
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert time.monotonic() - began < _BOUNDED.total_seconds + 24


async def test_a_server_with_endless_pages_is_left_at_the_limit() -> None:
    case = BY_NAME["list-paged"]
    numbers = iter(range(10**9))

    def bend(ask: Ask, replies: list[Any]) -> list[Any]:
        if ask.method != "tools/list":
            return replies
        page = {"tools": [], "nextCursor": str(next(numbers))}
        return [{"jsonrpc": "2.0", "id": ask.message["id"], "result": page}]

    limits = structs.replace(LIMITS, list_pages=5)
    async with http_server(Server(bend=bend)) as url:
        seen = await collect(Order(target=url, revisions=case.revisions, limits=limits))
    assert any("pages" in gap.reason for gap in seen.gaps)
    assert_survived(judge(seen))


async def test_an_audit_stops_at_its_number_of_requests() -> None:
    seen = await evidence_of(replace(BY_NAME["ok"], limits=(("requests", 7),)))
    assert sum(len(visit.steps) for visit in seen.visits) <= 7
    assert any(gap.weighs for gap in seen.gaps)


OPENING = ("initialize", "server/discover", "tools/list")
RICH = {
    "title": "T",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {"x": {"type": "string", "x-mcp-header": "X"}, "y": {"type": "array", "minItems": 1}},
        "required": ["x", "y"],
    },
}


@pytest.mark.parametrize("odd", ODD[:12] + ODD[12::2], ids=repr)
async def test_a_visit_goes_on_whatever_stands_in_what_it_builds_on(odd: Any) -> None:
    """Every place of the handshake, the discovery and the list of tools gets an odd value in turn."""
    turns = itertools.count()

    def bend(ask: Ask, replies: list[Any]) -> list[Any]:
        if ask.method not in OPENING or not replies:
            return replies
        paths = places(replies[0]["result"]) if "result" in replies[0] else []
        return [replaced(replies[0], ("result", *paths[next(turns) % len(paths)]), odd)] if paths else replies

    server = Server(tool=RICH, bend=bend)
    for _ in range(8):
        async with http_server(server) as url:
            order = Order(
                target=url,
                revisions=("2025-11-25", MODERN),
                limits=LIMITS,
                permission=Permission(all_read_only=True),
            )
            assert_survived(judge(await collect(order)))


@pytest.mark.parametrize("limit", [{"heard_bytes": 20_000}, {"heard_pieces": 3}], ids=str)
async def test_a_visit_over_http_is_left_when_it_has_heard_too_much(limit: dict[str, int]) -> None:
    numbers = iter(range(10**9))

    def bend(ask: Ask, replies: list[Any]) -> list[Any]:
        if ask.method != "tools/list":
            return replies
        page = {"tools": [], "nextCursor": str(next(numbers)), "_meta": {"x": "a" * 5_000}}
        return [{"jsonrpc": "2.0", "id": ask.message["id"], "result": page}]

    async with http_server(Server(bend=bend)) as url:
        order = Order(target=url, revisions=("2025-11-25",), limits=structs.replace(LIMITS, **limit))
        seen = await collect(order)
    assert any(gap.weighs and "in one visit" in gap.reason for gap in seen.gaps)
    for visit in seen.visits:
        assert sum(len(one.data) for step in visit.steps for one in step.heard) < 30_000
    assert_survived(judge(seen))


def listed(*tools: Any) -> Evidence:
    def said(name: str, id_: int, result: Any) -> Step:
        sent = json.dumps({"jsonrpc": "2.0", "id": id_, "method": name})
        return Step(
            name=name,
            text=sent,
            heard=(Heard(text=json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}) + "\n"),),
        )

    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    }
    steps = (said("initialize", 1, hello), said("tools/list", 2, {"tools": list(tools)}))
    visit = Visit(name="2025-11-25", transport="stdio", revision="2025-11-25", steps=steps)
    return Evidence(target="x", transport="stdio", visits=(visit,))


@pytest.mark.parametrize(
    ("one", "other"),
    [("a" * 200 + "x" + "b" * 200, "a" * 200 + "y" + "b" * 200), ("a\n", "a\\n"), ("a: name", "a")],
    ids=["long", "escaped", "joined"],
)
def test_what_is_known_of_one_tool_hides_nothing_of_another(one: str, other: str) -> None:
    def where(name: str) -> set[tuple[str, str]]:
        tool = {"name": name, "description": "d", "inputSchema": None}
        return {(found.code, found.where) for found in judge(listed(tool)).findings if "tool" in found.where}

    assert where(one)
    assert where(one).isdisjoint(where(other))


def test_what_became_worse_than_it_is_known_to_be_is_not_known() -> None:
    report = judge(listed({"name": "a", "description": "d"}))
    worst = next(found for found in report.findings if found.severity == "MUST")
    for severity, is_known in (("MUST", True), (None, True), ("SHOULD", False), ("advice", False)):
        entry = {"code": worst.code, "where": worst.where, "reason": "old"}
        entry |= {"severity": severity} if severity else {}
        again = judge(
            listed({"name": "a", "description": "d"}), baseline.read(json.dumps({"known": [entry]}).encode())
        )
        found = next(one for one in again.findings if (one.code, one.where) == (worst.code, worst.where))
        assert (found.known == "old") is is_known
        assert (worst.code in again.because) is not is_known


def _doubling(levels: int) -> dict[str, Any]:
    """A schema of a page that asks 2^levels times about one value."""
    defs: dict[str, Any] = {f"x{at}": {"allOf": [{"$ref": f"#/$defs/x{at + 1}"}] * 2} for at in range(levels)}
    return {"type": "object", "$defs": {**defs, f"x{levels}": {"type": "object"}}, "$ref": "#/$defs/x0"}


def _reply(at: int, result: Any) -> Heard:
    return Heard.of(json.dumps({"jsonrpc": "2.0", "id": at, "result": result}).encode() + b"\n")


def _seen_with(tools: list[Any], results: dict[str, Any]) -> Evidence:
    """A list of tools and a result for each call."""
    asked = [("tools/list", "", {"tools": tools})]
    asked += [("tools/call", name, result) for name, result in results.items()]
    steps = tuple(
        Step(
            name=method,
            subject=subject,
            text=json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": {"name": subject}}),
            heard=(_reply(at, result),),
        )
        for at, (method, subject, result) in enumerate(asked)
    )
    visit = Visit(name="v", transport="stdio", revision=LEGACY[-1], steps=steps)
    return Evidence(target="x", transport="stdio", visits=(visit,))


_TEXT = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {}}
_DEEP_LIST: Any = "x"
for _ in range(60):
    _DEEP_LIST = [_DEEP_LIST]
_TWICE = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/a"}},
    "$defs": {"a": {"type": "array", "anyOf": [{"items": {"$ref": "#/$defs/a"}}] * 2}},
}
_MUCH: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "references that double in inputSchema": ([{"name": "t", "inputSchema": _doubling(60)}], {}),
    "references that double in outputSchema": ([{"name": "t", "outputSchema": _doubling(60)}], {"t": _TEXT}),
    "references that double with each level of the value": (
        [{"name": "t", "outputSchema": _TWICE}],
        {"t": {**_TEXT, "structuredContent": {"a": _DEEP_LIST}}},
    ),
    "a long list to compare with a long list": (
        [{"name": "t", "outputSchema": {"type": "object", "additionalProperties": {"items": {"enum": [{"a": at} for at in range(5_000)]}}}}],
        {"t": {**_TEXT, "structuredContent": {"a": [{"a": -1}] * 20_000}}},
    ),
    "a million blanks as an image": (
        [{"name": "t"}],
        {"t": {"content": [{"type": "image", "mimeType": "image/png", "data": " " * 1_000_000 + "!"}]}},
    ),
    "20,000 references by name": (
        [{"name": "t", "inputSchema": {"type": "object", "properties": {str(at): {"$ref": "#a"} for at in range(20_000)}, "$defs": {"a": {"$anchor": "a"}}}}],
        {},
    ),
    "a long name with many members": (
        [{"name": "t", "inputSchema": {"type": "object", "properties": {"k" * 1_000_000: {"properties": {str(at): {} for at in range(100_000)}}}}}],
        {"t": {**_TEXT, "structuredContent": {"k" * 1_000_000: [1] * 100_000}}},
    ),
    "many calls and many broken tools": (
        [{"name": f"t{at}"} for at in range(10_000)],
        {f"t{at}": _TEXT for at in range(400)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", _MUCH)
def test_little_that_asks_for_much_is_judged_in_time(what: str) -> None:
    began = time.process_time()
    assert_survived(judge(_seen_with(*_MUCH[what])))
    assert time.process_time() - began < _FAR_TOO_LONG


def test_lines_that_never_become_a_message_are_judged_in_time() -> None:
    lines = tuple(Heard.of(data) for _ in range(600) for data in (b"{" + b"x[]" * 2_000 + b"\n", b"}\n"))
    step = Step(name="tools/list", text='{"jsonrpc":"2.0","id":1,"method":"tools/list"}', heard=lines)
    visit = Visit(name="v", transport="stdio", revision=LEGACY[-1], steps=(step,))
    began = time.process_time()
    assert_survived(judge(Evidence(target="x", transport="stdio", visits=(visit,))))
    assert time.process_time() - began < _FAR_TOO_LONG


@pytest.mark.parametrize("inner", [{"$ref": "#/$defs/x"}, {"default": "a" * 10_000}])
def test_no_arguments_are_made_up_that_would_fill_the_memory(inner: dict[str, Any]) -> None:
    names = [f"a{at}" for at in range(900)]
    much = {"type": "object", "required": names, "properties": dict.fromkeys(names, inner)}
    assert minimal({**much, "$defs": {"x": {"type": "object", "required": names}}}) is None


@pytest.mark.parametrize("levels", [8, 60])
def test_only_a_schema_of_reasonable_size_is_judged_by(levels: int) -> None:
    assert can_judge({}, _doubling(levels)) is (levels == 8)
    assert bool(mismatch([], _doubling(levels))) is (levels == 8)


@pytest.mark.parametrize("ref", ["http://x/#/$defs/x", "y", "#/$defs/a%2Fb"])
def test_a_schema_whose_references_can_be_read_in_two_ways_is_not_judged_by(ref: str) -> None:
    assert not can_judge({}, {"$id": "http://x/", "$defs": {"x": {}}, "allOf": [{"$ref": ref}]})


def test_a_tree_is_judged_however_many_branches_it_has() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    value: Any = {}
    for _ in range(12):
        value = {"left": value, "right": {}}
    assert mismatch(value, tree) == ""
    assert can_judge(value, tree)
    assert mismatch({"left": {"right": 1}}, tree).startswith("structuredContent.left.right: ")
