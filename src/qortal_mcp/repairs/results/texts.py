"""The texts of a result: what is in them that no model should get, and how long they are."""

import re
from collections.abc import Iterator
from typing import Any

from ...text import printable
from .. import values
from ..repair import ABSENT, ALL, Change, Repair, repair
from ..subjects import CallResult
from .reading import LARGE_CHARACTERS, Json, content_of, json_in, result_of, text_block, texts_of

# Each alternative ends at the next escape at the latest: a text full of beginnings takes no longer than any other.
_ANSI = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    "|\x1b[\\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\\\)"  # titles, links and other strings, up to their end
    "|\x1b[()#][0-9A-Za-z]"  # character sets
    "|\x1b[\\[\\]()#P_^X]"  # what has no end
)
# An escape that is shown hides nothing.
_SHOWN = re.compile(r"\\u\{")
# Room for the note, so that the whole stays below the bound.
_CUT_AT = LARGE_CHARACTERS - 200


@repair("ansi-escape", ALL, CallResult, makes="They are removed.")
def ansi_escape(call: CallResult) -> Iterator[Change]:
    """Terminal escape sequences in a text."""
    for at, text in texts_of(call):
        if "\x1b" in text and (plain := _ANSI.sub("", text)) != text:
            yield _said(call, at, plain)


@repair("json-double-encoded", ALL, CallResult, makes="The string is decoded once.")
def json_double_encoded(call: CallResult) -> Iterator[Change]:
    """JSON inside a JSON string."""
    for at, text in texts_of(call):
        inner = json_in(text) if text.lstrip().startswith('"') else ABSENT
        if isinstance(inner, str) and isinstance(json_in(inner), dict | list):
            yield _said(call, at, inner)


@repair("invisible-characters", ALL, CallResult, makes="They are escaped, so that they can be seen.")
def invisible_characters(call: CallResult) -> Iterator[Change]:
    """Invisible characters in a text."""
    for at, text in texts_of(call):
        shown = _SHOWN.sub("", text)
        if printable(shown) == shown:
            continue
        # Ends of lines of Windows are nothing to look at.
        text = text.replace("\r\n", "\n")
        if json_in(text) is ABSENT:
            yield _said(call, at, printable(text))
        else:
            yield _said(call, at, "".join(map(_as_json, text)))


def _as_json(character: str) -> str:
    """A hidden character in a JSON text, as the escape that JSON has for it."""
    if printable(character) == character or character == "\r":
        return character
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _said(call: CallResult, at: int, text: str) -> Change:
    block = content_of(call)[at]
    before, block["text"] = block["text"], text
    return Change(path=f"content[{at}].text", before=before, after=text)


@repair(
    "result-too-large",
    ALL,
    CallResult,
    makes=f"Texts are cut at {LARGE_CHARACTERS:,} characters with a note; structuredContent of more is left out.",
)
def too_large(call: CallResult) -> Iterator[Change]:
    """A result that agents truncate."""
    value = result_of(call)
    if value is None:
        return
    yield from _without_large_structured(call, value)
    if sum(len(text) for _, text in texts_of(call)) <= LARGE_CHARACTERS:
        return
    room, left_out, kept = _CUT_AT, 0, []
    last: Json = {}
    for block in content_of(call):
        text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else None
        if not isinstance(text, str):
            kept.append(block)
        elif room:
            block["text"] = text[:room]
            left_out += len(text) - len(block["text"])
            room -= len(block["text"])
            last = block
            kept.append(block)
        else:
            left_out += len(text)
    last["text"] += f"\n[{left_out:,} more characters were left out here.]"
    value["content"] = kept
    yield Change(path="content", after=f"{left_out:,} characters fewer")


def _without_large_structured(call: CallResult, value: Json) -> Iterator[Change]:
    # Without it the result would contradict a schema that is listed.
    if "structuredContent" not in value or (call.tool is not None and call.tool.output_schema is not None):
        return
    whole = values.text_of(value["structuredContent"])
    if len(whole) <= LARGE_CHARACTERS or not isinstance(value.get("content"), list):
        return
    del value["structuredContent"]
    if not any(text.strip() for _, text in texts_of(call)):
        value["content"].append(text_block(whole))  # cut below
    else:
        value["content"].append(text_block(f"[structuredContent of {len(whole):,} characters was left out.]"))
    yield Change(path="structuredContent", after=f"{len(whole):,} characters fewer")


EARLY_TEXTS: tuple[Repair[Any], ...] = (ansi_escape, json_double_encoded)
TEXTS: tuple[Repair[Any], ...] = (invisible_characters, too_large)
