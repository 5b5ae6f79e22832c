"""One run of the bench: how many rounds, who takes part, and how progress is reported."""

import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from bench.contestants import Contestants

_Name = TypeVar("_Name")


@dataclass(frozen=True)
class Run:
    contestants: Contestants
    quick: bool
    started: float = field(default_factory=time.monotonic)

    @property
    def rounds(self) -> int:
        return 5 if self.quick else 15

    def scaled(self, number: int) -> int:
        """A number of requests or starts, fewer in a quick run."""
        return max(1, number // 3) if self.quick else number

    def turns(self, subjects: Sequence[_Name], rounds: int | None = None) -> Iterator[tuple[int, _Name]]:
        """Every subject once per round, each round in a different order: a disturbance affects all of them."""
        for number in range(1, (rounds or self.rounds) + 1):
            order = list(subjects)
            random.Random(number).shuffle(order)
            for subject in order:
                yield number, subject

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.started:5.0f} s] {text}", file=sys.stderr, flush=True)


def by_name(names: Iterable[str]) -> dict[str, list[float]]:
    return {name: [] for name in names}
