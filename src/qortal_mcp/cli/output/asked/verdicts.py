"""What `ask --eval` shows: one line for each question, and the sum of them."""

from collections.abc import Sequence

from ....agent.evaluation import Verdict
from ....agent.words import counted
from ....text import shortened
from .. import terminal
from ..view import Palette

_INDENT = " " * 10
_LONGEST_TEXT = 300


def lines(number: int, verdict: Verdict, palette: Palette) -> str:
    """A question as soon as it is answered."""
    mark = "ok  " if verdict.is_right else "FAIL"
    found = verdict.facts - len(verdict.missing)
    figures = (
        f"{found}/{verdict.facts} facts, {len(verdict.not_from_a_tool)} not from a tool, "
        f"{verdict.tokens:,} tokens, {verdict.ms / 1000:.1f} s; {', '.join(verdict.tools) or 'no calls'}"
    )
    question = terminal.cut(terminal.one_line(verdict.question), terminal.width() - len(_INDENT))
    shown = [f"{mark} {number:>3}  {question}", *map(palette.quiet, _indented(figures))]
    for fact in verdict.missing:
        shown += _indented(f"missing: {fact}")
    for text in verdict.not_from_a_tool:
        shown += _indented(f"not from a tool: {text}")
    shown += _indented(verdict.problem)
    return "\n".join(shown)


def _indented(text: str) -> list[str]:
    shown = shortened(terminal.one_line(text), _LONGEST_TEXT)
    return [_INDENT + line for line in terminal.wrapped(shown, terminal.width() - len(_INDENT)) if line]


def total(verdicts: Sequence[Verdict], asked: int, model: str) -> str:
    """All of them together; `asked`: how many questions the file has."""
    right = sum(verdict.is_right for verdict in verdicts)
    facts = sum(verdict.facts for verdict in verdicts)
    missing = sum(len(verdict.missing) for verdict in verdicts)
    strange = sum(len(verdict.not_from_a_tool) for verdict in verdicts)
    tokens = sum(verdict.tokens for verdict in verdicts)
    seconds = sum(verdict.ms for verdict in verdicts) / 1000
    not_asked = f" ({asked - len(verdicts)} more were not asked)" if asked > len(verdicts) else ""
    text = (
        f"{terminal.one_line(model)}: {right} of {len(verdicts)} questions right{not_asked}, {facts - missing} of {facts} facts, "
        f"{counted(strange, 'value')} not from a tool, {tokens:,} tokens, {seconds:.1f} s"
    )
    return "\n".join(terminal.wrapped(text, terminal.width()))
