"""What a command says, and with which exit code it ends, when a request was answered with an error."""

import click

from ....protocol import errors
from ....protocol.errors import ErrorObject
from ....text import shortened, visible
from .. import failures
from .chosen import Chosen, OtherServer

# Where the bridge marks its own words for a server that did not answer.
ERROR_KEY = "qortal-mcp/error"
# The codes of failed tools that leave the question open: another try, or another node, may answer it.
OPEN_CODES = frozenset(
    {
        "NODE_UNREACHABLE",
        "NODE_TIMEOUT",
        "NODE_SYNCING",
        "NODE_REFUSED",
        "RATE_LIMITED",
        "TIMEOUT",
        "SERVER_UNREACHABLE",
        "SERVER_TIMEOUT",
        "SERVER_REFUSED",
        "SERVER_ERROR",
        "CONNECTION_LOST",
    }
)
# What our own server says of an address that it does not have; of one that leads nowhere it says why.
_NO_RESOURCE = "Resource not found"
# Longer messages have been seen to hold whole pages.
_SHOWN_CHARS = 2000


def refused(chosen: Chosen, error: ErrorObject) -> click.ClickException:
    """The failure of a command whose request was answered with this error."""
    if isinstance(chosen, OtherServer):
        return _by_other(chosen, error)
    words = visible(error.message)
    if error.code == errors.INTERNAL_ERROR:
        return failures.Undetermined(words)
    uri = error.data.get("uri") if isinstance(error.data, dict) else None
    if uri is None:
        return failures.WrongUsage(words)
    if error.message == _NO_RESOURCE:
        return failures.NoSuchTool(f"Unknown resource {visible(str(uri))}. See qortal-mcp read.")
    return failures.Bad(words)


def _by_other(chosen: OtherServer, error: ErrorObject) -> click.ClickException:
    words = chosen.way.mask(error.message)
    if is_no_answer(error):
        return unanswered(words, _reason(error))
    return failures.Bad(
        f"The server answered with error {error.code}: {shortened(visible(words), _SHOWN_CHARS)}"
    )


def is_no_answer(error: ErrorObject) -> bool:
    """Whether this is the bridge's own word for a server that did not answer."""
    return isinstance(error.data, dict) and ERROR_KEY in error.data


def unanswered(words: str, reason: str = "") -> failures.Undetermined:
    """A server that did not answer; what its program wrote last comes first, each line by itself."""
    from ....bridge.words import explained

    first, *tail = explained(words, reason).splitlines()
    for line in tail:
        click.echo(f"  | {visible(line)}", err=True)
    said = f"{visible(first)} Its last words on standard error are above." if tail else visible(first)
    return failures.Undetermined(said)


def _reason(error: ErrorObject) -> str:
    reason = error.data.get("reason") if isinstance(error.data, dict) else None
    return reason if isinstance(reason, str) else ""
