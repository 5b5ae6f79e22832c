"""The value of a settings file in its format, or the place of what is wrong with it."""

import re
import tomllib
from typing import Any, Literal

from . import relaxed_json, yaml_blocks
from .mistakes import NotUnderstood

Form = Literal["json", "jsonc", "toml", "yaml"]

MARK = b"\xef\xbb\xbf"
# A name of very many parts takes hours to read, and the file of a project may come from anybody.
_MOST_DOTS = 500
_PLACE = re.compile(r"\(at (line \d+, column \d+)\)|\(at (end of document)\)")
# How the library writes the name of a table.
_KEYS = re.compile(r"\(((?:'[^']*'|\"[^\"]*\")(?:, ?)?)+\)")


def parsed(form: Form, data: bytes) -> dict[str, Any]:
    """What a file holds; an empty one holds nothing.

    JSON may have comments and trailing commas, whatever its client's documents say: whoever wrote them is not refused.

    Raises: NotUnderstood.
    """
    body = data.removeprefix(MARK)
    if not body.strip():
        return {}
    try:
        return _object(_READERS[form](body))
    except UnicodeDecodeError as exc:
        line = body.count(b"\n", 0, exc.start) + 1
        raise NotUnderstood(f"line {line}: it is not UTF-8") from None
    except RecursionError:
        raise NotUnderstood("it is nested too deeply") from None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotUnderstood("line 1, column 1: it holds one value, not members with names")
    return value


def _json(data: bytes) -> Any:
    data.decode()  # a broken text inside a string is found here, with its place
    try:
        return relaxed_json.read(data)
    except relaxed_json.NotJson as exc:
        raise NotUnderstood(str(exc)) from None


def _toml(data: bytes) -> Any:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > _MOST_DOTS:
            raise NotUnderstood(f"line {number}: it has more than {_MOST_DOTS} dots")
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise
    except ValueError as exc:  # also for numbers that are too long
        place = _PLACE.search(str(exc))
        reason = _KEYS.sub(_dotted, _PLACE.sub("", str(exc)).strip())
        where = (place[1] or place[2]) if place is not None else "a number"
        raise NotUnderstood(f"{where}: {reason[:1].lower()}{reason[1:]}") from None


def _dotted(keys: re.Match[str]) -> str:
    return ".".join(re.findall(r"'([^']*)'", keys[0])) or keys[0]


def _yaml(data: bytes) -> Any:
    return yaml_blocks.plain(yaml_blocks.read(data.decode()))


_READERS = {"json": _json, "jsonc": _json, "toml": _toml, "yaml": _yaml}
