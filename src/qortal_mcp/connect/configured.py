"""Which servers the clients of this machine have in their settings, as they are written there. Nothing is started."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..settings import TOKEN_VARIABLE
from .client import Client, Level
from .clients import CLIENTS
from .entries.server_entries import is_switched_off
from .places import Look, Machine, file_of, on_disk, unread_file
from .settings_files import formats, reading
from .settings_files.mistakes import NotUnderstood
from .settings_files.reading import BrokenFile
from .token_references import INPUT

_OURS = frozenset({"qortal-mcp", "qortal-mcp.exe"})
_MODULE = "qortal_mcp"
_PYTHON = re.compile(r"(?:python[0-9.]*|pythonw?|py)(?:\.exe)?")
_COMMANDS = ("command", "cmd")
_URLS = ("url", "httpUrl", "serverUrl", "uri")
_LEVELS: tuple[Level, ...] = ("user", "project")


class Configured(Struct, frozen=True, kw_only=True):
    """One entry of a client's file."""

    client: Client
    file: str
    level: Level
    name: str
    # One of both, unless the entry is none.
    command: tuple[str, ...] = ()
    url: str = ""
    # Whether it starts this program, or names this program's token.
    is_ours: bool = False
    is_off: bool = False
    # The members of the file above it, and the entry as it is written.
    key: tuple[str, ...] = ()
    raw: Any = None


class ClientFile(Struct, frozen=True, kw_only=True):
    """A settings file that is there."""

    client: Client
    path: str
    level: Level
    entries: tuple[Configured, ...] = ()
    # Why it cannot be read; a sentence.
    problem: str = ""


class UnreadFile(Struct, frozen=True, kw_only=True):
    """A file with servers in it that the client does not read."""

    client: Client
    path: str
    names: tuple[str, ...]


def configured(
    machine: Machine, look: Look = on_disk, clients: Sequence[Client] = CLIENTS
) -> tuple[ClientFile, ...]:
    """The settings files that are there, with their entries."""
    found = []
    for client in clients:
        for level in _LEVELS:
            path = file_of(client, level, machine, look)
            if path is not None and (file := client_file(client, level, path, machine)) is not None:
                found.append(file)
    return tuple(found)


def client_file(client: Client, level: Level, path: str, machine: Machine) -> ClientFile | None:
    """One settings file with its entries; None if it is not there."""
    try:
        content = reading.read(path)
        value = formats.parsed(client.form, content.data)
    except FileNotFoundError:
        return None
    except BrokenFile as exc:
        return ClientFile(client=client, path=path, level=level, problem=str(exc))
    except NotUnderstood as exc:
        problem = f"{client.title} cannot be expected to read {path}: {exc}."
        if client.form == "yaml":
            problem = f"This program cannot read {path}: {exc}."
        return ClientFile(client=client, path=path, level=level, problem=problem)
    keys = [client.key]
    if level == "user":
        keys += [tuple(part.format(project=machine.folder) for part in key) for key in client.other_keys]
    entries = [
        described(client, path, level, key, name, raw)
        for key in keys
        for name, raw in entries_under(value, key).items()
    ]
    return ClientFile(client=client, path=path, level=level, entries=tuple(entries))


def unread(
    machine: Machine, look: Look = on_disk, clients: Sequence[Client] = CLIENTS
) -> tuple[UnreadFile, ...]:
    """Files with servers in them that look like those of a client, and that it does not read."""
    found = []
    for client in clients:
        for one in client.unread:
            path = unread_file(one, machine, look)
            if path is None:
                continue
            try:
                value = formats.parsed(one.form, reading.read(path).data)
            except (FileNotFoundError, BrokenFile, NotUnderstood):
                continue
            if names := tuple(entries_under(value, one.key)):
                found.append(UnreadFile(client=client, path=path, names=names))
    return tuple(found)


def entries_under(value: Any, key: Sequence[str]) -> dict[str, Any]:
    """The entries below these members; nothing, if there are none."""
    for part in key:
        value = value.get(part) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def described(
    client: Client, path: str, level: Level, key: tuple[str, ...], name: str, raw: Any
) -> Configured:
    """What an entry is, as far as it can be told."""
    command = words_of(raw)
    url = "" if command else _url(raw)
    return Configured(
        client=client,
        file=path,
        level=level,
        name=name,
        command=command,
        url=url,
        is_ours=is_our_command(command) or (bool(url) and _names_our_token(raw)),
        is_off=is_switched_off(raw),
        key=key,
        raw=raw,
    )


def words_of(raw: Any) -> tuple[str, ...]:
    """The command of an entry with its arguments; empty if it has none."""
    if not isinstance(raw, dict):
        return ()
    given = next((raw[member] for member in _COMMANDS if raw.get(member)), None)
    args = raw.get("args")
    words = [*(given if isinstance(given, list) else [given]), *(args if isinstance(args, list) else [])]
    return tuple(map(str, words)) if isinstance(words[0], str) else ()


def _url(raw: Any) -> str:
    if not isinstance(raw, dict):
        return ""
    return next((raw[member] for member in _URLS if isinstance(raw.get(member), str)), "")


def is_our_command(words: Sequence[str]) -> bool:
    """Whether the program that would be started is this one: by its file, or as a module of Python."""
    if not words:
        return False
    program = re.split(r"[/\\]", words[0])[-1].lower()
    return program in _OURS or (
        _PYTHON.fullmatch(program) is not None and tuple(words[1:3]) == ("-m", _MODULE)
    )


def arguments_of(words: Sequence[str]) -> tuple[str, ...]:
    """What our program would be told."""
    return tuple(words[1:] if re.split(r"[/\\]", words[0])[-1].lower() in _OURS else words[3:])


def _names_our_token(raw: Any) -> bool:
    text = str(raw)
    return TOKEN_VARIABLE in text or INPUT in text
