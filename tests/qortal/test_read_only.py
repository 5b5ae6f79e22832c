"""The proof that nothing but allow-listed GETs ever leaves, whatever a tool is called with.

Every tool is called with hostile values in every argument against a node that writes down what it is asked.
"""

import json
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from docgen.examples import EXAMPLES
from tests.qortal.conftest import caller
from tests.qortal.live_chain import live_answer

from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS, definitions
from qortal_mcp.server.tool_errors import ToolError

ALL = tuple(TOOLSETS)
DEFINITIONS = {definition["name"]: definition for definition in definitions(ALL)}

HOSTILE: tuple[Any, ...] = (
    "..",
    ".",
    "",
    "%2e%2e",
    "..%2F..%2Fadmin%2Fstop",
    "%252e%252e%252fadmin",
    "..\\..\\admin\\stop",
    "a;b",
    "slash/name",
    "100%real",
    "governance/2026 #1",
    "%2e%2e%2fadmin%2fstop",
    "../admin/stop",
    "..%2fadmin%2fstop",
    "/admin/stop",
    "\\admin\\stop",
    "a/../../admin/stop",
    "x?apiKey=1",
    "x&build=true",
    "x#fragment",
    "x;filepath=/etc/passwd",
    "x\r\nX-API-KEY: 1\r\n\r\nPOST /admin/stop HTTP/1.1",
    "http://127.0.0.1:1/admin/stop",
    "//evil.example/x",
    "\u2215admin\u2215stop",
    "\uff0e\uff0e\uff0fadmin",
    "\u202e\u200b\x00\x1b[31m",
    "\x00",
    "%00",
    "%",
    "A" * 1_000_000,
    "Q" + "1" * 33,
    "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9w",
    "5Kb8kLf9zgWQnogidDA76MzPL6TsZZY36hWXMssSzNydYXYB9KF",
    "abandon " * 11 + "about",
    "-----BEGIN PRIVATE KEY-----",
    "e" * 64,
    0,
    -1,
    2**31,
    2**63,
    10**30,
    1.5,
    True,
    None,
    [],
    ["..", "../x"],
    {"a": "b"},
    {"limit": 0, "build": True, "apiKey": "x", "filepath": "../../x"},
    "DOCUMENT_PRIVATE",
    "MAIL_PRIVATE",
    "/admin/stop",
    "@alice-test",
    "@../admin/stop",
    "@%2e%2e",
    "@" + "A" * 200,
    "7d",
    "99999y",
    "/arbitrary/resource/status/{service}/{name}",
    "/peers",
    "/{x}",
)
# These are only sent to say no.
ALWAYS_FALSE = {"rebuild", "async"}
NEVER = {
    "build", "namefilter", "followedonly", "filepath", "includeonlinesignatures", "includedata",
    "newlogginglevel", "apikey", "apiversion",
}  # fmt: skip


class Recorder:
    """A source that answers from the sample chain and remembers every request."""

    origin = "recorder"

    def __init__(self) -> None:
        self.targets: list[str] = []

    async def fetch(self, request: Request) -> RawReply:
        self.targets.append(request.target)
        return live_answer(request.target)

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


def pattern_of(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{[^}]*\\}", "[A-Za-z0-9_.~%-]+", re.escape(template)))


PATTERNS = [(pattern_of(endpoint.template), endpoint) for endpoint in ENDPOINTS]


def check(target: str) -> None:
    """A request must be one of the allow-list's, with its own parameters, each within bounds."""
    path, _, query = target.partition("?")
    assert re.fullmatch(r"[!-~]+", target), target
    for segment in path.split("/")[1:]:
        decoded = unquote(segment)
        assert decoded not in ("", ".", ".."), target
        assert not set(decoded) & set("/\\%;"), target
    endpoints = [endpoint for pattern, endpoint in PATTERNS if pattern.fullmatch(path)]
    assert endpoints, target
    names = {name for endpoint in endpoints for name in endpoint.query}
    for name, value in parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)):
        assert name in names, target
        assert name.lower() not in NEVER, target
        assert value, target
        if name in ALWAYS_FALSE:
            assert value == "false", target
        if name in ("limit", "count"):
            assert 1 <= int(value) <= 500, target
        if name == "offset":
            assert int(value) >= 0, target
        if name == "service":
            assert not value.endswith("_PRIVATE"), target


