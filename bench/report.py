"""The table, on the terminal and in docs/performance.md between its markers."""

import platform
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, spread
from bench.processes import CORES, ROOT

PAGE = ROOT / "docs" / "performance.md"
_BEGIN = "<!-- written by scripts/bench --write: begin -->"
_END = "<!-- written by scripts/bench --write: end -->"
_HEADS = ("part", "quantity", "who", "median [min–max]", "× the reference", "least ÷ least", "budget", "")


def cells(figure: Figure) -> tuple[str, ...]:
    """One row of the table."""
    verdict = {True: "met", False: "MISSED", None: ""}[figure.is_met]
    ratio = f"{spread(figure.ratios, 2)}" if figure.ratios else ""
    value = f"{spread(figure.values)} {figure.unit}"
    least = "" if figure.least is None else f"{figure.least:.2f}"
    return figure.part, figure.quantity, figure.subject, value, ratio, least, figure.budget_text, verdict


def terminal_table(figures: Sequence[Figure]) -> str:
    rows = [_HEADS, *map(cells, figures)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEADS))]
    lines, group = [], ("", "")
    for row in rows:
        if row[:2] != group and group != ("", ""):
            lines.append("")
        group = row[0], row[1]
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return "\n".join(lines)


def page_table(figures: Sequence[Figure], *, quick: bool) -> str:
    """The table in Markdown, with when and where it was measured."""
    day = time.strftime("%Y-%m-%d", time.gmtime())
    where = f"{platform.system()} {platform.machine()}, {CORES} cores, CPython {platform.python_version()}"
    lines = [f"Measured {day} on {where}{', a quick run' if quick else ''}.", ""]
    lines += ["| " + " | ".join(_HEADS) + " |", "|" + "---|" * len(_HEADS)]
    lines += ["| " + " | ".join(cells(figure)) + " |" for figure in figures]
    return "\n".join(lines)


def write_page(figures: Sequence[Figure], *, quick: bool, page: Path = PAGE) -> None:
    """Replace what is between the markers and nothing else."""
    before, _, rest = page.read_text().partition(_BEGIN)
    _, end, after = rest.partition(_END)
    assert end, "the page has both markers"
    table = page_table(figures, quick=quick)
    page.write_text(f"{before}{_BEGIN}\n{table}\n{_END}{after}")
