"""The remarks that the conformance suite may make about the real server and through the bridge: read from `remarks.toml`, which says why."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Allowed:
    """An expected remark. `says` is part of the suite's message, so that only the known reason is accepted."""

    # As in the file and in what a run prints: "scenario / check".
    place: str
    says: str
    reason: str


def allowed(suite: str) -> tuple[Allowed, ...]:
    """The remarks that are allowed in a suite: that of the real server is named by its revision."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8")).get(suite, {})
    return tuple(
        Allowed(place, says, reason) for reason, places in rows.items() for place, says in places.items()
    )


_FILE = Path(__file__).with_suffix(".toml")
