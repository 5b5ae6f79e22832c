"""What can be wrong with the address, the token and the names for `serve`."""

import errno
from collections.abc import Iterator

from ... import __version__
from ..check import Finding, check, good, problem, warning
from ..looks.occupant import Occupant
from ..looks.server import ServerFacts

_CHOOSE = "choose another port with --listen HOST:PORT"


@check("server-port", "port", ServerFacts, "Can `serve` listen there, and if not, what does?")
def port(facts: ServerFacts) -> Iterator[Finding]:
    refusal = facts.refusal
    if facts.address is None:
        yield problem(
            f"The host {facts.host} cannot be resolved.",
            "Correct --listen: 127.0.0.1 serves this machine alone, 0.0.0.0 everybody.",
        )
    elif facts.occupant is not None and facts.occupant.is_ours:
        yield _own_server(facts.occupant)
    elif facts.occupant is not None or (refusal is not None and refusal.errno == errno.EADDRINUSE):
        yield _busy(facts)
    elif refusal is not None:
        yield problem(
            f"It cannot be listened on: {refusal.strerror or refusal}.",
            "Use an address of this machine and a port above 1023: --listen HOST:PORT.",
        )
    else:
        yield good("free" if facts.port else "any free one")


def _own_server(occupant: Occupant) -> Finding:
    if not occupant.version:
        return good("qortal-mcp serve runs there already, with a token")
    if occupant.version == __version__:
        return good("qortal-mcp serve runs there already")
    return warning(
        f"qortal-mcp serve runs there already, with version {occupant.version}; this one is {__version__}.",
        "Restart it with this version.",
    )


def _busy(facts: ServerFacts) -> Finding:
    who = "another program" if facts.occupant is None else facts.occupant.what
    says = f"In use: {who} listens there."
    if facts.is_default:
        # Clients that start the program themselves need no port.
        return warning(says, f"Before you use serve, stop that program or {_CHOOSE}.")
    return problem(says, f"Stop that program or {_CHOOSE}.")


@check("server-options", "options", ServerFacts, "Would `serve` start with these options?")
def options(facts: ServerFacts) -> Iterator[Finding]:
    for sentence in facts.refused_options:
        yield problem(sentence, "Change the options of serve: it refuses to start with these.")


@check("server-token", "token", ServerFacts, "Can the token be read, by nobody else, and is it long enough?")
def token(facts: ServerFacts) -> Iterator[Finding]:
    found = facts.token
    if found.refusal:
        yield problem(
            found.refusal,
            "Give a file that only you can read, with one word of 16 characters or more: openssl rand -hex 16 makes one.",
        )
    elif found.is_open:
        yield warning(
            f"Other users of this machine can read {found.file}.",
            f"Take it from them: chmod 600 {found.file}",
        )
    elif found.source:
        yield good(f"from {found.source}")
    elif facts.is_on_loopback:
        yield good("none, and none is needed on loopback")
    elif not facts.refused_options:
        yield warning(
            "Everybody who reaches this address can use the server: --without-token is set.",
            "Give a token with --token-file FILE, unless a firewall or proxy keeps others out.",
        )


@check("server-host-names", "host names", ServerFacts, "Do clients get in by the name that they use?")
def host_names(facts: ServerFacts) -> Iterator[Finding]:
    if facts.is_on_loopback or facts.allowed_hosts:
        yield good(", ".join(("localhost", *facts.allowed_hosts)))
    else:
        yield warning(
            "Clients are refused unless they use the name localhost.",
            "Allow the name that they use with --allow-host NAME[:PORT].",
        )
