"""One entry of a client's file, or one `--server`: what to reach, and with what. What is wrong with it is one sentence."""

from __future__ import annotations

import os.path
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ...client.transcript import Headers
from ...settings.variables import PREFIX
from .addresses import is_address, is_header_name
from .variables import Expansion, NotSet

_COMMANDS = frozenset({"stdio", "local", "command"})
_ADDRESSES = frozenset(
    {"http", "sse", "streamable-http", "streamablehttp", "streamable_http", "ws", "websocket", "remote"}
)
_URLS = ("url", "httpUrl", "serverUrl", "uri")
_ENVIRONMENTS = ("env", "environment", "envs")
_HIDDEN = ("excludeTools", "disabledTools", "disabled_tools")
_CHOSEN = ("includeTools", "enabledTools", "enabled_tools", "tools")
_OURSELVES = frozenset({"qortal-mcp", "qortal-mcp.exe", "qortal_mcp"})
# Programs that run another one, which says more about a server than they do.
_RUNNERS = re.compile(r"(?:npx|bunx|pnpx|uvx|uv|node|deno|bun|docker|podman|python[0-9.]*|py)(?:\.exe)?")
_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.*)", re.DOTALL)
_NOT_PART_OF_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")
# More would be a mistake.
_MOST_WORDS = 1000
_LONGEST_WORD = 100_000


class Entry(Struct, frozen=True, kw_only=True):
    """A server as its entry describes it, with all variables filled in."""

    target: str | tuple[str, ...]
    headers: Headers = ()
    # What the program gets to see besides the usual.
    env: Mapping[str, str] = {}
    cwd: str | None = None
    hidden: frozenset[str] = frozenset()
    # If given, no other tools are offered.
    chosen: frozenset[str] | None = None
    # Values of variables that were filled in, by name.
    used: Mapping[str, str] = {}


class BadEntry(Exception):
    """The entry cannot be used. The text is a sentence."""


def is_switched_off(raw: Any) -> bool:
    return isinstance(raw, dict) and (raw.get("disabled") is True or raw.get("enabled") is False)


def read(raw: Any, environ: Mapping[str, str], *, inside_ourselves: bool = True) -> Entry:
    """What an entry means with these variables. `inside_ourselves`: this program is to start it for a list of servers.

    Raises: BadEntry.
    """
    if not isinstance(raw, dict):
        raise BadEntry("Its entry is not an object.")
    expansion = Expansion(environ)
    try:
        if not _is_command(raw):
            return _address(raw, expansion)
        found = _command(raw, expansion)
        if inside_ourselves and runs_ourselves(found.target, found.env):
            raise BadEntry(
                "It is this very command with its own list of servers: it would start itself for ever."
            )
        return found
    except NotSet as exc:
        raise BadEntry(str(exc)) from None


def _is_command(raw: dict[str, Any]) -> bool:
    kind = raw.get("type")
    if kind is None:
        kind = "stdio" if "command" in raw or "cmd" in raw else "http"
    if not isinstance(kind, str) or kind.lower() not in _COMMANDS | _ADDRESSES:
        raise BadEntry("Its type is not stdio, http, sse, streamable-http or ws.")
    return kind.lower() in _COMMANDS


def _command(raw: dict[str, Any], expansion: Expansion) -> Entry:
    given = raw.get("command", raw.get("cmd"))
    words = [*(given if isinstance(given, list) else [given]), *_listed(raw, "args")]
    if not isinstance(words[0], str) or not words[0]:
        raise BadEntry("It has no command.")
    if len(words) > _MOST_WORDS:
        raise BadEntry("It has too many arguments.")
    argv = tuple(_text(word, "a word of its command", expansion) for word in words)
    env = _texts(next((raw[name] for name in _ENVIRONMENTS if name in raw), None), "env", expansion)
    for name in _listed(raw, "env_vars"):
        env[_text(name, "a name in env_vars", expansion)] = expansion.value(str(name))
    cwd = raw.get("cwd")
    return Entry(
        target=argv,
        env=env,
        cwd=None if cwd is None else os.path.expanduser(_text(cwd, "cwd", expansion)),
        hidden=_hidden(raw),
        chosen=_chosen(raw),
        used=expansion.used,
    )


