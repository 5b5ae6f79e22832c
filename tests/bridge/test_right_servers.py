"""A right server through every pairing of transports: its clients cannot tell the bridge from the server."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from examples.everything import SERVER as EVERYTHING
from interop.calls import ARGUMENTS, BAD_ARGUMENTS, BAD_TOOL
from interop.servers import SAMPLE
from msgspec import Raw, Struct
from tests.audit.cases import DIGITS, SERVERS
from tests.audit.wires import command, http_server, old_sse_server, websocket_server
from tests.bridge.in_process import bridged, serving, websocket_of
from tests.cli.running import COMMAND
from tests.client.everything import make

from qortal_mcp.audit.visiting.runner import Target
from qortal_mcp.client import connect
from qortal_mcp.client.client import Client
from qortal_mcp.client.errors import ServerError
from qortal_mcp.client.limits import ClientLimits
from qortal_mcp.client.options import Options
from qortal_mcp.client.pending import Reply
from qortal_mcp.from_settings import node_of, server_of
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.server.receiver import Receiver
from qortal_mcp.settings import NodeOptions

ROOT = Path(__file__).parents[2]
FRONTS = ("stdio", "http", "websocket")
REVISION = "2025-11-25"
LIMITS = ClientLimits(exit_seconds=5.0)

Told = list[tuple[str, Any]]
Script = Callable[["Talk"], Awaitable[None]]
Back = Literal["command", "http", "http+sse", "websocket"]


class RightServer(Struct, frozen=True, kw_only=True):
    """A server that is right, and what it is asked."""

    argv: tuple[str, ...]
    # In this process; the stub is served by its own wires.
    receiver: Callable[[], Receiver] | None
    script: Script
    backs: tuple[Back, ...] = ("command", "http", "websocket")
    stub: str = "right"
    # What it says besides its answers.
    says: frozenset[str] = frozenset()
    # Repairs of what is legal all the same.
    without: tuple[str, ...] = ()


def exactly(raw: bytes | Raw) -> Any:
    """JSON with every number as it is written."""
    return json.loads(bytes(raw), parse_float=str, parse_int=str)


class Talk:
    """A client that writes down all it is told."""

    def __init__(self) -> None:
        self.told: Told = []
        self.stderr = b""
        self.progressed = asyncio.Event()
        self._client: Client | None = None

    def options(self) -> Options:
        return Options(
            handlers={
                "sampling/createMessage": self._asked(
                    "sampling/createMessage",
                    {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"},
                ),
                "elicitation/create": self._asked(
                    "elicitation/create", {"action": "accept", "content": {"value": "red", "name": "Ann"}}
                ),
                "roots/list": self._asked("roots/list", {"roots": [{"uri": "file:///home", "name": "home"}]}),
            },
            on_notification=self._heard,
            handshake=self._shaken,
            on_stderr=self._logged,
            limits=LIMITS,
        )

    def _asked(self, method: str, answer: Any) -> Callable[[Raw], Awaitable[object]]:
        async def answered(params: Raw) -> object:
            self.told.append((method, bytes(params)))
            return answer

        return answered

    def _heard(self, notification: Notification) -> None:
        params = notification.params
        if notification.method == "notifications/progress":
            self.progressed.set()
        self.told.append((notification.method, None if params is None else bytes(params)))

    def _logged(self, data: bytes) -> None:
        self.stderr += data

    def _shaken(self, answer: Reply | ServerError) -> Reply:
        assert isinstance(answer, Reply)
        told = exactly(answer.result)
        # A bridge may take a schema off the list, and says so.
        told["capabilities"].get("tools", {}).pop("listChanged", None)
        self.told.append(("initialize", told))
        return answer

    @contextlib.asynccontextmanager
    async def to(self, target: Target) -> AsyncIterator[None]:
        given = target if isinstance(target, str) else list(target)
        async with connect(given, era="legacy", revision=REVISION, options=self.options()) as client:
            self._client = client
            yield

    async def ask(self, method: str, **params: Any) -> Any:
        """Ask, write down the answer byte for byte, and return it."""
        assert self._client is not None
        try:
            reply = await self._client.request(method, params)
        except ServerError as exc:
            # Its code, message and data are written again.
            self.told.append((method, ("error", exactly(exc.raw or b"null"))))
            return None
        # A list of tools is kept, and written again.
        answer = exactly(reply.result) if method == "tools/list" else bytes(reply.result)
        self.told.append((method, answer))
        return exactly(reply.result)

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        return await self.ask("tools/call", name=tool, arguments=arguments)


async def the_usual(talk: Talk) -> dict[str, Any]:
    """All lists, and what every server has an answer for."""
    await talk.ask("ping")
    lists = {
        member: (await talk.ask(method))[member]
        for method, member in (
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        )
    }
    for one in lists["resources"]:
        await talk.ask("resources/read", uri=one["uri"])
    await talk.ask("resources/read", uri="test://no-such-thing")
    await talk.ask("prompts/get", name="no such prompt")
    await talk.ask("tools/list", cursor="no such cursor")
    await talk.ask("no/such/method", word="x")
    return lists


async def of_stub(talk: Talk) -> None:
    await the_usual(talk)
    await talk.call("t")
    await talk.call("ok", extra=[1, {"b": None}])
    await talk.ask("prompts/get", name="p", arguments={"x": "1"})
    ref = {"type": "ref/prompt", "name": "p"}
    await talk.ask("completion/complete", ref=ref, argument={"name": "x", "value": ""})
    await talk.ask("logging/setLevel", level="info")
    await talk.ask("logging/setLevel", level="loud")


async def of_everything(talk: Talk) -> None:
    await the_usual(talk)
    await talk.ask("logging/setLevel", level="debug")
    for tool in (
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_logging",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_missing_capability",
        "test_input_required_result_list_roots",
        "test_input_required_result_multi_round",
        "test_input_required_result_sampling",
    ):
        await talk.call(tool)
    await talk.call("test_sampling", prompt="Hm?")
    await talk.call("test_sampling", prompt=5)
    token = {"_meta": {"progressToken": "mine"}}
    await talk.ask("tools/call", name="test_tool_with_progress", arguments={}, **token)
    for prompt in ("test_simple_prompt", "test_prompt_with_image", "test_input_required_result_prompt"):
        await talk.ask("prompts/get", name=prompt)
    both = {"arg1": "1", "arg2": "2"}
    await talk.ask("prompts/get", name="test_prompt_with_arguments", arguments=both)
    ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    await talk.ask("completion/complete", ref=ref, argument={"name": "arg1", "value": "test"})
    await talk.ask("resources/subscribe", uri="test://watched-resource")
    await talk.ask("resources/unsubscribe", uri="test://watched-resource")


async def of_waiting(talk: Talk) -> None:
    """Calls that are cancelled end in the server."""
    await talk.ask("ping")
    token = {"_meta": {"progressToken": 7}}
    call = asyncio.create_task(talk.ask("tools/call", name="wait", arguments={}, **token))
    await talk.progressed.wait()
    await talk.call("how_many_wait")
    before = list(talk.told)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    for _ in range(500):
        if (await talk.call("how_many_wait"))["structuredContent"]["result"] == "0":
            break
        await asyncio.sleep(0.01)
    # How often it was asked until then is a matter of time.
    talk.told[:] = [*before, talk.told[-1]]


async def of_qortal(talk: Talk) -> None:
    await the_usual(talk)
    for tool, arguments in ARGUMENTS.items():
        await talk.call(tool, **arguments)
    await talk.call(BAD_TOOL, **BAD_ARGUMENTS)


async def of_numbers(talk: Talk) -> None:
    answer = await talk.call("t")
    assert answer["structuredContent"] == exactly(DIGITS)
    assert DIGITS in talk.told[-1][1]


def qortal() -> Receiver:
    options = NodeOptions(sample=True, toolsets="all")
    return server_of(options, node_of(options))


EVERY_BACK: tuple[Back, ...] = ("command", "http", "http+sse", "websocket")
RIGHT = {
    "stub": RightServer(argv=command("right"), receiver=None, script=of_stub, backs=EVERY_BACK),
    "numbers": RightServer(
        argv=command("digits"), receiver=None, script=of_numbers, backs=EVERY_BACK, stub="digits"
    ),
    "everything": RightServer(
        argv=(sys.executable, str(ROOT / "examples" / "everything.py")),
        receiver=lambda: EVERYTHING,
        script=of_everything,
        says=frozenset(
            {
                "sampling/createMessage",
                "elicitation/create",
                "roots/list",
                "notifications/message",
                "notifications/progress",
            }
        ),
        # One of its tools shows a schema with unions at its root, which some clients refuse.
        without=("schema-top-level-union",),
    ),
    "waiting": RightServer(
        argv=(sys.executable, str(ROOT / "tests" / "client" / "everything.py")),
        receiver=make,
        script=of_waiting,
    ),
    "qortal": RightServer(argv=(*COMMAND, "stdio", *SAMPLE), receiver=qortal, script=of_qortal),
}
PAIRS = [(name, back) for name, one in RIGHT.items() for back in one.backs]


@contextlib.asynccontextmanager
async def behind(server: RightServer, back: Back) -> AsyncIterator[Target]:
    if back == "command":
        yield server.argv
    elif server.receiver is not None:
        async with serving(server.receiver()) as url:
            yield websocket_of(url) if back == "websocket" else url
    else:
        wires = {"http": http_server, "http+sse": old_sse_server, "websocket": websocket_server}
        async with wires[back](SERVERS[server.stub]) as url:
            yield url


@contextlib.asynccontextmanager
async def in_front(target: Target, front: str, without: tuple[str, ...]) -> AsyncIterator[Target]:
    """A bridge to a server. In the end nothing was repaired."""
    if front == "stdio":
        options = [word for code in without for word in ("--without-repair", code)]
        words = (target,) if isinstance(target, str) else ("--", *target)
        yield (*COMMAND, "bridge", *options, *words)
        return
    async with bridged(target, without=without) as bridge:
        yield bridge.websocket if front == "websocket" else bridge.http
        assert "mcp_bridge_repairs_total" not in bridge.bridge.metrics.render()


async def told_by(target: Target, script: Script) -> Told:
    talk = Talk()
    async with asyncio.timeout(30), talk.to(target):
        await script(talk)
    assert b"repaired" not in talk.stderr
    return talk.told


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(("name", "back"), PAIRS, ids=[f"{name}-{back}" for name, back in PAIRS])
async def test_a_right_server_comes_through_as_it_is(name: str, back: Back, front: str) -> None:
    server = RIGHT[name]
    async with behind(server, back) as target:
        itself = await told_by(target, server.script)
        async with in_front(target, front, server.without) as bridge:
            through = await told_by(bridge, server.script)
    assert through == itself
    assert server.says <= {method for method, _ in through}
