"""Calls to tools that were not called, as options that can be pasted into a command line."""

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ...text import printable
from ..visiting.calls import minimal

_MOST_CALLS = 5
_MOST_CHARS = 500


def calls_to_try(tools: Iterable[Mapping[str, Any]], called: Iterable[str]) -> tuple[str, ...]:
    """One `--call` for each of the first tools that were not called, with the smallest arguments that fit the schema."""
    done = set(called)
    found: list[str] = []
    for tool in tools:
        name = tool.get("name")
        if not isinstance(name, str) or not name or name in done or name != printable(name) or " " in name:
            continue
        arguments = json.dumps(_arguments(tool.get("inputSchema")))
        option = f"--call {shlex.quote(f'{name} {arguments}')}"
        if option == printable(option) and len(option) <= _MOST_CHARS:
            found.append(option)
        if len(found) == _MOST_CALLS:
            break
    return tuple(found)


def _arguments(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {}
    made = minimal(schema)
    if isinstance(made, dict):
        return made
    # What the schema does not determine, a pattern for example, is left to whoever pastes it.
    required, properties = schema.get("required"), schema.get("properties")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    known = properties if isinstance(properties, dict) else {}
    return {name: _one(known.get(name), name) for name in names}


def _one(schema: Any, name: str) -> Any:
    made = minimal(schema) if isinstance(schema, dict) else None
    return f"<{name}>" if made is None else made
