"""What was measured: a value for every round, ratios round by round, and the budget it is checked against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal


@dataclass(frozen=True)
class Budget:
    """The most a figure may be, or the least, as a ratio to the reference or in its own unit."""

    limit: float
    of: Literal["ratio", "value"] = "ratio"
    is_least: bool = False


@dataclass(frozen=True)
class Figure:
    """One quantity of one subject."""

    part: str
    quantity: str
    subject: str
    unit: str
    values: tuple[float, ...]
    ratios: tuple[float, ...] = ()
    budget: Budget | None = None

    # Our minimum divided by the reference's minimum: the ratio on an undisturbed machine.
    least: float | None = None

    @property
    def is_met(self) -> bool | None:
        """None if there is no budget."""
        if self.budget is None:
            return None
        judged = self.ratios if self.budget.of == "ratio" else self.values
        limit = self.budget.limit
        return median(judged) >= limit if self.budget.is_least else median(judged) <= limit

    @property
    def budget_text(self) -> str:
        if self.budget is None:
            return ""
        unit = "×" if self.budget.of == "ratio" else self.unit
        return f"{'≥' if self.budget.is_least else '≤'} {self.budget.limit:g} {unit}"


def compare(
    part: str,
    quantity: str,
    unit: str,
    values: Mapping[str, Sequence[float]],
    *,
    reference: str,
    budgets: Mapping[str, Budget] | None = None,
) -> list[Figure]:
    """Figures of several subjects that took turns; ratios are taken within a round, under the same conditions."""
    base = values[reference]
    return [
        Figure(
            part,
            quantity,
            subject,
            unit,
            tuple(found),
            () if subject == reference else tuple(x / y for x, y in zip(found, base, strict=True)),
            (budgets or {}).get(subject),
            None if subject == reference or unit == "/s" else min(found) / min(base),
        )
        for subject, found in values.items()
    ]


def spread(values: Sequence[float], digits: int | None = None) -> str:
    """`median [min–max]`."""
    if not values:
        return ""
    places = digits if digits is not None else _places(max(values))
    middle = f"{median(values):,.{places}f}"
    if len(values) == 1:
        return middle
    return f"{middle} [{min(values):,.{places}f}–{max(values):,.{places}f}]"


def _places(largest: float) -> int:
    return 0 if largest >= 100 else 1 if largest >= 10 else 2
