"""The time that built files carry: of the commit, not of the build, so that anybody builds the same bytes again."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

VARIABLE = "SOURCE_DATE_EPOCH"
# The first time that a zip file can hold. For trees without a history, such as an unpacked sdist.
_EARLIEST = 315_532_800


def source_moment(root: Path) -> int:
    """Seconds since 1970: from the variable, or else the commit, or else a constant."""
    if told := os.environ.get(VARIABLE):
        return max(int(told), _EARLIEST)
    if not (root / ".git").exists():
        return _EARLIEST
    asked = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=True
    )
    return int(asked.stdout)


def iso(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def zip_date(moment: int) -> tuple[int, int, int, int, int, int]:
    at = datetime.fromtimestamp(moment, UTC)
    # A zip file counts in steps of two seconds.
    return (at.year, at.month, at.day, at.hour, at.minute, at.second // 2 * 2)
