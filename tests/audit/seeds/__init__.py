"""Three servers that came before, as captures: `qortal-mcp audit tests/audit/seeds/incumbent-now.jsonl`."""

from pathlib import Path

from . import incumbent, maxmcp, workshop

SYSTEMS = {one.name: one for one in (*incumbent.SYSTEMS, *maxmcp.SYSTEMS, *workshop.SYSTEMS)}
FOLDER = Path(__file__).parent


def file_of(name: str) -> Path:
    """The capture of a system, as `audit --capture` would have written it."""
    return FOLDER / f"{name}.jsonl"
