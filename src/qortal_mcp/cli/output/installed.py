"""What `install` says: the change, where it went, what else to do; and the list of what is configured."""

import json
import os
import shlex
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from ...audit.secrets import safe_url, without_secrets
from ...connect.client import Client
from ...connect.clients import CLIENTS
from ...connect.configured import ClientFile, Configured, UnreadFile
from ...connect.places import Machine, file_of, on_disk
from ...connect.trying import Outcome
from ...text import visible
from . import terminal

_COLOURS = {"+": "green", "-": "red"}
_NAME_COLUMNS = 24
_MOST_CHARS = 2000


def change(client: Client, path: str, data: bytes | None, rows: Sequence[tuple[str, str]]) -> None:
    new = " (a new file)" if data is None else ""
    terminal.write(click.style(f"{client.title}: {visible(path)}{new}", bold=True))
    for sign, line in rows:
        terminal.write(click.style(f"{sign} {line}".rstrip(), fg=_COLOURS.get(sign)))


def done(client: Client, backup: str, undo: str) -> None:
    kept = f" The file as it was: {visible(backup)}" if backup else ""
    terminal.write(f"Written.{kept}")
    if undo:
        terminal.write(f"To undo it: {undo}")


def restart(client: Client) -> None:
    if client.must_restart:
        terminal.write(f"- Quit {client.title} and start it again: it reads the file only then.")


def remarks(client: Client, token_variable: str) -> None:
    if token_variable:
        terminal.write(
            f"- {client.title} reads the token from the variable {token_variable}: set it where {client.title} is started."
        )
    restart(client)
    for remark in client.remarks:
        terminal.write(f"- {remark}")


def other(path: str, name: str, found: Any, wanted: Any) -> None:
    """Both entries, one below the other."""
    terminal.write(f"{visible(path)} has an entry {name}:")
    terminal.write(f"- {_shown(found)}")
    terminal.write("This would be written in its place:")
    terminal.write(f"+ {_shown(wanted)}")


def found_now(name: str, found: Any) -> None:
    terminal.write(f"The entry {name} is now:")
    terminal.write(f"  {_shown(found)}")


def to_paste(path: str, text: str, first: str) -> None:
    """What belongs into a file; `first` is what has to be done there before it can be added."""
    if first:
        terminal.write(f"First change {visible(path)}. {visible(first)} Then add this:")
    else:
        terminal.write(f"This belongs into {visible(path)}; keep what is there:")
    terminal.write(visible(text))


def _shown(value: Any) -> str:
    """On one line, without secrets of others."""
    text = json.dumps(_masked(value), ensure_ascii=False, default=str)
    return visible(text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…")


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        hidden = ("env", "environment", "envs", "headers", "http_headers")
        return {
            name: dict.fromkeys(one, "***")
            if name in hidden and isinstance(one, dict) and not _is_reference(one)
            else _masked(one)
            for name, one in value.items()
        }
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return list(without_secrets(value))
    return value


def _is_reference(members: dict[str, Any]) -> bool:
    """Whether every value names a variable, which is no secret."""
    return all(isinstance(one, str) and "{" in one and one.endswith("}") for one in members.values())


def shell(*words: str) -> str:
    return shlex.join(words)


def listing(
    files: Sequence[ClientFile],
    outcomes: Sequence[Sequence[Outcome]],
    ignored: Sequence[UnreadFile],
    machine: Machine,
) -> None:
    for file, found in zip(files, outcomes, strict=True):
        whose = " (this project)" if file.level == "project" else ""
        terminal.write(
            click.style(f"{file.client.title}{whose}", bold=True) + f"  {visible(_short(file.path, machine))}"
        )
        if file.problem:
            terminal.write(f"  {_mark(False)} {visible(file.problem)}")
        elif not file.entries:
            terminal.write("    no servers")
        for one, outcome in zip(file.entries, found, strict=True):
            _entry(one, outcome)
    for unread in ignored:
        names = visible(", ".join(unread.names))
        right = file_of(unread.client, "user", machine, on_disk) or ""
        terminal.write(
            f"{unread.client.title} does not read {visible(_short(unread.path, machine))}, which has {names}. Its file is {visible(_short(right, machine))}."
        )
    there = {file.client.name for file in files}
    missing = [one.name for one in CLIENTS if one.name not in there]
    if missing:
        terminal.write(f"Without a settings file: {', '.join(missing)}.")
    ours = [one.is_ours for file in files for one in file.entries]
    if not any(ours) and not any(one.was_tried for found in outcomes for one in found):
        terminal.write("No client has this server yet. Begin with: qortal-mcp install CLIENT")
    if any(one.works for found in outcomes for one in found):
        terminal.write("Whether a node answers them, too, is said by: qortal-mcp doctor")
    run = [one.title for one in CLIENTS if one.evidence.kind == "run"]
    terminal.write(
        f"Where files are: checked by running {', '.join(run)}; for the others by reading (docs/connect.md)."
    )


def _entry(one: Configured, outcome: Outcome) -> None:
    name = terminal.padded(terminal.cut(terminal.one_line(one.name), _NAME_COLUMNS), _NAME_COLUMNS)
    if outcome.was_tried:
        terminal.write(f"  {_mark(outcome.works)} {name} {outcome.says}")
        if not outcome.works:
            terminal.write(f"      {_what(one)}")
    else:
        said = (
            outcome.says
            if one.is_ours
            else ("Another program's." if not one.is_off else "Another program's, switched off.")
        )
        terminal.write(f"    {name} {said} {_what(one)}".rstrip())


def _mark(is_good: bool) -> str:
    good, bad = ("✓", "✗") if terminal.can_show("✓✗") else ("ok", "!!")
    return click.style(good, fg="green") if is_good else click.style(bad, fg="red")


def _what(one: Configured) -> str:
    text = " ".join(without_secrets(one.command)) if one.command else safe_url(one.url) if one.url else ""
    return terminal.cut(terminal.one_line(text), 100)


def _short(path: str, machine: Machine) -> str:
    home = machine.home + os.sep
    return f"~{os.sep}{path[len(home) :]}" if path.startswith(home) else path


def as_json(
    files: Sequence[ClientFile], outcomes: Sequence[Sequence[Outcome]], ignored: Sequence[UnreadFile]
) -> bytes:
    listed = [
        {
            "client": file.client.name,
            "title": file.client.title,
            "file": file.path,
            "level": file.level,
            "evidence": {"kind": file.client.evidence.kind, "on": file.client.evidence.on},
            "problem": file.problem or None,
            "entries": [_json_entry(*pair) for pair in zip(file.entries, found, strict=True)],
        }
        for file, found in zip(files, outcomes, strict=True)
    ]
    unread = [{"client": one.client.name, "file": one.path, "names": one.names} for one in ignored]
    return msgspec.json.encode({"files": listed, "unread": unread})


def _json_entry(one: Configured, outcome: Outcome) -> dict[str, Any]:
    return {
        "name": one.name,
        "command": list(without_secrets(one.command)) if one.command else None,
        "url": safe_url(one.url) if one.url else None,
        "isOurs": one.is_ours or outcome.was_tried,
        "isOff": one.is_off,
        "wasTried": outcome.was_tried,
        "works": outcome.works if outcome.was_tried else None,
        "tools": outcome.tools if outcome.works else None,
        "says": outcome.says,
    }
