"""Making a server: what it refuses to be made of, aliases, old spellings, rate limits."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import Struct

from qortal_mcp.protocol.messages import CLIENT_CAPABILITIES, PROTOCOL_VERSION, SERVER_INFO
from qortal_mcp.protocol.versions import LEGACY, REVISIONS, is_modern
from qortal_mcp.server import (
    Completer,
    Context,
    Offer,
    OldForms,
    Peer,
    Prompt,
    Reply,
    Resource,
    Server,
    ServerOptions,
    Tool,
    ToolError,
    elicit,
    prompt,
    resource,
    tool,
)
from qortal_mcp.server.work import Work


@tool
def echo(text: str) -> str:
    """Says it again."""
    return text


def shaken() -> Peer:
    peer = Peer(lasting=True)
    peer.shake_hands("2025-06-18", peer.capabilities)
    return peer


async def nothing_sent(message: bytes) -> None:
    raise AssertionError("nothing comes before the answer")


def ask(server: Server, method: str, params: Any = None, peer: Peer | None = None) -> Reply:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params else {})}
    found = server.receive(json.dumps(message).encode(), peer or shaken())
    if isinstance(found, Work):
        found = asyncio.run(found.run(nothing_sent))
    assert isinstance(found, Reply)
    return found


def result(reply: Reply) -> Any:
    return json.loads(reply.body)["result"]


def code(reply: Reply) -> int:
    found: int = json.loads(reply.body)["error"]["code"]
    return found


def test_a_server_without_a_thing_does_not_have_its_methods() -> None:
    server = Server("bare")
    assert code(ask(server, "tools/list")) == -32601
    assert code(ask(server, "prompts/list")) == -32601
    assert code(ask(server, "resources/read", {"uri": "a:b"})) == -32601
    assert code(ask(server, "logging/setLevel", {"level": "info"})) == -32601
    assert code(ask(server, "completion/complete")) == -32601
    peer = Peer(lasting=True)
    answer = result(ask(server, "initialize", {"protocolVersion": "2025-06-18"}, peer))
    assert answer["capabilities"] == {}
    assert "instructions" not in answer


@resource("a:b")
def fixed() -> str:
    """A thing."""
    return ""


@resource("a:{b}")
def by_template(b: str) -> str:
    """Things."""
    return b


@prompt
def ready() -> str:
    """A prompt."""
    return ""


TWINS: list[Any] = [
    ({"tools": [echo, echo]}, "two tools"),
    ({"resources": [fixed, fixed]}, "two resources"),
    ({"resources": [by_template, by_template]}, "two resources"),
    ({"prompts": [ready, ready]}, "two prompts"),
]


@pytest.mark.promise("Library", "Two tools of one name are refused.")
@pytest.mark.parametrize(("options", "words"), TWINS)
def test_two_of_a_name_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Server("twins", offer=Offer(**options))


def test_a_tool_needs_a_docstring_a_provider_and_strict_arguments() -> None:
    class Loose(Struct):
        a: int = 0

    class Service:
        pass

    def undocumented() -> None: ...

    def loose(args: Loose) -> None:
        """Takes a Struct that lets typos pass."""

    def served(service: Service) -> str:
        """Needs something of the server."""
        return "served"

    undocumented.__doc__ = None
    with pytest.raises(TypeError, match="docstring"):
        tool(undocumented)
    loose.__annotations__["args"] = Loose
    with pytest.raises(TypeError, match="forbid unknown fields"):
        tool(loose)
    served.__annotations__["service"] = Service
    made = tool(served)
    with pytest.raises(TypeError, match="needs a Service"):
        Server("s", tools=[made])
    server = Server("s", offer=Offer([made], provide=[Service()]))
    assert result(ask(server, "tools/call", {"name": "served"}))["content"][0]["text"] == "served"


def test_a_resource_takes_exactly_the_variables_of_its_address() -> None:
    def wrong(other: str) -> str:
        """Takes another name."""
        return other

    with pytest.raises(TypeError, match="exactly the variables"):
        resource("a:{b}")(wrong)


MATCHES: list[Any] = [
    ("x:{a}", "x:1", {"a": "1"}),
    ("x:{a}", "x:", None),
    ("x:{a}", "x:1/2", None),
    ("x:{a}", "x:a%2Fb", {"a": "a/b"}),
    ("x:{a}/{b}", "x:1/2", {"a": "1", "b": "2"}),
    ("x:{a}.txt", "x:1.txt", {"a": "1"}),
    ("x:{a}.txt", "x:1xtxt", None),
    ("x:{a}", "x:1\n", {"a": "1\n"}),
]


@pytest.mark.parametrize(("template", "uri", "expected"), MATCHES)
def test_templates_match_whole_segments(template: str, uri: str, expected: Any) -> None:
    def read(**variables: str) -> str:
        """Reads."""
        return ""

    names = [part.partition("}")[0] for part in template.split("{")[1:]]
    source = f"def read({', '.join(f'{n}: str' for n in names)}) -> str:\n    'Reads.'\n    return ''\n"
    space: dict[str, Any] = {}
    exec(source, space)
    assert Resource(space["read"], template).match(uri) == expected


OLD = OldForms(
    tools={"say": "echo", "gone": "nope"}, methods={"call_tool": "tools/call", "list_tools": "tools/list"}
)


@pytest.mark.promise("Old clients", "The old names do not exist in 2026-07-28.")
def test_old_spellings_stay_valid_in_the_legacy_era_alone() -> None:
    server = Server("old", tools=[echo], old_forms=OLD)
    assert result(ask(server, "list_tools"))["tools"][0]["name"] == "echo"
    for params in (
        {"tool": "echo", "params": {"text": "x"}},
        {"tool": "say", "arguments": {"text": "x"}},
        {"name": "say", "arguments": {"text": "x"}},
    ):
        for method in ("call_tool", "tools/call"):
            assert result(ask(server, method, params))["content"][0]["text"] == "x"
    assert code(ask(server, "tools/call", {"name": "gone"})) == -32602
    assert [t["name"] for t in result(ask(server, "tools/list"))["tools"]] == ["echo"]
    plain = Server("new", tools=[echo])
    assert code(ask(plain, "call_tool", {"tool": "echo"})) == -32601
    assert code(ask(plain, "tools/call", {"tool": "echo"})) == -32602
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    assert code(ask(server, "list_tools", {"_meta": meta})) == -32601
    assert code(ask(server, "tools/call", {"tool": "echo", "_meta": meta})) == -32602


def test_an_unlisted_tool_can_be_called() -> None:
    @tool(listed=False, name="quiet")
    def hidden() -> str:
        """Not shown."""
        return "here"

    server = Server("s", tools=[hidden, echo])
    assert [t["name"] for t in result(ask(server, "tools/list"))["tools"]] == ["echo"]
    assert result(ask(server, "tools/call", {"name": "quiet"}))["content"][0]["text"] == "here"


def test_who_asks_too_often_is_told_to_wait() -> None:
    server = Server("s", tools=[echo], options=ServerOptions(rate_limit=0.001, error_key="s/error"))
    peer = shaken()
    params = {"name": "echo", "arguments": {"text": "x"}}
    assert not result(ask(server, "tools/call", params, peer))["isError"]
    second = ask(server, "tools/call", params, peer)
    answer = result(second)
    assert answer["content"][0]["text"] == "Rate limit exceeded."
    assert answer["_meta"] == {"s/error": {"code": "RATE_LIMITED", "retryable": True}}
    assert second.retry_after is not None
    assert second.retry_after > 1
    assert code(ask(server, "tools/list", None, peer)) == 429


@pytest.mark.parametrize("revision", LEGACY)
def test_a_tool_claims_nothing_about_its_effects_unasked(revision: str) -> None:
    peer = Peer(lasting=True)
    peer.shake_hands(revision, peer.capabilities)
    (listed,) = result(ask(Server("s", tools=[echo]), "tools/list", None, peer))["tools"]
    assert set(listed) <= {"name", "description", "inputSchema", "outputSchema"}


@tool
async def ask_name(ctx: Context) -> str:
    """Asks the person."""
    answer = (await ctx.ask({"name": elicit("Your name?", {"type": "object", "properties": {}})}))["name"]
    return str(answer.action)


@pytest.mark.parametrize(("keys", "fits"), [((b"k" * 32, b"k" * 32), True), ((b"k" * 32, None), False)])
async def test_processes_that_share_a_key_continue_each_others_calls(
    keys: tuple[bytes, bytes | None], fits: bool
) -> None:
    first, second = (Server("s", tools=[ask_name], options=ServerOptions(state_key=key)) for key in keys)

    async def call(server: Server, **more: Any) -> Any:
        meta = {PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {"elicitation": {}}}
        params = {"name": "ask_name", "_meta": meta, **more}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        work = server.receive(json.dumps(message).encode(), Peer(lasting=True))
        assert isinstance(work, Work)
        reply = await work.run(_nowhere)
        assert reply is not None
        return json.loads(reply.body)

    question = (await call(first))["result"]
    answers = {"name": {"action": "accept", "content": {}}}
    answer = await call(second, inputResponses=answers, requestState=question["requestState"])
    assert ("result" in answer) is fits
    if fits:
        assert answer["result"]["content"][0]["text"] == "accept"


async def _nowhere(message: bytes) -> None:
    raise AssertionError("nothing comes before the answer")


@tool
def fail() -> str:
    """Fails as its caller must know."""
    raise ToolError("OUT_OF_LUCK", "Out of luck.", retryable=True)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_server_gives_codes_of_failures_under_a_key_of_its_own_alone(revision: str) -> None:
    modern = is_modern(revision)
    meta = {PROTOCOL_VERSION: revision, CLIENT_CAPABILITIES: {}} if modern else {}
    peer = Peer(lasting=True)
    if not modern:
        peer.shake_hands(revision, peer.capabilities)
    params = {"name": "fail", "_meta": meta}
    plain = Server("plain", tools=[fail])
    named = Server("named", tools=[fail], options=ServerOptions(error_key="named.example/error"))
    assert b"qortal" not in ask(plain, "tools/call", params, peer).body
    assert set(result(ask(plain, "tools/call", params, peer)).get("_meta", {})) <= {SERVER_INFO}
    told = result(ask(named, "tools/call", params, peer))["_meta"]
    assert told["named.example/error"] == {"code": "OUT_OF_LUCK", "retryable": True}


def test_tools_are_given_once() -> None:
    with pytest.raises(TypeError, match="not in both"):
        Server("s", tools=[echo], offer=Offer(resources=[fixed]))


def test_the_public_records_say_what_they_are() -> None:
    for thing in (Completer, Context, Offer, OldForms, Prompt, Resource, Server, ServerOptions, Tool):
        assert thing.__doc__
