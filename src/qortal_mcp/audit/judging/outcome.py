"""What a judgement consists of while it is being reached: facts about the server, then the outcome of each check."""

from msgspec import Struct

from ..evidence import Gap
from .finding import Finding


class Facts(Struct, frozen=True, kw_only=True):
    """What is known before any check has run."""

    server: str = ""
    revisions: tuple[str, ...] = ()
    tools: int = 0
    tools_called: int = 0
    # In some revision.
    tools_succeeded: int = 0
    tools_tokens: int = 0
    # Ready-made options for tools that were not called.
    calls_to_try: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True):
    """What one check has found."""

    code: str
    findings: tuple[Finding, ...] = ()
    # Including those that are not among the findings.
    places: int = 0
    # A demand of the specification is not met, and no baseline accepts that.
    is_broken: bool = False
    # None: it was judged.
    not_judged: str | None = None
    # It should have been judged: without it no server can be said to conform.
    is_gap: bool = False


class Watch:
    """Sees how a judgement proceeds. This one ignores it."""

    def looking(self, code: str, label: str) -> None:
        """A check begins to look at something."""

    def learned(self, facts: Facts) -> None:
        """The facts are there."""

    def judged(self, outcome: Outcome) -> None:
        """A check has ended."""
