"""The file in which a client keeps its servers: read whole, or refused with the place of the mistake."""

import tomllib
from typing import Any

from ..settings_files import reading, relaxed_json
from ..settings_files.reading import BrokenFile

# Claude, Cursor, Gemini, Copilot and others; VS Code; Codex.
_KEYS = ("mcpServers", "servers", "mcp_servers")


def read(path: str) -> dict[str, Any]:
    """The entries of a file by name, as they are written.

    Raises: BrokenFile.
    """
    try:
        data = reading.read(path, "file of servers").data
    except FileNotFoundError as exc:
        raise BrokenFile(f"Cannot read the file of servers {path}: {exc.strerror}.") from None
    found = _parsed(path, data)
    lists = [found[key] for key in _KEYS if key in found] if isinstance(found, dict) else []
    if not lists:
        raise BrokenFile(f"The file {path} names no servers: it has none of {', '.join(_KEYS)}.")
    entries: dict[str, Any] = {}
    for listed in lists:
        if not isinstance(listed, dict):
            raise BrokenFile(f"The servers in the file {path} are not an object with a member for each.")
        for name, entry in listed.items():
            entries.setdefault(name, entry)
    return entries


def _parsed(path: str, data: bytes) -> Any:
    try:
        if path.lower().endswith(".toml"):
            return tomllib.loads(data.decode())
        return relaxed_json.read(data)
    except UnicodeDecodeError:
        raise BrokenFile(f"The file {path} is not valid: it is not UTF-8.") from None
    except (
        relaxed_json.NotJson,
        ValueError,
        RecursionError,
    ) as exc:  # TOML refuses long numbers with a plain ValueError
        raise BrokenFile(f"The file {path} is not valid: {exc or 'it is nested too deeply'}.") from None
