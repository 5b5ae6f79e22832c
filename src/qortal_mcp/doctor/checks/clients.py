"""What can be wrong with the clients that are set up."""

import shlex
from collections.abc import Iterator, Sequence

from ...audit.secrets import without_secrets
from ...connect.client import SERVER_NAME
from ...connect.configured import Configured, arguments_of, is_our_command
from ...connect.installing import install_words, is_entry_name
from ...connect.trying import SERVING
from ..check import Finding, check, good, problem, unknown, warning
from ..looks.clients import AddressFacts, ClientsFacts, EntryFacts


@check("client-files", "files", ClientsFacts, "Can the settings files of clients be read?")
def files(facts: ClientsFacts) -> Iterator[Finding]:
    for file in facts.broken:
        if file.client.form == "yaml":
            # Not everything that YAML allows is understood here; the client may well read it.
            yield warning(file.problem, f"Look at it yourself, or set up {file.client.title} by hand.")
        else:
            yield problem(file.problem, f"Correct it: {file.client.title} cannot use its servers.")


@check(
    "client-unread", "not read", ClientsFacts, "Does a server stand in a file that its client does not read?"
)
def not_read(facts: ClientsFacts) -> Iterator[Finding]:
    for file in facts.unread:
        yield warning(
            f"{file.client.title} does not read {file.path}.",
            f"Run qortal-mcp install {file.client.name}, which writes where it reads.",
        )


@check("client-entry", "set up", ClientsFacts, "Does what a client would start or ask answer?")
def entries(facts: ClientsFacts) -> Iterator[Finding]:
    found = [_judged(one) for one in facts.entries]
    found += [finding for one in facts.addresses if (finding := _at_address(one)) is not None]
    yield from found
    if facts.left_out:
        yield unknown(f"{facts.left_out} more entries were not tried.", "Remove those that nobody needs.")
    if not found:
        yield good(f"none of the {facts.known} known clients; qortal-mcp install CLIENT sets one up")


def _judged(one: EntryFacts) -> Finding:
    entry, outcome = one.entry, one.outcome
    what = _named(entry)
    if entry.is_off:
        return good(f"{what} switched off")
    if outcome.works:
        return good(f"{what} answers, with {outcome.tools} tools")
    if outcome.was_tried or _serves_nobody(entry):
        return problem(f"{what} {outcome.says}", _again(entry, is_missing=outcome.is_missing))
    return unknown(f"{what} {outcome.says}", f"Look at {entry.file}, then start it by hand.")


def _at_address(one: AddressFacts) -> Finding | None:
    """None for a server of others."""
    what = _named(one.entry)
    if one.occupant is not None and one.occupant.is_ours:
        return good(f"{what} qortal-mcp serve answers at {one.address}")
    if one.occupant is None and one.entry.name == SERVER_NAME:
        return problem(
            f"{what} Nothing answers at {one.address}.", f"Start qortal-mcp serve. Or: {_again(one.entry)}"
        )
    return None


def _named(entry: Configured) -> str:
    return f"{entry.client.title}, {entry.name}:"


def _again(entry: Configured, *, is_missing: bool = False) -> str:
    """A command that is not refused and puts the entry right; otherwise where to correct it.

    `is_missing`: the program is not there, so that what it is told may be right.
    """
    told = arguments_of(entry.command) if is_our_command(entry.command) else ()
    inner = ("--", *told) if is_missing and not _serves_nobody(entry) and told != ("stdio",) else ()
    # What the file of a project says may come from anybody, and is not offered for running.
    can_repeat = not inner or (entry.level == "user" and without_secrets(inner) == inner)
    is_reached = entry.key == entry.client.key and is_entry_name(entry.name)
    if not is_reached or not can_repeat or (not inner and _serves_another(told)):
        return f"Correct {entry.file}."
    words = (*install_words(entry.client, entry.name, entry.level), "--replace", *inner)
    return f"Run {shlex.join(words)}, or correct {entry.file}."


def _serves_another(told: Sequence[str]) -> bool:
    """Whether it is not the Qortal server that clients get from it."""
    return told[:1] == ("bridge",) or any(".py" in word for word in told)


def _serves_nobody(entry: Configured) -> bool:
    """It runs another command of this program."""
    return is_our_command(entry.command) and not set(arguments_of(entry.command)[:1]) & set(SERVING)
