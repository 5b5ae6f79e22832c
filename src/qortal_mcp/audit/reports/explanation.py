"""What a code means: `audit --explain CODE`."""

from ..checks import BY_CODE, CHECKS
from ..judging.clients import impact, measured_codes, measured_on
from .impacts import by_outcome


def render(code: str) -> str:
    """Everything that is known about a check."""
    check = BY_CODE[code]
    lines = [
        f"{check.code}  {check.title}",
        "",
        f"severity   {check.severity}, unless a finding says otherwise",
        f"expected   {check.expected}",
        *([f"clause     {check.clause}"] if check.clause else []),
        *([f"revisions  {', '.join(sorted(check.revisions))}"] if check.revisions else []),
        f"mend       {check.fix}",
    ]
    cases = measured_codes().get(code, [])
    if not cases:
        return "\n".join([*lines, "", "It was not measured with real clients."])
    lines += ["", f"What real clients did, measured on {measured_on()}:"]
    for case in cases:
        lines.append(f"    {case}")
        rows = by_outcome(impact(code, case))
        if not rows:
            lines.append("        all of them got by")
        lines += [f"        {', '.join(one.client for one in mine)}: {words}" for words, mine in rows]
    return "\n".join(lines)


def render_all() -> str:
    """Every code with its title."""
    longest = max(len(check.code) for check in CHECKS)
    return "\n".join(f"{check.severity:<11}  {check.code:<{longest}}  {check.title}" for check in CHECKS)
