"""A settings file with our entry put in or taken out, proved to differ in nothing else. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..rendering import written
from . import json_splice, toml_splice, yaml_splice
from .formats import MARK, Form, parsed
from .mistakes import NotUnderstood
from .splice import Splice

_SPLICES: Mapping[Form, Any] = {
    "json": json_splice,
    "jsonc": json_splice,
    "toml": toml_splice,
    "yaml": yaml_splice,
}


def put(form: Form, data: bytes, path: Sequence[str], name: str, value: Mapping[str, Any]) -> Splice:
    """The change that adds the entry, or replaces the one of that name.

    Raises: NotUnderstood if the file is broken, or cannot be changed without touching something else.
    """
    before = parsed(form, data)
    mark, body = _apart(data)
    if not body.strip():
        document: Any = {name: value}
        for key in reversed(path):
            document = {key: document}
        splice = Splice(0, len(body), f"{written(form, document)}\n".encode())
    else:
        splice = _SPLICES[form].put(body, path, name, value)
    splice = splice.moved(mark)
    _prove(form, before, splice.applied(data), path, name, value)
    return splice


def take(form: Form, data: bytes, path: Sequence[str], name: str) -> Splice | None:
    """The change that removes the entry; None if it is not there.

    Raises: NotUnderstood as above.
    """
    before = parsed(form, data)
    mark, body = _apart(data)
    splice: Splice | None = _SPLICES[form].take(body, path, name) if body.strip() else None
    if splice is None:
        return None
    splice = splice.moved(mark)
    _prove(form, before, splice.applied(data), path, name, None)
    return splice


def _apart(data: bytes) -> tuple[int, bytes]:
    return (len(MARK), data[len(MARK) :]) if data.startswith(MARK) else (0, data)


def _prove(
    form: Form,
    before: dict[str, Any],
    changed: bytes,
    path: Sequence[str],
    name: str,
    value: Mapping[str, Any] | None,
) -> None:
    try:
        after = parsed(form, changed)
    except NotUnderstood as exc:
        how = "added" if value is not None else "taken out"
        raise NotUnderstood(f"the entry cannot be {how} where it would stand ({exc})") from None
    found = _entry(after, path, name)
    rests = [_rest(each, path, name) for each in (before, after)]
    if form == "toml":
        rests = [_sorted(each) for each in rests]
    # As text: one and true are equal in Python, and a number that is none is not equal to itself.
    if repr(rests[0]) != repr(rests[1]) or found != value:
        raise NotUnderstood("it cannot be changed without changing something else in it")


def _entry(value: Any, path: Sequence[str], name: str) -> Any:
    for part in (*path, name):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _rest(value: dict[str, Any], path: Sequence[str], name: str) -> dict[str, Any]:
    """Everything but the entry, and but objects that are there for its sake alone."""
    if not path:
        return {key: one for key, one in value.items() if key != name}
    inner = value.get(path[0])
    if inner is not None and not isinstance(inner, dict):
        return value
    rest = _rest(inner or {}, path[1:], name)
    return {key: (rest if key == path[0] else one) for key, one in value.items() if key != path[0] or rest}


def _sorted(value: Any) -> Any:
    """The same in one order: tables of one name may stand apart, and then the order is that of the first of them."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value
