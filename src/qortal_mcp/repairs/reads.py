"""What reading a prompt or a resource, and completion, result in."""

from collections.abc import Iterator
from typing import Any

from . import nulls, spoken, values
from .repair import ABSENT, SAFE, Change, Repair, repair
from .subjects import OtherResult
from .unknown import is_error

_ROLES = ("user", "assistant")
# What other APIs call the side of the model.
_OF_THE_MODEL = ("ai", "bot", "model")
_MOST_VALUES = 100
# Members of any result, which are not what was asked for.
_BESIDE = ("_meta", "resultType", "ttlMs", "cacheScope", "description")


def _is_for(result: OtherResult, method: str) -> bool:
    if result.asked.method != method or result.error is not ABSENT:
        return False
    value = result.value
    # An error inside a result must not become messages, contents or values.
    return not isinstance(value, dict) or (
        value.get("resultType", "complete") == "complete" and not is_error(value)
    )


def _moved(result: OtherResult, member: str, items: list[Any], taken: tuple[str, ...]) -> Change:
    """Puts the items into their member, and leaves out the members that they were taken from."""
    before = result.value
    beside = before if isinstance(before, dict) else {}
    result.value = {**{name: one for name, one in beside.items() if name not in taken}, member: items}
    return Change(path=member, before=before, after=items)


def _payload(value: Any) -> tuple[Any, tuple[str, ...]]:
    """What a result is about, without the members of any result, and the names of what it took."""
    if not isinstance(value, dict):
        return value, ()
    names = tuple(name for name in value if name not in _BESIDE)
    return {name: value[name] for name in names}, names


@repair(
    "prompt-result-malformed",
    SAFE,
    OtherResult,
    makes="A list of messages; text becomes a text block of the user, several blocks become several messages.",
)
def prompt_result_malformed(result: OtherResult) -> Iterator[Change]:
    """The result of prompts/get is not a list of messages."""
    if not _is_for(result, "prompts/get"):
        return
    value = result.value
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        payload, taken = _payload(value)
        yield _moved(result, "messages", _messages_in(payload), taken)
    messages: list[Any] = []
    for at, message in enumerate(result.value["messages"]):
        right = _messages(message)
        if right != [message]:
            yield Change(path=f"messages[{at}]", before=message, after=right, keep=True)
        messages += right
    result.value["messages"] = messages


def _messages_in(payload: Any) -> list[Any]:
    if payload in (None, {}, ""):
        return []
    if not isinstance(payload, dict):
        return payload if isinstance(payload, list) else [payload]
    if "role" in payload or "content" in payload:
        return [payload]
    only = next(iter(payload.values())) if len(payload) == 1 else None
    if isinstance(only, str | list):
        return only if isinstance(only, list) else [only]
    return [only] if isinstance(only, dict) and "content" in only else [payload]


def _messages(message: Any) -> list[dict[str, Any]]:
    """The messages that one item stands for; itself if it is right."""
    if message is None:
        return []
    if not isinstance(message, dict) or "content" not in message:
        words = message.get("text") if isinstance(message, dict) else None
        content: Any = {"type": "text", "text": spoken.text(message if words is None else words)}
        return [{"role": _role(message), "content": content}]
    content, role = message["content"], _role(message)
    blocks = content if isinstance(content, list) else [content]
    return [{**message, "role": role, "content": _block(block)} for block in blocks]


def _role(message: Any) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    if role in _ROLES:
        return str(role)
    return "assistant" if role in _OF_THE_MODEL else "user"


def _block(block: Any) -> Any:
    if isinstance(block, dict) and isinstance(block.get("type"), str):
        return block
    words = block.get("text") if isinstance(block, dict) else block
    return {"type": "text", "text": spoken.text(block if words is None else words)}


@repair(
    "resource-contents-malformed",
    SAFE,
    OtherResult,
    makes="A list of contents with the address that was asked for; what is not text becomes JSON.",
)
def resource_contents_malformed(result: OtherResult) -> Iterator[Change]:
    """The result of resources/read is not a list of contents."""
    if not _is_for(result, "resources/read"):
        return
    value = result.value
    if not isinstance(value, dict) or not isinstance(value.get("contents"), list):
        payload, taken = _payload(value)
        yield _moved(result, "contents", _contents_in(payload), taken)
    contents: list[Any] = []
    for at, one in enumerate(result.value["contents"]):
        place = f"contents[{at}]"
        if one is None:
            yield Change(path=place, before=None)
            continue
        yield from nulls.dropped(one, ("mimeType", "_meta", "text", "blob"), place)
        right = _content(one, result.asked.uri)
        if right != one:
            yield Change(path=place, before=one, after=right)
        contents.append(right)
    result.value["contents"] = contents


def _contents_in(payload: Any) -> list[Any]:
    if payload in (None, {}):
        return []
    if isinstance(payload, dict) and len(payload) == 1 and {"contents", "content"} & payload.keys():
        payload = next(iter(payload.values()))
    if isinstance(payload, list):
        # Blocks of a tool's result, or contents.
        return payload if all(isinstance(one, dict | str) for one in payload) else [payload]
    return [payload]


def _content(one: Any, uri: str) -> dict[str, Any]:
    if not isinstance(one, dict):
        return {"uri": uri, "text": one if isinstance(one, str) else values.text_of(one)}
    if one.get("type") == "resource" and isinstance(one.get("resource"), dict):
        one = one["resource"]
    right = {**one}
    if not isinstance(right.get("uri"), str):
        right["uri"] = uri
        if right.get("type") == "text":
            del right["type"]
    if isinstance(right.get("text"), str) or isinstance(right.get("blob"), str):
        return right
    if one.keys() <= {"uri", "mimeType", "name", "_meta"}:
        return {**right, "text": ""}
    said = right.get("text")
    if said is None:
        # A payload without any wrapping.
        return {"uri": right["uri"], "mimeType": "application/json", "text": values.text_of(one)}
    return {**right, "text": spoken.text(said) if isinstance(said, str) else values.text_of(said)}


@repair(
    "completion-malformed",
    SAFE,
    OtherResult,
    makes="completion with values, which are strings; of more than 100 the first 100, and hasMore.",
)
def completion_malformed(result: OtherResult) -> Iterator[Change]:
    """The result of completion/complete is not a list of values."""
    if not _is_for(result, "completion/complete"):
        return
    value = result.value
    completion = value.get("completion") if isinstance(value, dict) else None
    if not isinstance(completion, dict) or not isinstance(completion.get("values"), list):
        payload, taken = _payload(value)
        beside = {name: value[name] for name in _BESIDE if name in value} if isinstance(value, dict) else {}
        completion = {"values": _values_in(payload)}
        result.value = {**beside, "completion": completion}
        yield Change(path="completion", before=payload, after=completion, keep=not taken)
    yield from nulls.dropped(completion, ("total", "hasMore"), "completion")
    found = completion["values"]
    texts = [one if isinstance(one, str) else values.text_of(one) for one in found if one is not None]
    if len(texts) > _MOST_VALUES:
        completion["hasMore"] = True
        completion.setdefault("total", len(texts))
        texts = texts[:_MOST_VALUES]
    if texts != found:
        completion["values"] = texts
        yield Change(path="completion.values", before=found, after=texts, keep=True)


def _values_in(payload: Any) -> list[Any]:
    for name in ("completion", "values"):
        payload = payload.get(name, payload) if isinstance(payload, dict) else payload
    if isinstance(payload, list):
        return payload
    return [payload] if isinstance(payload, str) else []


READS: tuple[Repair[Any], ...] = (
    prompt_result_malformed,
    resource_contents_malformed,
    completion_malformed,
)
