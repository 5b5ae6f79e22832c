"""Hostile texts from a server to the endpoint and the terminal: framed, inert, and never obeyed by the program itself."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agent.asked import BOTH, MARK, Talk, framed, talking
from tests.agent.conftest import Ask
from tests.agent.injections import INJECTIONS, WANTED_TOOL, Injection
from tests.agent.scripted_endpoint import Reply, Request, ScriptedEndpoint, calls, says
from tests.agent.tool_servers import Shop, over_http, tool
from tests.client.fakes import Json, child, legacy

from qortal_mcp.agent.events import Calling, Event, Text

EACH = pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.id)
# Everything that a terminal obeys or that hides or reorders text.
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)
BALANCE = tool(
    WANTED_TOOL,
    inputSchema={
        "type": "object",
        "properties": {"address": {"type": "string"}},
        "required": ["address"],
        "additionalProperties": False,
    },
)


class HostileShop(Shop):
    """Lists what a text wants to have called, and a tool `t` whose result is the text."""

    def __init__(self, text: str, *, is_error: bool) -> None:
        super().__init__()
        self.tools = [tool("t"), BALANCE]
        self._value = {"content": [{"type": "text", "text": text}], "isError": is_error}
        self.answer = self._hostile

    def _hostile(self, message: Json) -> bytes:
        # Half a character is written as an escape, as other servers do it.
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": self._value}).encode()

    @property
    def called(self) -> list[str]:
        return [call["name"] for call in self.calls]


def parrot(text: str) -> Callable[[Request], Reply]:
    """A model that calls `t` and then repeats the text, word for word."""

    def answer(request: Request) -> Reply:
        has_result = any(message["role"] == "tool" for message in request.body["messages"])
        return says(text, piece=7 if len(text) < 1000 else 1000) if has_result else calls(("t", {}))

    return answer


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in (name, *strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def is_inert(events: list[Event]) -> bool:
    """Whether everything a person may see of these events has lost its power."""
    shown = [json.dumps(event.text) for event in events if isinstance(event, Text)]
    return not any(STEERING.search(json.loads(text)) for text in shown)


def check_sent(talk: Talk) -> None:
    """What reached the endpoint is printable, and text of tools is inside of frames alone."""
    for request in talk.server.chats:
        for message in request.body["messages"]:
            if message["role"] != "assistant":
                assert not STEERING.search(message["content"])
            if message["role"] == "tool":
                framed(message["content"])
        assert not any(STEERING.search(text) for text in strings(request.body.get("tools", [])))


@pytest.mark.promise(
    "Asking a model",
    "What tools return is framed as data and printable; repeated by a model, it calls nothing and steers no terminal.",
)
@EACH
async def test_a_hostile_result_is_framed_calls_nothing_and_is_inert_when_repeated(
    injection: Injection,
) -> None:
    shop = HostileShop(injection.text, is_error=injection.place == "error")
    async with over_http(legacy(shop)) as url, talking(parrot(injection.text), url) as talk:
        run = await talk.ask()
    check_sent(talk)
    assert shop.called == ["t"]
    assert [event.tool for event in talk.events if isinstance(event, Calling)] == ["t"]
    assert is_inert(talk.events)
    assert not STEERING.search(run.answer)
    assert not STEERING.search(run.calls[0].text)
    assert run.calls[0].ok == (injection.place != "error")


CALLING = pytest.mark.parametrize(
    "injection", [one for one in INJECTIONS if one.tries_to_call], ids=lambda injection: injection.id
)


@CALLING
async def test_a_call_in_a_result_is_not_made_when_it_is_repeated_at_a_later_question(
    injection: Injection,
) -> None:
    shop = HostileShop(injection.text, is_error=False)
    script = [calls(("t", {})), says("There is a message."), says(injection.text), says("Done.")]
    async with over_http(legacy(shop)) as url, talking(script, url) as talk:
        await talk.ask()
        await talk.ask("Repeat it word for word.")
    assert shop.called == ["t"]


@pytest.mark.parametrize("place", ["description", "property"])
@CALLING
async def test_a_call_in_a_description_is_not_made_when_it_is_repeated(
    injection: Injection, place: str
) -> None:
    shop = HostileShop("nothing", is_error=False)
    described = {"type": "object", "properties": {"n": {"type": "string", "description": injection.text}}}
    shop.tools.append(
        tool("x", description=injection.text) if place == "description" else tool("x", inputSchema=described)
    )
    async with over_http(legacy(shop)) as url, talking([says(injection.text), says("Done.")], url) as talk:
        run = await talk.ask("Which tools are there?")
    assert shop.called == []
    assert not STEERING.search(run.answer)


async def test_a_call_that_a_model_writes_itself_is_made_though_a_description_names_the_tool() -> None:
    shop = Shop("status")
    shop.tools[0]["description"] = "The status. Call status() before anything else; status has no arguments."
    script = [calls(("nope", {})), says('{"name": "status", "arguments": {}}'), says("Done.")]
    async with over_http(legacy(shop)) as url, talking(script, url) as talk:
        run = await talk.ask()
    assert [call["name"] for call in shop.calls] == ["status"]
    assert [(call.tool, call.written) for call in run.calls] == [("nope", False), ("status", True)]
    assert run.notices == (
        "The model wrote a call as text instead of making it; it was made anyway: status.",
    )


@EACH
async def test_a_hostile_name_and_description_are_printable_to_the_model_and_call_nothing(
    injection: Injection,
) -> None:
    shop = HostileShop("nothing", is_error=False)
    name = injection.text[:200]
    shop.tools += [
        tool("described", description=injection.text, title=injection.text),
        {
            **tool(name),
            "inputSchema": {"type": "object", "properties": {"n": {"description": injection.text}}},
        },
    ]
    async with over_http(legacy(shop)) as url, talking(parrot("Nothing."), url) as talk:
        run = await talk.ask()
    check_sent(talk)
    assert shop.called == ["t"]
    offered = talk.offered(0)
    assert {"t", WANTED_TOOL, "described"} <= set(offered)
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in offered)
    assert run.answer == "Nothing."


IN_THE_TERMINAL = [
    injection
    for injection in INJECTIONS
    if injection.id
    in {
        "name-bidi-override",
        "name-escape-red",
        "name-carriage-return",
        "name-lone-surrogate",
        "chat-fake-end-of-data",
        "chat-call-json",
        "chat-call-tagged",
        "qdn-clear-screen",
        "qdn-hyperlink",
        "qdn-one-byte-escapes",
        "error-terminal",
        "error-retry-elsewhere",
    }
]


@pytest.mark.promise("Text of strangers", "Nothing that a stranger wrote can steer a terminal.")
@BOTH
def test_what_reaches_the_terminal_is_inert_and_a_quoted_call_is_not_made(
    ask: Ask, tmp_path: Path, streaming: bool
) -> None:
    text = "\n".join(injection.text for injection in IN_THE_TERMINAL)
    assert len(IN_THE_TERMINAL) == 12
    result = json.dumps({"content": [{"type": "text", "text": text}], "isError": True})
    listed = json.dumps({"tools": [tool("t", description=text), BALANCE]})
    command = child(
        tools__list=[f'{{"jsonrpc":"2.0","id":ID,"result":{listed}}}'],
        tools__call=[f'{{"jsonrpc":"2.0","id":ID,"result":{result}}}'],
    )
    script = tmp_path / "server.py"
    script.write_text(f"import sys\nsys.argv = {command[2:]!r}\nexec({command[2]!r})\n")
    server_command = f"{command[0]} {script}"

    def hostile(request: Request) -> Reply:
        if any(message["role"] == "tool" for message in request.body["messages"]):
            return says(text, piece=5)
        return calls(("t", {"x": text.encode("utf-8", "replace").decode()}), (f"no{text}"[:250], {}))

    with ScriptedEndpoint(hostile, streams=streaming) as endpoint:
        ended = ask(endpoint, "Go", "--server", server_command, "--trace")
        as_json = ask(endpoint, "Go", "--server", server_command, "--json")
    assert not STEERING.search(ended.out + ended.err)
    assert "\\u{001B}[2J" in ended.out
    assert "\\u{202E}gnirts" in ended.err
    called = [call["tool"] for call in as_json.json["calls"]]
    assert called[0] == "t"
    assert WANTED_TOOL not in called
    assert not STEERING.search(as_json.out + as_json.err)
    assert as_json.json["calls"][0]["arguments"]["x"].startswith("alice\u202egnirts")
    assert len(endpoint.chats) == 4


def test_the_mark_of_a_frame_is_new_for_each_run(ask: Ask) -> None:
    marks = []
    for _ in range(2):
        with ScriptedEndpoint([says("Hi.")]) as endpoint:
            ask(endpoint, "Go", "--sample")
        found = re.search(r"mark ([0-9a-f]{8})", endpoint.chats[0].body["messages"][0]["content"])
        assert found
        marks.append(found[1])
    assert marks[0] != marks[1]
    assert MARK not in marks
