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
    if not tool:
        raise failures.WrongUsage(f"{where} names no tool; write 'TOOL' or 'TOOL {{\"name\": …}}'.")
    return Call(tool, _object(arguments.strip() or "{}", f"{where} {tool}"))


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise failures.WrongUsage(f"The arguments of {where} are no JSON: {exc}.") from None
    if not isinstance(value, dict):
        raise failures.WrongUsage(f"The arguments of {where} must be a JSON object.")
    return value


def _refuse(word: str) -> Any:
    raise ValueError(f"there is no {word}")


def _of_file(path: str) -> list[Call]:
    """One call a line, as after --call; or one JSON array of objects with tool and arguments."""
    try:
        text = files.read(path, "file of calls").decode()
    except UnicodeDecodeError:
        raise failures.WrongUsage(f"The file of calls {path} is no UTF-8.") from None
    if not text.lstrip().startswith("["):
        return [
            _call(line, f"{path} line {number}:")
            for number, line in enumerate(text.splitlines(), 1)
            if line.strip() and not line.lstrip().startswith("#")
        ]
    try:
        entries = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise failures.WrongUsage(f"The file of calls {path} is no JSON: {exc}.") from None
    calls = []
    for entry in entries:
        tool = (entry.get("tool") or entry.get("name")) if isinstance(entry, dict) else None
        arguments = entry.get("arguments", {}) if isinstance(entry, dict) else None
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise failures.WrongUsage(f'{path}: each entry is {{"tool": "…", "arguments": {{…}}}}.')
        calls.append(Call(tool, arguments))
    return calls
