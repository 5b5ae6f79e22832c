"""What `ask --eval` shows: one line for each question, and the sum of them."""

from collections.abc import Sequence

from ...agent.evaluation import Verdict
from ...text import shortened, visible
from .view import Palette


def line(number: int, verdict: Verdict, palette: Palette) -> str:
    """A question as soon as it is answered."""
    mark = "ok  " if verdict.is_right else "FAIL"
    found = verdict.facts - len(verdict.missing)
    figures = (
        f"{found}/{verdict.facts} facts, {len(verdict.not_from_a_tool)} not from a tool, "
        f"{verdict.tokens:,} tokens, {verdict.ms / 1000:.1f} s"
    )
    shown = shortened(visible(" ".join(verdict.question.split())), 70)
    lines = [
        f"{mark} {number:>3}  {shown}",
        palette.quiet(f"          {figures}; {', '.join(verdict.tools) or 'no calls'}"),
    ]
    lines += [f"          missing: {visible(fact)}" for fact in verdict.missing]
    lines += [f"          not from a tool: {visible(text)}" for text in verdict.not_from_a_tool]
    if verdict.problem:
        lines.append(f"          {visible(verdict.problem)}")
    return "\n".join(lines)


def total(verdicts: Sequence[Verdict], model: str) -> str:
    right = sum(verdict.is_right for verdict in verdicts)
    facts = sum(verdict.facts for verdict in verdicts)
    missing = sum(len(verdict.missing) for verdict in verdicts)
    strange = sum(len(verdict.not_from_a_tool) for verdict in verdicts)
    tokens = sum(verdict.tokens for verdict in verdicts)
    seconds = sum(verdict.ms for verdict in verdicts) / 1000
    return (
        f"{visible(model)}: {right} of {len(verdicts)} questions right, {facts - missing} of {facts} facts, "
        f"{strange} values not from a tool, {tokens:,} tokens, {seconds:.1f} s"
    )
