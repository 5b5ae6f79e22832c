"""null in place of a member that should be left out."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..schemas import paths
from .repair import Change


def dropped(holder: Any, names: Iterable[str], place: str = "") -> Iterator[Change]:
    """Leaves out the members of these names that are null."""
    for name in names if isinstance(holder, dict) else ():
        if name in holder and holder[name] is None:
            del holder[name]
            yield Change(path=paths.within(place, name) if place else name, before=None)
