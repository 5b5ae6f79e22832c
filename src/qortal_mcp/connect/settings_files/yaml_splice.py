"""One member put into a text of YAML, or taken out of it. Only what `yaml_blocks` reads is changed."""

from collections.abc import Sequence
from typing import Any

from ..rendering import yaml_text
from . import yaml_blocks
from .mistakes import OtherForm, at
from .splice import Splice, in_text, line_end
from .yaml_blocks import Mapping, Member

_UNIT = "  "


def put(data: bytes, path: Sequence[str], name: str, value: Any) -> Splice:
    """Adds or replaces the member below the path. Raises: NotUnderstood."""
    text = data.decode()
    newline = line_end(data)
    found, above, missing = _inside(text, path)
    member = None if missing else found.get(name)
    if member is not None:
        new = _written(name, value, member.indent, newline)
        ending = newline if text[: member.end].endswith("\n") else ""
        return in_text(text, member.start, member.end, new + ending)
    for key in reversed((*missing[1:], name) if missing else ()):
        value = {key: value}
    key = missing[0] if missing else name
    if found.members:
        last = found.members[-1]
        new = _written(key, value, last.indent, newline)
        before = "" if text[: last.end].endswith("\n") else newline
        return in_text(text, last.end, last.end, f"{before}{new}{newline}")
    if above is None:
        before = "" if not text or text.endswith("\n") else newline
        return in_text(text, len(text), len(text), f"{before}{_written(key, value, 0, newline)}{newline}")
    # What is empty is opened: nothing, or braces without anything in them, behind the colon.
    new = _written(key, value, above.indent + len(_UNIT), newline)
    comment = text[above.after_colon : above.end_of_line]
    kept = comment[comment.index("#") :] if "#" in comment else ""
    blank = " " if kept else ""
    return in_text(text, above.after_colon, above.end_of_line, f"{blank}{kept}{newline}{new}")


def take(data: bytes, path: Sequence[str], name: str) -> Splice | None:
    """Removes the member; None if it is not there. Raises: NotUnderstood."""
    text = data.decode()
    found, above, missing = _inside(text, path)
    member = None if missing else found.get(name)
    if member is None:
        return None
    if len(found.members) == 1 and above is not None:
        # A name without a value would be null, where an object is expected.
        ending = text[above.end_of_line : member.start]
        kept = text[above.after_colon : above.end_of_line]
        newline = line_end(data) if text[: member.end].endswith("\n") else ""
        return in_text(text, above.after_colon, member.end, f" {{}}{kept}{ending.rstrip()}{newline}")
    return in_text(text, member.start, member.end, "")


def _inside(text: str, path: Sequence[str]) -> tuple[Mapping, Member | None, tuple[str, ...]]:
    """The mapping at the end of the path, the member that holds it, and what of the path is missing."""
    found = yaml_blocks.read(text)
    above: Member | None = None
    for depth, key in enumerate(path):
        member = found.get(key)
        if member is None:
            return found, above, tuple(path[depth:])
        if isinstance(member.value, Mapping):
            found = member.value
        elif member.value in (None, {}):
            found = Mapping(())
        else:
            raise OtherForm(
                f"{at(text, member.start)}: {key} is not written as a block of members",
                f"Write each member of {key} on lines of its own below it, without braces.",
            )
        above = member
    return found, above, ()


def _written(key: str, value: Any, indent: int, newline: str) -> str:
    return yaml_text({key: value}, " " * indent, _UNIT).replace("\n", newline)
