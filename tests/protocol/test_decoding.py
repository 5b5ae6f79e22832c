"""JSON from outside: floats are read quickly and exactly, and there is one place that builds readers."""

import ast
import importlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from tests.cost import is_cheaper

from qortal_mcp.protocol.decoding import (
    decode,
    decode_as,
    decoder,
    decoder_of_any,
    has_more_values,
    holds_float,
)

ROOT = Path(__file__).parents[2] / "src" / "qortal_mcp"
MEBIBYTE = 1024 * 1024
# Where JSON is read in another way, and why that can do no harm. The audit has a reader of its own.
ALLOWED = {
    "console/auditing/process.py": "its task, which the server that started it has written",
    "protocol/decoding.py": "the one place",
    "protocol/lenient.py": "the audit's reader of broken JSON, on Python's own parser",
    "server/asking.py": "a state that was sealed by this server, after its signature was checked",
    "qortal/sample/chain.py": "a file of this package",
    "qortal/sample/answers/qdn/content.py": "the sample chain",
    "qortal/tools/__init__.py": "a file of this package",
    "qortal/server.py": "a file of this package",
    "qortal/manifest.py": "what this server lists",
    "connect/records.py": "a note of this program, in the user's own folder, read within bounds",
    "connect/settings_files/json_members.py": "one key of a file that was read already",
    "metrics/board.py": "numbers of this server's own processes, in memory that only they see",
    "cli/running/serve/workers/messages.py": "what this server's own processes tell each other",
    "cli/running/own_server.py": "the answer of the server in the same process",
    "cli/call.py": "the answer of the server in the same process",
    "cli/tools.py": "what this server lists",
    "cli/input/call_arguments.py": "the user's own command line",
    "cli/input/audit_calls.py": "the user's own command line",
    "cli/output/values.py": "the answer of the server in the same process",
}
# Readers of types that are only known when they are made: those of endpoints, which are looked at there, and those of
# what tools of this server return.
OF_ANY_TYPE = {("qortal/endpoints/record.py", "kind"), ("server/offers/tool.py", "declared")}
READS = {"decode", "Decoder", "loads", "load", "JSONDecoder"}
MODULES = {"json", "msgspec.json"}


class Point(Struct):
    x: float
    y: float | None = None


class Line(Struct):
    points: list[Point]
    next: "Line | None" = None


def of(item: bytes, size: int = MEBIBYTE) -> bytes:
    return b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"


@pytest.mark.parametrize("number", [b"1e300", b"2.2250738585072011e-308", b"1.7976931348623157e308"])
@pytest.mark.parametrize("kind", [Any, list[float], dict[str, Any] | list[Any]], ids=str)
def test_many_floats_are_read_at_once(number: bytes, kind: Any) -> None:
    data, read, slow = of(number, MEBIBYTE // 4), decoder_of_any(kind), msgspec.json.Decoder(kind)
    assert is_cheaper(lambda: read(data), than=lambda: slow.decode(data))


def test_the_same_member_given_over_and_over_costs_no_more() -> None:
    members = b"{" + b",".join([b'"x":1e300'] * (MEBIBYTE // 40)) + b"}"
    read, slow = decoder_of_any(Point), msgspec.json.Decoder(Point)
    assert is_cheaper(lambda: read(members), than=lambda: slow.decode(members))


@pytest.mark.parametrize("text", ["1e400", "-1e400", "[1e309]", '{"a":[1e999]}', "9" * 400 + ".5"])
def test_a_number_beyond_every_float_is_refused(text: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="out of range"):
        decode(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_keeps_its_value(number: float) -> None:
    read = decode(json.dumps(number))
    assert type(read) is float
    assert (read, math.copysign(1, read)) == (number, math.copysign(1, number))


@given(st.integers(-(10**40), 10**40))
def test_a_whole_number_keeps_every_digit(number: int) -> None:
    assert decode(str(number)) == number


@pytest.mark.parametrize(
    "text", ['{"points":[{"x":1},{"x":2.5,"y":null}]}', '{"points":[],"next":{"points":[]}}']
)
def test_types_with_floats_are_read_as_msgspec_reads_them(text: str) -> None:
    assert decode_as(text, Line) == msgspec.json.decode(text, type=Line)


@pytest.mark.parametrize("text", ['{"points":[{"x":"1"}]}', '{"points":[{"x":true}]}', '{"points":1}', "[]"])
def test_types_with_floats_are_refused_as_msgspec_refuses_them(text: str) -> None:
    with pytest.raises(msgspec.ValidationError) as theirs:
        msgspec.json.decode(text, type=Line)
    with pytest.raises(msgspec.ValidationError) as ours:
        decode_as(text, Line)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Line, True),
        (dict[str, list[float | None]], True),
        (list[int | str], False),
        (Any, False),
        (float, True),
    ],
    ids=str,
)
def test_a_declared_float_is_found_wherever_it_is(kind: Any, expected: bool) -> None:
    assert holds_float(kind) is expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (b"[1,2,3]", 3),
        (b'{"a":[],"b":{}}', 4),
        (b'["a,b[c{d",",,,,"]', 2),
        (rb'["\\","\",,,",""]', 3),
        (rb'["\\\",,,"]', 1),
        (b"[[[[", 4),
        (b'[",,,,,,,,', 1),
    ],
)
def test_values_are_counted_outside_strings(text: bytes, values: int) -> None:
    long = text + b" " * 100
    assert has_more_values(long, values - 1)
    assert not has_more_values(long, values)


@pytest.mark.parametrize("item", [b"[]", b'""', b"1", b'"\\\\"', b'{"a":""}', b'"\\""'])
def test_values_are_not_counted_one_by_one(item: bytes) -> None:
    data = of(item, 4 * MEBIBYTE)
    one_by_one = re.compile(rb'"(?:[^"\\]|\\.)*"|[,\[{]')
    assert is_cheaper(
        lambda: has_more_values(data, 100_000), than=lambda: sum(1 for _ in one_by_one.finditer(data))
    )


def reads(path: Path) -> Iterator[int]:
    """The lines where a file decodes JSON with something else than the one place."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in READS and ast.unparse(node.value) in MODULES:
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield from (node.lineno for alias in node.names if alias.name in READS)


@pytest.mark.promise(
    "Limits and abuse",
    "Everything that reads JSON from outside reads floats the fast way: there is one place for it.",
)
def test_only_one_place_reads_json_from_outside() -> None:
    elsewhere = {
        str(path.relative_to(ROOT)): lines
        for path in sorted(ROOT.rglob("*.py"))
        if (lines := list(reads(path)))
    }
    assert {
        path: lines
        for path, lines in elsewhere.items()
        if path not in ALLOWED and not path.startswith("audit/")
    } == {}
    assert set(ALLOWED) <= set(elsewhere), "a reason without a reader"


def typed_readers() -> Iterator[tuple[str, str]]:
    """Where a reader without a way around floats is made, and of which type."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("decoder", "json_of"):
                yield str(path.relative_to(ROOT)), ast.unparse(node.args[0])


@pytest.mark.parametrize(
    ("path", "written"), [found for found in typed_readers() if found not in OF_ANY_TYPE]
)
def test_no_reader_has_a_type_with_a_float(path: str, written: str) -> None:
    if path == "protocol/decoding.py":
        assert written == "kind"
        return
    module = importlib.import_module("qortal_mcp." + path.removesuffix(".py").replace("/", "."))
    assert not holds_float(eval(written, vars(module)))


def test_a_reader_keeps_what_it_is_for() -> None:
    assert decoder(dict[str, int])('{"a":1}') == {"a": 1}
