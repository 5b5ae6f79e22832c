"""What a model is given of a tool's reply: whether it failed, then structured content, then text. Pure.

The repairs of other servers' results do most of the reading. What they put right becomes warnings.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Raw, Struct

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...repairs.chosen import REPAIRS, Repairs
from ...repairs.repair import ABSENT, Change
from ...repairs.subjects import Asked, CallResult
from ...schemas.json_schema import can_judge, mismatch
from ...text import printable, shortened

FAILED_SILENTLY = "The tool failed without a message."
NO_CONTENT = "The tool returned no content."
NO_RESULT = "The server's reply has no result."
UNREADABLE_RESULT = (
    "The tool's result cannot be read: it is nested too deeply, or has a number beyond all bounds."
)
NOT_A_RESULT = "The server's reply is not a valid tool result"

# What these make of a reply differs from what is made of it here.
_REPAIRS = Repairs(
    "safe",
    without=(
        "iserror-not-boolean",
        "structured-content-not-object",
        "tool-failure-as-protocol-error",
    ),
)
_KNOWN_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})
_NAME_CHARS = 200
# Titles of repairs are about what they recognise; for these there are better words.
_WORDS = {
    "result-bare-payload": "not an MCP result: the tool's value is in its place",
    "result-not-object": "not an MCP result: it is not an object",
}
_TITLES = {one.code: one.title for one in REPAIRS} | {
    one.code: one.title for one in REPAIRS if one.about is CallResult
}


class Seen(Struct, frozen=True, kw_only=True):
    """A reply as a model gets it: whole, without a frame. `size` counts the bytes of its text."""

    text: str
    ok: bool
    # What was odd about it, one sentence each, with the code that `audit` has for it.
    warnings: tuple[str, ...] = ()
    # structuredContent, decoded; numbers with a point or an exponent are as they came (`Raw`).
    structured: Any = None

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8", "surrogatepass"))


def read_reply(
    result: Raw | None,
    error: Raw | None,
    asked: Asked,
    *,
    output_schema: dict[str, Any] | None = None,
    changes: Sequence[Any] = (),
) -> Seen:
    """What `tools/call` was answered with. `changes` is what was put right before there was a message."""
    if error is not None:
        return _of_error(error, asked, changes)
    if result is None or bytes(result).strip() == b"null":
        return Seen(text=NO_RESULT, ok=False, warnings=warnings_of(changes))
    outcome = _REPAIRS.call(_without_odd_media(result), None, asked)
    found = (*changes, *outcome.changes)
    try:
        value = values.read(outcome.result or result)
    except UNREADABLE:
        return Seen(text=UNREADABLE_RESULT, ok=False, warnings=warnings_of(found))
    return _Reading(value, asked, output_schema, warnings_of(found)).seen()


def warnings_of(changes: Iterable[Any]) -> tuple[str, ...]:
    """What was put right, in words: one warning for each code."""
    codes = dict.fromkeys(change.code for change in changes if isinstance(change, Change))
    return tuple(f"{_words(code)} ({code})" for code in codes if code)


def _words(code: str) -> str:
    return _WORDS.get(code) or _TITLES.get(code, "something was put right")


def _of_error(error: Raw, asked: Asked, changes: Sequence[Any]) -> Seen:
    outcome = _REPAIRS.call(None, error, asked)
    found = warnings_of((*changes, *outcome.changes))
    try:
        told = values.read(outcome.error or error)
    except UNREADABLE:
        return Seen(text=UNREADABLE_RESULT, ok=False, warnings=found)
    if not isinstance(told, dict):
        return Seen(text=values.text_of(told), ok=False, warnings=found)
    message = told.get("message") or "The server gave no message."
    text = f"{message} ({values.text_of(told.get('code'))})"
    data = told.get("data")
    if data not in (None, "", {}, []):
        text = f"{text}\n{data if isinstance(data, str) else values.text_of(data)}"
    return Seen(text=text, ok=False, warnings=found)


class _Reading:
    """One result after its repairs. One that was too large to repair may still have any form."""

    def __init__(
        self, value: Any, asked: Asked, output_schema: dict[str, Any] | None, warnings: tuple[str, ...]
    ) -> None:
        self._is_result = isinstance(value, dict) and ("content" in value or "structuredContent" in value)
        self._value: dict[str, Any] = value if self._is_result else {}
        self._bare = value
        self._asked = asked
        self._schema = output_schema
        self._warnings = [*warnings]

    def seen(self) -> Seen:
        if not self._is_result:
            self._warn("result-bare-payload")
            return self._made(values.text_of(self._bare), ok=True)
        flag = self._value.get("isError", False)
        if flag is None:
            self._warn("iserror-not-boolean")
        elif not isinstance(flag, bool):
            return self._invalid(flag)
        text = "\n".join(self._texts())
        if flag:
            return self._made(text if text.strip() else FAILED_SILENTLY, ok=False)
        structured = self._structured()
        if structured is not ABSENT:
            return self._made(values.text_of(structured), ok=True, structured=structured)
        return self._made(text if text.strip() else NO_CONTENT, ok=True)

    def _invalid(self, flag: Any) -> Seen:
        """Whether it failed cannot be determined: that counts as a failure of the server, and its text is kept."""
        self._warn("iserror-not-boolean")
        shown = shortened(printable(values.text_of(flag)), _NAME_CHARS)
        text = "\n".join(self._texts())
        said = f"{NOT_A_RESULT}: isError is {shown}, which is not true or false."
        return self._made(f"{said} It says:\n{text}" if text.strip() else said, ok=False)

    def _structured(self) -> Any:
        """ABSENT if there is none."""
        value = self._value.get("structuredContent", ABSENT)
        if value is ABSENT:
            return ABSENT
        if not self._asked.is_modern and not isinstance(value, dict):
            self._warn("structured-content-not-object")
            if value is None:
                return ABSENT
        return value if self._schema is None else self._by_schema(value, self._schema)

    def _by_schema(self, value: Any, schema: dict[str, Any]) -> Any:
        """The schema decides whether a value under `result` is the tool's own object or a wrapping."""
        try:
            plain = decode(values.write(value))
        except UNREADABLE:
            return value
        if not mismatch(plain, schema):
            return value
        if isinstance(plain, dict) and plain.keys() == {"result"}:
            inner = plain["result"]
            if can_judge(inner, schema) and not mismatch(inner, schema):
                return value["result"]
        self._warn("structured-content-schema-mismatch")
        return value

    def _texts(self) -> Iterator[str]:
        content = self._value.get("content")
        for block in content if isinstance(content, list) else [] if content is None else [content]:
            if text := _text_of(block):
                yield text

    def _warn(self, code: str) -> None:
        warning = f"{_words(code)} ({code})"
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _made(self, text: str, *, ok: bool, structured: Any = None) -> Seen:
        return Seen(text=text, ok=ok, warnings=tuple(self._warnings), structured=structured)


