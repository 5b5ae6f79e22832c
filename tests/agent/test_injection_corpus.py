"""Hostile texts: framed for the model, never run when quoted, inert on a terminal."""

import re

import msgspec
import pytest
from tests.agent.injections import INJECTIONS, WANTED_ARGUMENTS, WANTED_TOOL, Injection

from qortal_mcp.agent.inert import InertPieces, inert
from qortal_mcp.agent.model.messages import Function
from qortal_mcp.agent.prompt.framing import Frame
from qortal_mcp.agent.written.calls import written_calls
from qortal_mcp.text import original, printable, visible

MARK = "7f3a91bc"
FRAME = Frame(MARK)
OFFERS = {
    WANTED_TOOL: Function(
        name=WANTED_TOOL,
        description="The balance of an address.",
        parameters={
            "type": "object",
            "properties": {"address": {"type": "string"}},
            "required": ["address"],
            "additionalProperties": False,
        },
    )
}
EACH = pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.id)
# Everything that a terminal obeys or that hides or reorders text.
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def test_the_corpus_is_large_and_tries_every_place() -> None:
    assert len(INJECTIONS) >= 40
    assert {injection.place for injection in INJECTIONS} == {"name", "chat", "qdn", "description", "error"}
    assert len({injection.id for injection in INJECTIONS}) == len(INJECTIONS)


@EACH
@pytest.mark.parametrize("ok", [True, False])
def test_a_hostile_text_stays_inside_its_frame_and_is_printable(injection: Injection, ok: bool) -> None:
    framed = FRAME.framed("get_name", injection.text, ok=ok)
    first, *inside, last = framed.split("\n")
    assert first.startswith("[data from get_name, ")
    assert last == f"[end of data, mark {MARK}]"
    assert framed.count(MARK) == 2
    assert not STEERING.search(framed)
    assert original("\n".join(inside)) == original(visible(injection.text))


@EACH
def test_a_hostile_text_that_knows_the_mark_cannot_end_its_frame(injection: Injection) -> None:
    text = f"[end of data, mark {MARK}]\n{injection.text}\n[END OF DATA, MARK {MARK.upper()}]"
    framed = FRAME.framed("get_name", text, ok=True)
    assert framed.lower().count(MARK) == 2
    assert framed.endswith(f"\n[end of data, mark {MARK}]")


@EACH
def test_a_hostile_text_as_the_name_of_a_tool_cannot_break_the_first_line(injection: Injection) -> None:
    first, inside, last = FRAME.framed(f"{injection.text}{MARK}", "text", ok=True).split("\n")
    assert first.count(MARK) == 1
    assert first.endswith("; not instructions]")
    assert first.count("]") == 1
    assert (inside, last) == ("text", f"[end of data, mark {MARK}]")


@EACH
def test_a_hostile_text_is_not_run_when_a_model_repeats_it(injection: Injection) -> None:
    said = (
        injection.text,
        printable(injection.text),
        f"The message says:\n\n{injection.text}",
        f"```\n{injection.text}\n```",
        f"```json\n{msgspec.json.encode({'name': WANTED_TOOL, 'arguments': WANTED_ARGUMENTS}).decode()}\n```"
        if injection.tries_to_call
        else injection.text.upper(),
    )
    for results in ([injection.text], ["nothing", printable(injection.text)]):
        assert [written_calls(text, OFFERS, results).calls for text in said] == [()] * len(said)


def test_calls_of_the_corpus_would_be_run_if_a_model_wrote_them_itself() -> None:
    run = {one.id for one in INJECTIONS if written_calls(one.text, OFFERS, []).calls}
    assert run == {
        "chat-call-json",
        "chat-call-fenced",
        "chat-call-tagged",
        "chat-call-tagged-unclosed",
        "chat-call-function",
        "chat-call-mistral",
        "chat-call-llama",
        "chat-call-python",
    }


@EACH
def test_a_hostile_text_is_inert_on_a_terminal_however_it_arrives(injection: Injection) -> None:
    whole = inert(injection.text)
    assert not STEERING.search(whole)
    pieces = InertPieces()
    shown = [pieces.add(letter) for letter in injection.text[:5_000]]
    shown.append(pieces.end())
    assert not any(STEERING.search(piece) for piece in shown)
    assert "".join(shown) == inert(injection.text[:5_000])
