"""The file in which a client keeps its servers: read whole, or refused with the place of the mistake."""

import os
import stat
import tomllib
from typing import Any

from . import relaxed_json

# Claude, Cursor, Gemini, Copilot and others; VS Code; Codex.
_KEYS = ("mcpServers", "servers", "mcp_servers")
# Such a file has a few kilobytes; Claude Code keeps its whole state in one.
_LARGEST_BYTES = 16 * 1024 * 1024


class BrokenFile(Exception):
    """The file cannot be used. The text is a sentence."""


def read(path: str) -> dict[str, Any]:
    """The entries of a file by name, as they are written.

    Raises: BrokenFile.
    """
    try:
        # A pipe in its place would be waited for; nobody writes servers into one.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BrokenFile(f"Cannot read the file of servers {path}: it is not a file.")
            data = file.read(_LARGEST_BYTES + 1)
    except OSError as exc:
        raise BrokenFile(f"Cannot read the file of servers {path}: {exc.strerror}.") from None
    if len(data) > _LARGEST_BYTES:
        raise BrokenFile(f"The file of servers {path} is larger than {_LARGEST_BYTES // 2**20} MiB.")
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


def stamp(path: str) -> tuple[int, int, int] | None:
    """What changes when the file does; None if it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
