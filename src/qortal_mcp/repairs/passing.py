"""What only who passes messages on can put right (`bridge/`). Here is only which, and at which level."""

from typing import Any

from .repair import SAFE, Repair


class Passing:
    """Stands for the conversation as a whole."""


def _done(code: str, title: str, makes: str) -> Repair[Passing]:
    return Repair(code=code, level=SAFE, about=Passing, apply=None, title=title, makes=makes)


old_name = _done(
    "method-old-name",
    "The server knows list_tools and call_tool instead of tools/list and tools/call",
    "The old names are used from then on.",
)
progress_unknown = _done(
    "progress-token-unknown",
    "Progress for a token that belongs to no open call",
    "It is dropped.",
)

PASSING: tuple[Repair[Any], ...] = (old_name, progress_unknown)
