"""What measured clients do with a defect: `audit --clients CODE`."""

from ..checks import BY_CODE, CHECKS
from ..judging.clients import Behaviour, Outcome, behaviours, clients, impact, measured_on
from .impacts import OUTCOME_WORDS


def render(code: str) -> str:
    """Each measured form of a defect, and what every client did with it."""
    found = behaviours(code)
    head = f"{code}  {BY_CODE[code].title}"
    if not found:
        return f"{head}\n\nThis was not measured with real clients."
    lines = [head, "", f"Measured on {measured_on()} with a server that does this and nothing else wrong."]
    for one in found:
        lines += ["", _title(one), *_outcomes(one)]
    return "\n".join(lines)


def _title(one: Behaviour) -> str:
    form = one.form[:1].upper() + one.form[1:] if one.form else "In the only form that was measured"
    return f"{form}{' (2026-07-28)' if one.is_modern else ''}:"


def _outcomes(one: Behaviour) -> list[str]:
    lines = []
    known = clients(modes=True)
    groups: list[tuple[Outcome | None, str]] = [*OUTCOME_WORDS.items(), (None, "not affected")]
    for outcome, words in groups:
        keys = [key for key, found in one.outcomes.items() if found == outcome and key in known]
        if keys:
            names = ", ".join(f"{known[key].name} {known[key].version}" for key in keys)
            lines.append(f"    {words}: {names}")
            lines += [f"        {known[key].name}, seen: {one.seen[key]}" for key in keys if key in one.seen]
    return lines


def render_all() -> str:
    """Every code that was measured, with how many clients break on it in some form."""
    measured = {one.code for one in behaviours()}
    count = len(clients())
    longest = max(map(len, measured))
    lines = [
        f"Measured on {measured_on()} with {count} clients; --clients CODE says what each of them does.",
        "",
    ]
    for check in CHECKS:
        if check.code in measured:
            names = [one.client for one in impact(check.code)]
            who = ", ".join(names) if len(names) < _MANY else f"{len(names)} clients"
            lines.append(f"{check.code:<{longest}}  {who or 'nobody breaks'}")
    return "\n".join(lines)


# More are not worth naming in a list.
_MANY = 5
