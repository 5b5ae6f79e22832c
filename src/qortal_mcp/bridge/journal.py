"""What was repaired: counted each time, logged once for each tool and code.

What nobody can be given, such as a reply that belongs to no request, is dropped even where its repair is switched off.
Then it is logged as dropped, and is not a repair.
"""

import logging
from collections.abc import Callable, Iterable, Set

from ..metrics import Metrics, names
from ..repairs.repair import ABSENT, Change
from ..text import printable, shortened

log = logging.getLogger(__name__)

_SHOWN_CHARS = 100


class Journal:
    """Keeps count of repairs for one bridge."""

    def __init__(self, metrics: Metrics, most: int, codes: Set[str]) -> None:
        """`codes` are those of the repairs that are switched on."""
        self._metrics = metrics
        self._codes = codes
        self._most = most
        self._logged: set[tuple[str, str]] = set()
        # Sees every change, for whoever wants to list them. A repair that changes no value is one without places.
        self.on_change: Callable[[Change, str], None] | None = None

    def repaired(self, changes: Iterable[Change], tool: str = "") -> None:
        """These changes were made to one message."""
        changes = tuple(changes)
        if self.on_change is not None:
            for change in changes:
                if change.code in self._codes:
                    self.on_change(change, tool)
        for code in dict.fromkeys(change.code for change in changes):
            self._count(code, tool)

    def count(self, code: str, tool: str = "", detail: str = "") -> None:
        """A repair was made that changes no message: how the server is spoken to, or what is overlooked."""
        if self.on_change is not None and code in self._codes:
            self.on_change(Change(code=code, before=detail or ABSENT), tool)
        self._count(code, tool, detail)

    def warn(self, message: str, name: str) -> None:
        """Log something that is probably a mistake, the first time."""
        if (message, name) not in self._logged:
            self._logged.add((message, name))
            log.warning("%s: %s", message, shortened(printable(name), _SHOWN_CHARS))

    def _count(self, code: str, tool: str, detail: str = "") -> None:
        is_repair = code in self._codes
        if is_repair:
            self._metrics.count(names.BRIDGE_REPAIRS, code)
        if (tool, code) in self._logged or len(self._logged) >= self._most:
            return
        self._logged.add((tool, code))
        about = {"qortal_mcp.code": code}
        if tool:
            about["qortal_mcp.tool"] = shortened(printable(tool), _SHOWN_CHARS)
        if detail:
            about["qortal_mcp.detail"] = shortened(printable(detail), _SHOWN_CHARS)
        log.info("repaired" if is_repair else "dropped", extra=about)
