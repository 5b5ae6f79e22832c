"""What `audit --call` and `--calls` name: tools and their arguments."""

import json
from collections.abc import Sequence
from typing import Any

from ...audit.visiting.calls import Call
from ..running import failures
from . import files


def read(words: Sequence[str], path: str | None) -> tuple[Call, ...]:
    """Raises: WrongUsage."""
    calls = [_call(word, "--call") for word in words]
    if path is not None:
        calls += _of_file(path)
    return tuple(calls)


def _call(text: str, where: str) -> Call:
    tool, _, arguments = text.strip().partition(" ")
    if not tool or tool.startswith("{"):
        raise failures.WrongUsage(f"{where} does not name a tool; write 'TOOL' or 'TOOL {{\"name\": …}}'.")
    return Call(tool, _object(arguments.strip() or "{}", f"{where} {tool}"))


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise failures.WrongUsage(f"The arguments of {where} are not JSON: {exc}.") from None
    if not isinstance(value, dict):
        raise failures.WrongUsage(f"The arguments of {where} must be a JSON object.")
    return value


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _of_file(path: str) -> list[Call]:
    """One call per line, as after --call; or one JSON array of objects with tool and arguments."""
    try:
        text = files.read(path, "calls file").decode()
    except UnicodeDecodeError:
        raise failures.WrongUsage(f"The calls file {path} is not UTF-8.") from None
    if not text.lstrip().startswith("["):
        return [
            _call(line, f"{path} line {number}:")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
    try:
        entries = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise failures.WrongUsage(f"The calls file {path} is not JSON: {exc}.") from None
    calls = []
    for entry in entries:
        tool = (entry.get("tool") or entry.get("name")) if isinstance(entry, dict) else None
        arguments = entry.get("arguments", {}) if isinstance(entry, dict) else None
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise failures.WrongUsage(f'{path}: each entry is {{"tool": "…", "arguments": {{…}}}}.')
        calls.append(Call(tool, arguments))
    return calls