def _address(raw: dict[str, Any], expansion: Expansion) -> Entry:
    found = next((raw[member] for member in _URLS if raw.get(member) is not None), None)
    if found is None:
        raise BadEntry("It has neither a command nor a url.")
    url = _text(found, "url", expansion)
    if not is_address(url):
        # Not shown: it may hold a password.
        raise BadEntry("Its address does not begin with http://, https://, ws:// or wss://, or has no host.")
    headers = {
        **_texts(raw.get("headers"), "headers", expansion),
        **_texts(raw.get("http_headers"), "http_headers", expansion),
    }
    for name, variable in _texts(raw.get("env_http_headers"), "env_http_headers", expansion).items():
        headers[name] = expansion.value(variable)
    bearer = raw.get("bearer_token_env_var")
    if isinstance(bearer, str):
        headers["authorization"] = f"Bearer {expansion.value(bearer)}"
    for name, value in headers.items():
        if not is_header_name(name) or not value.isprintable():
            raise BadEntry("One of its headers has a name or value that cannot be sent.")
    return Entry(
        target=url,
        headers=tuple((name.lower(), value.strip()) for name, value in headers.items()),
        hidden=_hidden(raw),
        chosen=_chosen(raw),
        used=expansion.used,
    )


def _listed(raw: dict[str, Any], member: str) -> list[Any]:
    found = raw.get(member)
    if found is None:
        return []
    if not isinstance(found, list):
        raise BadEntry(f"Its {member} is not a list.")
    return found


def _text(value: Any, what: str, expansion: Expansion) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**100:
        value = str(value)
    if not isinstance(value, str):
        raise BadEntry(f"{what[:1].upper()}{what[1:]} is not a text.")
    if "\0" in value:
        raise BadEntry(f"{what[:1].upper()}{what[1:]} has a null character in it.")
    if len(value) > _LONGEST_WORD:
        raise BadEntry(f"{what[:1].upper()}{what[1:]} is longer than {_LONGEST_WORD:,} characters.")
    return expansion.of(value)


def _texts(found: Any, member: str, expansion: Expansion) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict) or len(found) > _MOST_WORDS:
        raise BadEntry(f"Its {member} is not an object with texts.")
    return {
        str(name): _text(value, f"a value in its {member}", expansion)
        for name, value in found.items()
        if value is not None
    }


def _hidden(raw: dict[str, Any]) -> frozenset[str]:
    return frozenset(name for member in _HIDDEN for name in _listed(raw, member) if isinstance(name, str))


def _chosen(raw: dict[str, Any]) -> frozenset[str] | None:
    """The tools that an entry is limited to; None if it is not, or says so with a star."""
    lists = [raw[member] for member in _CHOSEN if isinstance(raw.get(member), list)]
    if not lists or any("*" in listed for listed in lists):
        return None
    return frozenset(name for listed in lists for name in listed if isinstance(name, str))


def runs_ourselves(argv: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a command is a bridge with a list of servers of its own."""
    is_ours = any(_program(word) in _OURSELVES for word in argv) and "bridge" in argv
    lists = any(word == "--servers" or word.startswith("--servers=") for word in argv)
    return is_ours and (lists or f"{PREFIX}SERVERS" in env)


def _program(word: str) -> str:
    """A word of a command without folders, and without the version that some runners take."""
    return re.split(r"[/\\]", word)[-1].partition("@")[0]


def read_option(text: str) -> tuple[str, Entry]:
    """The name and the server of one `--server`: `NAME=` and an address or a command, the name being optional.

    Raises: BadEntry.
    """
    named = _NAMED.fullmatch(text)
    name, target = (named[1], named[2]) if named is not None else ("", text)
    if "://" in target.partition(" ")[0]:
        if not is_address(target):
            raise BadEntry(
                "The address does not begin with http://, https://, ws:// or wss://, or has no host."
            )
        return name or _name_of_address(target), Entry(target=target)
    try:
        argv = tuple(shlex.split(target))
    except ValueError:
        raise BadEntry("A quotation mark is not closed.") from None
    if not argv:
        raise BadEntry("It is empty.")
    if runs_ourselves(argv, {}):
        raise BadEntry(
            "It is this very command with its own list of servers: it would start itself for ever."
        )
    return name or _name_of_command(argv), Entry(target=argv)


def _name_of_address(url: str) -> str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_here = host in ("localhost", "::1") or host.replace(".", "").isdigit()
    port = f"_{parts.port}" if is_here and parts.port is not None else ""
    return _NOT_PART_OF_A_NAME.sub("_", host.removeprefix("www.")) + port


def _name_of_command(argv: Sequence[str]) -> str:
    """After what is run, not after what runs it."""
    first = re.split(r"[/\\]", argv[0])[-1]
    named = [word for word in argv[1:] if not word.startswith("-") and word != "run"]
    chosen = named[0] if _RUNNERS.fullmatch(first) and named else first
    name = re.split(r"[/\\]", chosen.rstrip("/\\"))[-1]
    return _NOT_PART_OF_A_NAME.sub("_", re.sub(r"\.(?:py|js|mjs|ts|exe|sh)$|@[^@]*$", "", name)) or "server"