def attempts(tool: str) -> Iterator[dict[str, Any]]:
    """Hostile values in each argument, alone and beside good ones, and in arguments that do not exist."""
    properties = DEFINITIONS[tool]["inputSchema"]["properties"]
    good = EXAMPLES.get(tool, {})
    for name in (*properties, "apiKey", "../x"):
        for value in HOSTILE:
            yield {**good, name: value}
    chance = random.Random(tool)
    for _ in range(60):
        yield {name: chance.choice(HOSTILE) for name in properties if chance.random() < 0.6}


def looked_up(arguments: dict[str, Any]) -> tuple[str, ...]:
    """What may be asked for before a call is refused: the state of the node, and who owns a name."""
    is_named = any(isinstance(value, str) and value.startswith("@") for value in arguments.values())
    return ("/admin/status", "/blocks/last", *(("/names/",) if is_named else ()))


SOME_CONTENT = {"service": "JSON", "name": "Bob"}
# Templates of Core whose path takes any text, by the parameter that does.
TEXT_IN_PATH = [
    (endpoint.template, name)
    for endpoint in ENDPOINTS
    for name in endpoint.path
    if name in ("name", "pollName", "address", "idPrefix")
]


@pytest.mark.promise(
    "Read-only and secrets",
    "A value that contains `/`, `\\`, `%` or `;`, or is `.` or `..`, is never sent in a path, encoded or not.",
)
@pytest.mark.parametrize(("template", "name"), TEXT_IN_PATH)
async def test_what_could_become_another_path_never_leaves_as_one(template: str, name: str) -> None:
    recorder = Recorder()
    node = Node([recorder])
    call = caller(make_server(node, toolsets="all"))
    for value in HOSTILE:
        if isinstance(value, str) and (set(value) & set("/\\%;") or value in (".", "..")):
            values = {"name": "x", "idPrefix": "x"} if "idPrefix" in template else {}
            result = await call("read_core", endpoint=template, values={**values, name: value})
            assert result["_meta"]["qortal-mcp/error"]["code"] in ("INVALID_ARGUMENT", "REFUSED"), value
    await node.close()
    assert recorder.targets == []


@pytest.mark.promise(
    "Read-only and secrets",
    "Whatever a tool is called with, only GETs from the list in `docs/endpoints.md` leave for the node.",
)
@pytest.mark.parametrize("tool", DEFINITIONS)
async def test_only_allow_listed_gets_leave_whatever_a_tool_is_called_with(tool: str) -> None:
    recorder = Recorder()
    node = Node([recorder])
    call = caller(make_server(node, toolsets="all"))
    for arguments in attempts(tool):
        before = len(recorder.targets)
        result = await call(tool, **arguments)
        text = json.dumps(result)
        if result["isError"]:
            code = result["_meta"]["qortal-mcp/error"]["code"]
            assert code != "INTERNAL", arguments
            if code in ("INVALID_ARGUMENT", "REFUSED") and tool != "read_core":
                asked = recorder.targets[before:]
                assert all(target.startswith(looked_up(arguments)) for target in asked), arguments
        assert len(text) < 140_000
        for target in recorder.targets[before:]:
            check(target)
    await node.close()


@pytest.mark.promise(
    "Read-only and secrets",
    "The list holds only what Qortal Core lets everybody read without an effect on the node.",
)
def test_the_allow_list_holds_what_core_lets_everybody_read_and_nothing_else() -> None:
    templates = [endpoint.template for endpoint in ENDPOINTS]
    assert len(set(templates)) == len(templates)
    for endpoint in ENDPOINTS:
        assert not {name.lower() for name in endpoint.query} & NEVER, endpoint.template
        for name in ALWAYS_FALSE & set(endpoint.query):
            with pytest.raises(ToolError):
                endpoint.request({**SOME_CONTENT, name: True})
        assert not endpoint.template.startswith(
            ("/arbitrary/resource/status", "/arbitrary/metadata", "/lists", "/bootstrap")
        )
