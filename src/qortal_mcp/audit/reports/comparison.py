"""Two reports of one server, before and after: what got better, what got worse."""

from msgspec import Struct

from ..check import MUST, SEVERITIES, SHOULD
from ..finding import Finding, Report


class Comparison(Struct, frozen=True, kw_only=True, rename="camel"):
    """Findings by code and place; a place that both have is not told."""

    old_verdict: str
    new_verdict: str
    mended: tuple[Finding, ...]
    worse: tuple[Finding, ...]
    left: int

    @property
    def is_worse(self) -> bool:
        return any(one.severity in (MUST, SHOULD) for one in self.worse)


def compare(old: Report, new: Report) -> Comparison:
    """Known findings count like others: they are there or they are not."""
    before = {(one.code, one.where): one for one in old.findings}
    after = {(one.code, one.where): one for one in new.findings}
    worse = [
        one
        for key, one in after.items()
        if key not in before or SEVERITIES.index(one.severity) < SEVERITIES.index(before[key].severity)
    ]
    return Comparison(
        old_verdict=old.verdict,
        new_verdict=new.verdict,
        mended=tuple(one for key, one in before.items() if key not in after),
        worse=tuple(worse),
        left=len(before.keys() & after.keys() - {(one.code, one.where) for one in worse}),
    )


_PLACES = 3


def render(comparison: Comparison) -> str:
    """For people: each code once, with some of its places."""
    lines = [f"{comparison.old_verdict} -> {comparison.new_verdict}"]
    for title, findings in (("Mended", comparison.mended), ("Worse", comparison.worse)):
        lines += ["", f"{title}: {len(findings)}"]
        places: dict[tuple[str, str], list[str]] = {}
        for one in findings:
            places.setdefault((one.severity, one.code), []).append(one.where)
        for (severity, code), where in places.items():
            more = f" and {len(where) - _PLACES} more places" if len(where) > _PLACES else ""
            lines.append(f"    {severity}  {code}  {', '.join(where[:_PLACES])}{more}")
    return "\n".join([*lines, "", f"Left as it was: {comparison.left}"])
