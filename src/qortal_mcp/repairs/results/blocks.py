"""The blocks of a result's content: that each is an object of a known type, with the members every type may have."""

from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from ..repair import ABSENT, ALL, SAFE, Change, Repair, repair
from ..subjects import CallResult
from ..values import is_number
from .failed import failure_text
from .reading import TYPES, Json, as_text, blocks_of, content_of, is_error, text_block

# Beside its value, a block may have these.
_AROUND = frozenset({"type", "annotations", "_meta"})
# Where servers put the value of a block whose type they made up.
_VALUE_MEMBERS = frozenset({"object", "json", "data", "value", "content", "payload", "text"})
_OPTIONAL = ("annotations", "_meta", "title", "description", "size", "icons", "mimeType", "blob")
_AUDIENCE = ("user", "assistant")


@repair(
    "content-block-not-object",
    SAFE,
    CallResult,
    makes="A text becomes a text block, any other value one with its JSON.",
)
def not_object(call: CallResult) -> Iterator[Change]:
    """A block that is not an object."""
    content = content_of(call)
    if all(isinstance(block, dict) for block in content):
        return
    kept: list[Any] = []
    for at, block in enumerate(content):
        if isinstance(block, dict):
            kept.append(block)
        elif block is None:
            yield Change(path=f"content[{at}]", before=None)
        else:
            kept.append(text_block(as_text(block)))
            yield Change(path=f"content[{at}]", before=block, after=kept[-1])
    call.value["content"] = kept


@repair(
    "content-type-missing",
    SAFE,
    CallResult,
    makes="The type that the block's members show; any other becomes a text with its JSON.",
)
def type_missing(call: CallResult) -> Iterator[Change]:
    """A block without a type."""
    for at, block in blocks_of(call):
        if isinstance(block.get("type"), str):
            continue
        before = dict(block)
        if (kind := _kind_of(block)) is not None:
            block["type"] = kind
            yield Change(path=f"content[{at}].type", before=before.get("type", ABSENT), after=kind)
        else:
            block.pop("type", None)
            yield _as_text(call, at, block, before)


def _kind_of(block: Json) -> str | None:
    if isinstance(block.get("text"), str):
        return "text"
    if isinstance(block.get("resource"), dict):
        return "resource"
    if isinstance(block.get("uri"), str):
        return "resource_link"
    mime = block.get("mimeType")
    if isinstance(block.get("data"), str) and isinstance(mime, str):
        return next((kind for kind in ("image", "audio") if mime.startswith(f"{kind}/")), None)
    return None


@repair(
    "content-type-unknown",
    SAFE,
    CallResult,
    makes="A text block with the value or its JSON; an object that is the only block is structuredContent too, or isError.",
)
def type_unknown(call: CallResult) -> Iterator[Change]:
    """A block with a type that does not exist."""
    for at, block in blocks_of(call):
        kind = block.get("type")
        if isinstance(kind, str) and kind not in TYPES:
            yield _as_text(call, at, _payload(block, kind), block)


def _payload(block: Json, kind: str) -> Any:
    """The value in a block with an unknown type: under the name of its type, or its only member. Else all of it."""
    names = block.keys() - _AROUND
    name = next(iter(names)) if len(names) == 1 else None
    return block[name] if name is not None and (name == kind or name in _VALUE_MEMBERS) else block


def _as_text(call: CallResult, at: int, payload: Any, before: Json) -> Change:
    result, content = call.value, content_of(call)
    is_alone = len(content) == 1 and payload is not before and isinstance(payload, dict)
    text = failure_text(payload) if is_alone and not result.get("isError") else None
    content[at] = text_block(as_text(payload) if text is None else text)
    if payload is not before:
        content[at] |= {name: before[name] for name in ("annotations", "_meta") if name in before}
    if text is not None:
        result["isError"] = True
    elif is_alone and not is_error(result):
        result.setdefault("isError", False)
        if call.asked.reads_structured:
            result.setdefault("structuredContent", payload)
    return Change(path=f"content[{at}]", before=before, after=content[at], keep=text is not None)


@repair(
    "text-not-string", SAFE, CallResult, makes="The JSON of the value as a string; an empty one for null."
)
def text_not_string(call: CallResult) -> Iterator[Change]:
    """A text block whose text is not a string."""
    for at, block in blocks_of(call, "text"):
        before = block.get("text", ABSENT)
        if isinstance(before, str):
            continue
        names = block.keys() - _AROUND
        if before is ABSENT and len(names) == 1:
            block["text"] = as_text(block.pop(next(iter(names))))
        else:
            block["text"] = "" if before is ABSENT else as_text(before)
        yield Change(path=f"content[{at}].text", before=before, after=block["text"])


@repair("optional-null", SAFE, CallResult, makes="The member is left out.")
def optional_null(call: CallResult) -> Iterator[Change]:
    """null where a member of a block should be left out."""
    for at, block in blocks_of(call):
        yield from _nulls(block, f"content[{at}]")
        if isinstance(resource := block.get("resource"), dict):
            # Both are written by servers that leave nothing out; only one of them has the value.
            names = (*_OPTIONAL, "text") if isinstance(resource.get("blob"), str) else _OPTIONAL
            yield from _nulls(resource, f"content[{at}].resource", names)


def _nulls(holder: Json, path: str, names: tuple[str, ...] = _OPTIONAL) -> Iterator[Change]:
    for name in names:
        if holder.get(name, ABSENT) is None:
            del holder[name]
            yield Change(path=f"{path}.{name}", before=None)


@repair("annotations-invalid", SAFE, CallResult, makes="The annotation is left out.")
def annotations_invalid(call: CallResult) -> Iterator[Change]:
    """Annotations with invalid values."""
    for at, block in blocks_of(call):
        annotations = block.get("annotations")
        if annotations is None:
            continue
        if not isinstance(annotations, dict):
            yield Change(path=f"content[{at}].annotations", before=block.pop("annotations"))
            continue
        for name, is_right in _ANNOTATIONS.items():
            if name in annotations and not is_right(annotations[name]):
                yield Change(path=f"content[{at}].annotations.{name}", before=annotations.pop(name))
        if not annotations:
            del block["annotations"]


def _is_priority(value: Any) -> bool:
    return is_number(value) and 0 <= (float(bytes(value)) if isinstance(value, Raw) else value) <= 1


def _is_audience(value: Any) -> bool:
    return isinstance(value, list) and all(one in _AUDIENCE for one in value)


def _is_moment(value: Any) -> bool:
    return isinstance(value, str)


_ANNOTATIONS = {"priority": _is_priority, "audience": _is_audience, "lastModified": _is_moment}


@repair("annotations-present", ALL, CallResult, makes="The annotations are left out.")
def annotations_present(call: CallResult) -> Iterator[Change]:
    """A block with annotations, which models never see."""
    for at, block in blocks_of(call):
        if isinstance(block.get("annotations"), dict):
            yield Change(path=f"content[{at}].annotations", before=block.pop("annotations"))


BLOCKS: tuple[Repair[Any], ...] = (
    not_object,
    type_missing,
    type_unknown,
    text_not_string,
    optional_null,
    annotations_invalid,
    annotations_present,
)
