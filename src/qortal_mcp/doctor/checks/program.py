"""What can be wrong with the program itself."""

from collections.abc import Iterator

from ..check import Finding, check, good, problem, warning
from ..looks.program import ProgramFacts

OLDEST_PYTHON = (3, 11)


@check("python", "Python", ProgramFacts, "Is the interpreter new enough?")
def python(facts: ProgramFacts) -> Iterator[Finding]:
    have = f"{'.'.join(map(str, facts.python))} at {facts.interpreter or 'an unknown place'}"
    if facts.python[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield problem(f"{have} is too old.", f"Install qortal-mcp with Python {wanted} or later.")
    else:
        yield good(have)


@check("version", "qortal-mcp", ProgramFacts, "Which program is this, and does a shell start the same one?")
def version(facts: ProgramFacts) -> Iterator[Finding]:
    command = " ".join(facts.command)
    yield good(f"{facts.version} at {command}")
    if facts.other_on_path is not None:
        yield warning(
            f"A shell starts another one: {facts.other_on_path}.",
            f"Uninstall one of them, or write this one in full: {command}",
        )
