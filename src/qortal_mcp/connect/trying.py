"""Tries one configured entry of ours as its client would: with the PATH and the variables that the client gives it."""

from __future__ import annotations

import asyncio
import fnmatch
import os.path
import time
from collections import deque
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ..client import ClientError, ClientLimits, Options, connect
from ..client.errors import CannotRun
from ..text import shortened, visible
from . import records
from .client import Surroundings, System
from .configured import Configured, arguments_of, is_our_command
from .entries import server_entries
from .entries.server_entries import BadEntry, Entry
from .places import Machine
from .program import program

# A start takes a tenth of a second, but a bridge waits for the server behind it.
DEFAULT_SECONDS = 15.0
# What a program has that was started from a menu.
_DESKTOP_PATHS: dict[System, str] = {
    "macOS": "/usr/bin:/bin:/usr/sbin:/sbin",
    "Linux": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
# Commands of ours that serve the client that started them.
SERVING = ("stdio", "bridge")
_SAID_CHARS = 300
# A person writes their own file. That of a project comes with the project, and could start or be told anything.
_OF_A_PROJECT = "It is in the file of a project, which may come from anybody, and was not written by install, so it was not tried."
_AMBIGUOUS = "It names more than one program or address, so it was not tried."
# Members of an entry by which a program can be made to run others.
_AROUND = ("env", "environment", "envs", "env_vars", "cwd")


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of it. `says` is a sentence for a person."""

    works: bool
    says: str
    # False: nothing was started or asked, and `says` gives the reason.
    was_tried: bool = True
    # There is no such program, or it may not be run.
    is_missing: bool = False
    tools: int = 0
    seconds: float = 0.0


async def tried(
    entry: Configured, machine: Machine, *, is_recorded: bool = False, seconds: float = DEFAULT_SECONDS
) -> Outcome:
    """Starts an entry of ours, or asks its address, and lists its tools. Entries of others are never started.

    `is_recorded`: `install` wrote it, so that it may also start what is behind a bridge.
    """
    if reason := why_not(entry, is_recorded=is_recorded):
        return Outcome(works=False, was_tried=False, says=reason)
    environ = surroundings(entry.client.surroundings, machine)
    try:
        # Addresses are asked by the client itself, with its own variables.
        known = environ if entry.command else machine.environ
        read = server_entries.read(entry.raw, known, inside_ourselves=False)
    except BadEntry as exc:
        # A variable that is not set here may well be where the client is started.
        return Outcome(works=False, was_tried=bool(entry.command), says=visible(str(exc)))
    if not _is_as_recognised(entry, read.target, is_recorded=is_recorded):
        is_of_a_project = entry.level == "project" and not is_recorded
        return Outcome(works=False, was_tried=False, says=_OF_A_PROJECT if is_of_a_project else _AMBIGUOUS)
    return await _asked(read, environ, machine, seconds)


def why_not(entry: Configured, *, is_recorded: bool) -> str:
    """Why an entry is not tried; empty if it is."""
    if not entry.is_ours and not (is_recorded and entry.url):
        return "It is not of this program, so it was not started."
    if entry.is_off:
        return "It is switched off."
    if entry.level == "project" and not is_recorded and not _is_plain(entry):
        return _OF_A_PROJECT
    if not entry.command:
        return ""
    if not is_our_command(entry.command):
        return "It is not of this program, so it was not started."
    words = arguments_of(entry.command)
    if not words or words[0] not in SERVING:
        return f"It does not run one of {', '.join(SERVING)}, so it cannot serve a client."
    starts_others = any(word == "--" or word.startswith("--server") for word in words)
    if words[0] == "bridge" and starts_others and not is_recorded:
        return "It would start programs of others behind a bridge, and was not written by install."
    return ""


def _is_as_recognised(entry: Configured, target: str | tuple[str, ...], *, is_recorded: bool) -> bool:
    """Whether what would be reached is what was judged: an entry may have a command beside an address, or two commands."""
    if isinstance(target, str):
        return not entry.command
    if entry.level == "project" and not is_recorded:
        return target == entry.command
    return bool(entry.command) and is_our_command(target)


def was_recorded(entry: Configured, machine: Machine) -> bool:
    """Whether `install` wrote this entry as it is."""
    known = records.read(machine, os.path.realpath(entry.file), entry.name)
    return known is not None and entry.key == entry.client.key and known.entry == records.hash_of(entry.raw)


def _is_plain(entry: Configured) -> bool:
    """Whether it starts this very program, for its client, and changes nothing around it."""
    ours, words = program(), entry.command
    if len(ours) > 1 or not words or not isinstance(entry.raw, dict) or any(map(entry.raw.get, _AROUND)):
        return False
    # A relative path is another one where the program is started.
    return (
        os.path.isabs(words[0])
        and os.path.realpath(words[0]) == os.path.realpath(ours[0])
        and words[1:2] == ("stdio",)
    )


def surroundings(given: Surroundings, machine: Machine) -> dict[str, str]:
    """The variables that a program gets whose client was started as usual."""
    names = {name.upper() for name in given.inherits} if given.inherits is not None else None
    kept = {
        name: value
        for name, value in machine.environ.items()
        if (names is None or name.upper() in names)
        and not any(fnmatch.fnmatchcase(name.upper(), f"*{part}*") for part in given.drops)
    }
    if given.is_desktop and machine.system in _DESKTOP_PATHS:
        kept["PATH"] = _DESKTOP_PATHS[machine.system]
    return kept


async def _asked(entry: Entry, environ: Mapping[str, str], machine: Machine, seconds: float) -> Outcome:
    limits = ClientLimits(
        handshake_seconds=seconds, request_seconds=seconds, connect_seconds=seconds, exit_seconds=1.0
    )
    # What it said of itself; a bridge says there what it waits for.
    last: deque[bytes] = deque(maxlen=1)
    options = Options(
        headers=entry.headers,
        env={**environ, **entry.env},
        cwd=entry.cwd or machine.home,
        limits=limits,
        on_stderr=last.append,
    )
    began = time.monotonic()
    try:
        async with asyncio.timeout(seconds), connect(entry.target, era="legacy", options=options) as client:
            listing = await client.list_tools()
    except TimeoutError:
        says = _with_last_line(f"It did not answer within {seconds:g} s.", last)
        return Outcome(works=False, says=says, seconds=seconds)
    except ClientError as exc:
        took = time.monotonic() - began
        return Outcome(
            works=False, says=_failure(exc, last), is_missing=isinstance(exc, CannotRun), seconds=took
        )
    count = len(listing.items)
    took = time.monotonic() - began
    return Outcome(works=True, says=f"Answers, with {count} tools.", tools=count, seconds=took)


def _failure(error: ClientError, said: Sequence[bytes]) -> str:
    text = visible(str(error)).rstrip(".")
    return _with_last_line(f"{text[:1].upper()}{text[1:]}.", error.evidence or said)


def _with_last_line(sentence: str, said: Sequence[bytes]) -> str:
    last = said[-1].decode(errors="replace").strip().splitlines() if said else []
    return f"{sentence} Its last line: {shortened(visible(last[-1]), _SAID_CHARS)}" if last else sentence
