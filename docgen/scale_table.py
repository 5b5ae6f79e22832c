"""The table of docs/scale.md: what so many users need, as `scripts/simulate` computes it."""

from bench.scale import HEAD, Assumed, cells, rows

from .markdown import table

_USERS = (1_000, 10_000, 100_000, 1_000_000)


def scale_table() -> str:
    return table(HEAD, [cells(row) for row in rows(Assumed(), _USERS)])
