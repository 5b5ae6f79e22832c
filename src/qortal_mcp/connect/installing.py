"""Decides what `install` changes in a client's file, and what undoing it means. Pure: nothing is read or written here."""

import contextlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from .client import SERVER_NAME, Client, Level
from .configured import entries_under
from .records import Record, hash_of, hashed
from .settings_files import editing
from .settings_files.formats import parsed
from .settings_files.mistakes import NotUnderstood
from .settings_files.splice import Splice

# Clients in JavaScript lose an entry __proto__, and a name that begins with a hyphen looks like an option of theirs.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
# How often in a row an entry of ours can be replaced and undone again.
_MOST_FORMER = 5


class OtherEntry(Exception):
    """There is another entry of that name."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


class NotOurs(Exception):
    """The entry is not as `install` wrote it. `found` is what it is now."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


class Undoing(Struct, frozen=True):
    """What undoing does: one change, or the removal of a file that `install` made."""

    splice: Splice | None
    removes_file: bool = False


def is_entry_name(name: str) -> bool:
    """Whether `install` can be told of an entry of this name."""
    return _NAME.fullmatch(name) is not None


def install_words(client: Client, name: str, level: Level) -> tuple[str, ...]:
    """The command line that means this entry of the client's usual file."""
    has_both = any(place.level == "user" for place in client.places)
    return (
        *("qortal-mcp", "install", client.name),
        *(("--name", name) if name != SERVER_NAME else ()),
        *(("--project",) if level == "project" and has_both else ()),
    )


def change(
    client: Client, data: bytes, name: str, entry: Mapping[str, Any], *, replaces: bool = False
) -> Splice | None:
    """The change that adds the entry; None if it is there.

    Raises: OtherEntry unless it may be replaced; NotUnderstood.
    """
    found = entries_under(parsed(client.form, data), client.key)
    if name in found:
        if _covers(found[name], entry):
            return None
        if not replaces:
            raise OtherEntry(found[name])
    return editing.put(client.form, data, client.key, name, entry)


def _covers(found: Any, entry: Mapping[str, Any]) -> bool:
    """Whether an entry says the same; what a person added to it is their own affair."""
    return isinstance(found, dict) and all(
        member in found and found[member] == value for member, value in entry.items()
    )


def record(
    client: Client,
    file: str,
    name: str,
    entry: Any,
    data: bytes | None,
    splice: Splice,
    backup: str,
    *,
    known: Record | None = None,
) -> Record:
    """What is kept of a change. `known` is what was kept of the one before it."""
    before = data or b""
    replaced = entries_under(parsed(client.form, before), client.key).get(name)
    is_followed = known is not None and replaced is not None and hash_of(replaced) == known.entry
    return Record(
        client=client.name,
        file=file,
        name=name,
        entry=hash_of(entry),
        before="" if data is None else hashed(before),
        after=hashed(splice.applied(before)),
        start=splice.start,
        added=len(splice.text),
        removed=splice.end - splice.start,
        backup=backup,
        former=_shortened(known) if is_followed else None,
    )


def _shortened(known: Record | None, most: int = _MOST_FORMER) -> Record | None:
    if known is None or most == 0:
        return None
    return msgspec.structs.replace(known, former=_shortened(known.former, most - 1))


def known_after(client: Client, name: str, known: Record | None, data: bytes) -> Record | None:
    """What is still known of the entry when a change was undone and this is the file: the one that came back may be ours, too."""
    former = known.former if known is not None else None
    found = entries_under(parsed(client.form, data), client.key).get(name)
    return former if former is not None and found is not None and hash_of(found) == former.entry else None


def undoing(
    client: Client, data: bytes, name: str, known: Record | None, backup: bytes | None
) -> Undoing | None:
    """How the entry is taken out; None if it is gone. `backup` is the copy that the record names, if it is there.

    A file that nobody changed since becomes what it was, to the byte. In any other the entry that was replaced, if any, comes back.

    Raises: NotOurs, NotUnderstood.
    """
    found = entries_under(parsed(client.form, data), client.key)
    if name not in found:
        return None
    if known is None or hash_of(found[name]) != known.entry:
        raise NotOurs(found[name])
    if hashed(data) == known.after:
        if not known.before:
            return Undoing(None, removes_file=True)
        old = backup if known.removed else data[: known.start] + data[known.start + known.added :]
        if old is not None and hashed(old) == known.before:
            end = known.start + known.added
            return Undoing(Splice(known.start, end, old[known.start : known.start + known.removed]))
    former = _former(client, name, known, backup)
    if former is not None:
        # As it was written it may not be possible: then it is in the copy, as everything else.
        with contextlib.suppress(NotUnderstood, TypeError):
            return Undoing(editing.put(client.form, data, client.key, name, former))
    return Undoing(editing.take(client.form, data, client.key, name))


def _former(client: Client, name: str, known: Record, backup: bytes | None) -> dict[str, Any] | None:
    """The entry that ours took the place of, if there was one."""
    if backup is None or hashed(backup) != known.before:
        return None
    found = entries_under(parsed(client.form, backup), client.key).get(name)
    return found if isinstance(found, dict) else None
