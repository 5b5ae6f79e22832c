"""Two reports of one server, before and after: what got better, what got worse."""

from msgspec import Struct

from ..judging.check import MUST, SEVERITIES, SHOULD
from ..judging.finding import Finding, Report


class Comparison(Struct, frozen=True, kw_only=True, rename="camel"):
    """Findings by code and place; what both reports have is only counted."""

    old_verdict: str
    new_verdict: str
    fixed: tuple[Finding, ...]
    worse: tuple[Finding, ...]
    # Perhaps there before, but not checked: a crash hid them, or the tool was not called.
    uncovered: tuple[Finding, ...]
    # Perhaps gone, but not checked this time.
    unseen: tuple[Finding, ...]
    left: int

    @property
    def is_worse(self) -> bool:
        return any(one.severity in (MUST, SHOULD) for one in self.worse)


def compare(old: Report, new: Report) -> Comparison:
    """Accepted findings count like others."""
    before = {(one.code, one.where): one for one in old.findings}
    after = {(one.code, one.where): one for one in new.findings}
    fresh = [
        one
        for key, one in after.items()
        if key not in before or SEVERITIES.index(one.severity) < SEVERITIES.index(before[key].severity)
    ]
    unable = {one.code for one in new.not_judged}
    hidden = {one.code for one in old.not_judged}
    uncovered = [one for one in fresh if one.code in hidden]
    worse = [one for one in fresh if one.code not in hidden]
    return Comparison(
        old_verdict=old.verdict,
        new_verdict=new.verdict,
        fixed=tuple(one for key, one in before.items() if key not in after and one.code not in unable),
        unseen=tuple(one for key, one in before.items() if key not in after and one.code in unable),
        worse=tuple(worse),
        uncovered=tuple(uncovered),
        left=len(before.keys() & after.keys() - {(one.code, one.where) for one in fresh}),
    )


_PLACES = 3


def render(comparison: Comparison) -> str:
    """For people: each code once, with some of its places."""
    lines = [f"{comparison.old_verdict} -> {comparison.new_verdict}"]
    groups = [("Fixed", comparison.fixed), ("Worse", comparison.worse)]
    if comparison.uncovered:
        groups.append(("Seen for the first time, not checked before", comparison.uncovered))
    if comparison.unseen:
        groups.append(("No longer checked", comparison.unseen))
    for title, findings in groups:
        lines += ["", f"{title}: {len(findings)}"]
        places: dict[tuple[str, str], list[str]] = {}
        for one in findings:
            places.setdefault((one.severity, one.code), []).append(one.place)
        for (severity, code), named in places.items():
            more = f" and {len(named) - _PLACES} more places" if len(named) > _PLACES else ""
            lines.append(f"    {severity}  {code}  {', '.join(named[:_PLACES])}{more}")
    return "\n".join([*lines, "", f"Unchanged: {comparison.left}"])
