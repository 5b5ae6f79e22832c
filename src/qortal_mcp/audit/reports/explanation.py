"""What a code means: `audit --explain CODE`."""

from ..checks import BY_CODE, CHECKS
from ..judging.clients import impact, measured_codes, measured_on
from .impacts import by_outcome


def render(code: str) -> str:
    """What a check expects, how to fix it, and which clients break."""
    check = BY_CODE[code]
    lines = [
        f"{check.code}  {check.title}",
        "",
        f"severity   {check.severity}, unless a finding says otherwise",
        f"expected   {check.expected}",
        *([f"clause     {check.clause}"] if check.clause else []),
        *([f"revisions  {', '.join(sorted(check.revisions))}"] if check.revisions else []),
        f"fix        {check.fix}",
        *([f"departs    {check.departs}"] if check.departs else []),
    ]
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


def render_all() -> str:
    """Every code with its title."""
    longest = max(len(check.code) for check in CHECKS)
    return "\n".join(f"{check.severity:<11}  {check.code:<{longest}}  {check.title}" for check in CHECKS)
