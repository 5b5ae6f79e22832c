"""Where the members of an object are in a text of JSON that is known to be valid."""

import json
import re
from collections.abc import Sequence

from msgspec import Struct

from .mistakes import NotUnderstood, OtherForm, at

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')


class Member(Struct, frozen=True):
    """A name and its value."""

    key: str
    start: int
    value_start: int
    value_end: int


class Object(Struct, frozen=True):
    """An object from its opening to behind its closing brace."""

    start: int
    end: int
    members: tuple[Member, ...]

    def get(self, key: str) -> Member | None:
        return next((one for one in self.members if one.key == key), None)


def object_at(plain: bytes, start: int = 0) -> Object:
    """The object whose brace is the first thing from there on."""
    members: list[Member] = []
    depth = 0
    opened = key_start = value_start = -1
    key = ""
    end = start
    for token in _TOKEN.finditer(plain, start):
        found = token[0]
        if opened < 0:
            opened, depth = token.start(), 1
            continue
        if depth == 1 and value_start < 0 and found.startswith(b'"'):
            key, key_start = json.loads(found.decode("utf-8", "surrogatepass")), token.start()
            value_start = 0
        elif depth == 1 and value_start == 0 and found != b":":
            value_start = token.start()
        if found in (b"{", b"["):
            depth += 1
        elif found in (b"}", b"]"):
            depth -= 1
        if depth == 1 and found == b",":
            members.append(Member(key, key_start, value_start, end))
            value_start = -1
        if depth == 0:
            if value_start > 0:
                members.append(Member(key, key_start, value_start, end))
            return Object(opened, token.end(), tuple(members))
        end = token.end()
    raise NotUnderstood("it ends before its object does")


def is_object(plain: bytes, member: Member) -> bool:
    return plain[member.value_start : member.value_start + 1] == b"{"


def inside(plain: bytes, path: Sequence[str]) -> tuple[Object, tuple[str, ...]]:
    """The object at the end of the path, as far as there is one, and what of the path is missing or null.

    Raises: NotUnderstood if a name of the path is there twice, or is not an object.
    """
    found = object_at(plain)
    for depth, key in enumerate(path):
        member = the_only(plain, found, key)
        if member is None or plain[member.value_start : member.value_end] == b"null":
            return found, tuple(path[depth:])
        if not is_object(plain, member):
            raise OtherForm(
                f"{_place(plain, member.value_start)}: {key} is not an object with members",
                f"Write {{}} in place of the value of {key}.",
            )
        found = object_at(plain, member.value_start)
    return found, ()


def the_only(plain: bytes, found: Object, key: str) -> Member | None:
    """Raises: NotUnderstood if there are two."""
    same = [one for one in found.members if one.key == key]
    if len(same) > 1:
        first, second = (_place(plain, one.start) for one in same[:2])
        raise NotUnderstood(f"{first} and {second}: {json.dumps(key)} is there twice; remove one")
    return same[0] if same else None


def _place(plain: bytes, offset: int) -> str:
    text = plain[:offset].decode("utf-8", "replace")
    return at(text, len(text))
