"""What a code means: `audit --explain CODE`. Codes of an audit, and those that only the repairs of a bridge have."""

from ...repairs.chosen import REPAIRS
from ..checks import BY_CODE, CHECKS
from ..judging.clients import impact, measured_codes, measured_on
from .impacts import by_outcome
from .sentences import sentence

# In the order of the checks, then of the repairs.
CODES = tuple(dict.fromkeys([*BY_CODE, *(one.code for one in REPAIRS)]))


def render(code: str) -> str:
    """What a check expects, how to fix it, what a bridge does about it, and which clients break."""
    lines = [*(_check(code) if code in BY_CODE else _title(code)), *_repairs(code)]
    cases = measured_codes().get(code, [])
    if not cases:
        return "\n".join([*lines, "", "This was not measured with real clients."])
    forms = "one form" if len(cases) == 1 else f"{len(cases)} forms"
    lines += ["", f"What real clients did with {forms} of this defect, measured on {measured_on()}:"]
    rows = by_outcome(one for case in cases for one in impact(code, case))
    if not rows:
        lines.append("    none of them was affected")
    for words, mine in rows:
        lines.append(f"    {', '.join(dict.fromkeys(one.client for one in mine))}: {words}")
    return "\n".join(lines)


def _check(code: str) -> list[str]:
    check = BY_CODE[code]
    return [
        f"{check.code}  {check.title}",
        "",
        f"severity   {check.severity}, unless a finding says otherwise",
        f"expected   {check.expected}",
        *([f"clause     {check.clause}"] if check.clause else []),
        *([f"revisions  {', '.join(sorted(check.revisions))}"] if check.revisions else []),
        f"fix        {check.fix}",
        *([f"departs    {check.departs}"] if check.departs else []),
    ]


def _title(code: str) -> list[str]:
    """Of a code that no check has: what is recognised, in each place where it is repaired."""
    titles = [one.title for one in REPAIRS if one.code == code]
    return [
        f"{code}  {'; '.join(dict.fromkeys(titles))}",
        "",
        "An audit does not look for this; a bridge repairs it.",
    ]


def _repairs(code: str) -> list[str]:
    made = [f"bridge     at {one.level}: {sentence(one.makes)}" for one in REPAIRS if one.code == code]
    return list(dict.fromkeys(made))


def render_all() -> str:
    """Every code with its title."""
    longest = max(map(len, CODES))
    rows = [(check.severity, check.code, check.title) for check in CHECKS]
    others = {one.code: one.title for one in REPAIRS if one.code not in BY_CODE}
    return "\n".join(
        f"{kind:<11}  {code:<{longest}}  {title}"
        for kind, code, title in [*rows, *(("repair", *one) for one in others.items())]
    )