def _text_of(block: Any) -> str:
    """A block in words. Bytes are named and counted, never shown."""
    if not isinstance(block, dict):
        return block if isinstance(block, str) else values.text_of(block)
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return text if isinstance(text, str) else "" if text is None else values.text_of(text)
    if isinstance(kind, str) and isinstance(data := block.get("data"), str):
        return _named(kind, block.get("mimeType"), data)
    if kind == "resource" and isinstance(resource := block.get("resource"), dict):
        return _resource(resource)
    if kind == "resource_link" and isinstance(uri := block.get("uri"), str):
        about = block.get("description")
        named = f"[link {_word(block.get('title')) or _word(block.get('name')) or 'without a name'}: {uri}]"
        return f"{named} {about}" if isinstance(about, str) and about else named
    return values.text_of(block)


def _resource(resource: dict[str, Any]) -> str:
    if isinstance(text := resource.get("text"), str):
        return text
    if isinstance(blob := resource.get("blob"), str):
        return _named(f"resource {_word(resource.get('uri'))}".rstrip(), resource.get("mimeType"), blob)
    return values.text_of(resource)


def _named(kind: str, mime_type: Any, data: str) -> str:
    count = bytes_in_base64(data)
    unit = "byte" if count == 1 else "bytes"
    return f"[{_word(kind)} {_word(mime_type) or 'of unknown type'}, {count} {unit}]"


def _word(value: Any) -> str:
    """A short text on one line; empty if it is something else."""
    return shortened(" ".join(value.split()), _NAME_CHARS) if isinstance(value, str) else ""


def bytes_in_base64(data: str) -> int:
    """How many bytes a Base64 text stands for."""
    blanks = sum(map(data.count, " \t\r\n"))
    padding = data[-8:].count("=")
    return (len(data) - blanks - padding) * 3 // 4


def _without_odd_media(result: Raw) -> Raw:
    """Blocks of an unknown type that hold bytes, such as a video: named here, since a repair would show their Base64."""
    if b'"data"' not in bytes(result):
        return result
    try:
        value = values.read(result)
    except UNREADABLE:
        return result
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list):
        return result
    is_changed = False
    for at, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str) or kind in _KNOWN_TYPES:
            continue
        if isinstance(data := block.get("data"), str) and isinstance(mime := block.get("mimeType"), str):
            content[at] = {"type": "text", "text": _named(kind, mime, data)}
            is_changed = True
    return Raw(values.write(value)) if is_changed else result
