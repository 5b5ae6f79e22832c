"""One table put into a text of TOML that is known to be valid, or taken out of it."""

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..rendering import toml_text
from .mistakes import OtherForm, at
from .splice import Splice, in_text, line_end

_TOKEN = re.compile(
    r'#[^\n]*|"""(?:[^\\]|\\.)*?"""+|\'\'\'.*?\'\'\'+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[\[\]{}\n]|[^\s#"\'\[\]{}]+',
    re.DOTALL,
)


class _Table(Struct, frozen=True):
    """A table from its heading to the end of its last line with a value."""

    path: tuple[str, ...]
    start: int
    end: int


def put(data: bytes, path: Sequence[str], name: str, value: Any) -> Splice:
    """Adds or replaces the table below the path. Raises: NotUnderstood."""
    text = data.decode()
    newline = line_end(data)
    whole = (*path, name)
    table = toml_text(value, whole).replace("\n", newline)
    if _value_at(tomllib.loads(text), whole) is not None:
        found = _own_tables(text, whole)
        return in_text(text, found.start, found.end, table)
    if isinstance(_value_at(tomllib.loads(text), path), list):
        raise _closed(text, path)
    # A table may come at the end of any other file, whatever is in it.
    before = "" if not text or text.endswith("\n") else newline
    gap = "" if not text.strip() or re.search(r"\n[ \t]*\r?\n\Z", text) else newline
    added = f"{before}{gap}{table}{newline}"
    try:
        tomllib.loads(text + added)
    except ValueError:
        raise _closed(text, path) from None
    return in_text(text, len(text), len(text), added)


def take(data: bytes, path: Sequence[str], name: str) -> Splice | None:
    """Removes the table; None if it is not there. Raises: NotUnderstood."""
    text = data.decode()
    whole = (*path, name)
    if _value_at(tomllib.loads(text), whole) is None:
        return None
    found = _own_tables(text, whole)
    ending = re.compile(r"[ \t]*(?:\r?\n|\Z)").match(text, found.end)
    end = ending.end() if ending is not None else found.end
    start = found.start
    # The empty line before it goes with it.
    if gap := re.search(r"(?:^|\n)([ \t]*\r?\n)\Z", text[:start]):
        start = gap.start(1)
    return in_text(text, start, end, "")


def _closed(text: str, path: Sequence[str]) -> OtherForm:
    """Why a text to which no table can be added is left alone."""
    name = ".".join(path)
    is_list = isinstance(_value_at(tomllib.loads(text), path), list)
    form = "a list of tables" if is_list else "one value, which no table can be added to"
    line = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(path[0])}\b", text, re.MULTILINE)
    where = f"{at(text, line.start())}: " if line is not None else ""
    return OtherForm(
        f"{where}{name} is written as {form}",
        f"Write each of the servers that are there as a table with a heading of its own, [{name}.NAME].",
    )


def _value_at(value: Any, path: Sequence[str]) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _own_tables(text: str, path: tuple[str, ...]) -> _Table:
    """The lines of a table and those below it. Raises: NotUnderstood unless they stand together."""
    name = ".".join(path)
    tables = _tables(text)
    own = [index for index, one in enumerate(tables) if one.path[: len(path)] == path]
    if not own:
        raise OtherForm(f"{name} is not written as a table with a heading", f"Remove what it says of {name}.")
    if own != list(range(own[0], own[-1] + 1)):
        split = next(index for index in range(own[0], own[-1]) if index not in own)
        raise OtherForm(
            f"{at(text, tables[split].start)}: the parts of {name} do not stand together",
            f"Remove all parts of {name}.",
        )
    return _Table(path, tables[own[0]].start, tables[own[-1]].end)


def _tables(text: str) -> list[_Table]:
    found: list[_Table] = []
    depth = 0
    line_start, begins_line = 0, True
    heading: int | None = None
    for token in _TOKEN.finditer(text):
        part = token[0]
        if part == "\n":
            begins_line = depth == 0
            if heading is not None and depth == 0:
                line = text[heading : token.start()]
                found.append(_Table(_path(line), heading, heading + len(line.rstrip("\r"))))
                heading = None
            line_start = token.end()
            continue
        if part.startswith("#"):
            continue
        if part == "[" and begins_line and heading is None:
            heading = line_start
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(part, 0)
        begins_line = False
        if found and heading is None:
            found[-1] = _Table(found[-1].path, found[-1].start, token.end())
    if heading is not None:
        found.append(_Table(_path(text[heading:]), heading, len(text.rstrip())))
    return [_Table(one.path, one.start, _end_of_line(text, one.end)) for one in found]


def _end_of_line(text: str, place: int) -> int:
    """Behind a comment on the same line, and before what ends it."""
    rest = re.compile(r"[ \t]*(?:#[^\r\n]*)?").match(text, place)
    return rest.end() if rest is not None and rest[0].strip() else place


def _path(heading: str) -> tuple[str, ...]:
    value: Any = tomllib.loads(heading.rstrip("\r"))
    path: list[str] = []
    while isinstance(value, dict | list) and value:
        if isinstance(value, list):
            value = value[0]
            continue
        ((key, value),) = value.items()
        path.append(key)
    return tuple(path)
