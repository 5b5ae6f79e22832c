"""What came of all checks: sections with rows, and one outcome."""

from typing import Literal

from msgspec import Struct

from .check import Finding, State


class Row(Struct, frozen=True):
    """One finding under the name of its check."""

    check: str
    title: str
    finding: Finding


class Section(Struct, frozen=True):
    """What was found out about one thing: a node, a client."""

    title: str
    rows: tuple[Row, ...]


class Report(Struct, frozen=True):
    sections: tuple[Section, ...]

    @property
    def rows(self) -> list[Row]:
        return [row for section in self.sections for row in section.rows]

    def count(self, state: State) -> int:
        return sum(row.finding.state == state for row in self.rows)

    @property
    def outcome(self) -> Literal["good", "problem", "unknown"]:
        """Warnings do not count: everything works as it is."""
        if self.count("problem"):
            return "problem"
        return "unknown" if self.count("unknown") else "good"
