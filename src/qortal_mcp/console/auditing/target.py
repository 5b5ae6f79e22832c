"""Which address may be audited from the page. Only reads and decides; the connections hold to the same bound themselves."""

import re
from collections.abc import Collection
from typing import Annotated, Literal
from urllib.parse import unquote

from msgspec import Meta, Struct

from ...audit.secrets import SECRET
from ...client.wires.routes import Place, is_this_machine
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.versions import REVISIONS
from .never import place_at

Targets = Literal["off", "loopback", "any"]

_FORM = """The body must be JSON like {"url": "http://127.0.0.1:9000/mcp"}, optionally with "revisions": ["2025-11-25"]."""
_OFF = "Audits are switched off here. The operator switches them on with `qortal-mcp serve --audit-targets loopback`."
_BEYOND = (
    "Only servers on the machine of this server may be audited, by their literal address (127.0.0.1, [::1]) or as localhost. "
    "The operator allows other hosts with `qortal-mcp serve --audit-targets any`."
)
_NOT_AN_ADDRESS = (
    "This is not an address that can be audited. Give one like http://127.0.0.1:9000/mcp or ws://127.0.0.1:9000/ws, "
    "without a name, a password or a fragment."
)
_SECRET = (
    "The address seems to hold a secret, and none is accepted here. Audit this server with "
    "`qortal-mcp audit URL --header-file FILE` in a terminal."
)
# Stricter than any library reads it, so that no two of them can understand it differently.
_ADDRESS = re.compile(
    r"(?P<scheme>https?|wss?)://"
    r"(?P<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9_][a-z0-9_.-]{0,252})"
    r"(?P<port>:[0-9]{1,5})?"
    r"(?P<path>/[a-z0-9._~:/@!$&'()*+,;=%-]*)?"
    r"(?:\?(?P<query>[a-z0-9._~:/?@!$&'()*+,;=%\[\]-]*))?",
    re.IGNORECASE | re.ASCII,
)
_LAST_PORT = 65_535
_OURS = (
    "This is the address of a Qortal node, or of the model that is asked here. An audit sends POST requests, and neither gets any "
    "from this server."
)


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends."""

    url: Annotated[str, Meta(max_length=2_000)]
    revisions: Annotated[tuple[str, ...], Meta(max_length=len(REVISIONS))] = ()


class Refusal(Struct, frozen=True):
    """Why there is no audit, for the person who asked for it."""

    status: int
    reason: str


_read = decoder(Request)


def switched_off(targets: Targets) -> Refusal | None:
    return Refusal(403, _OFF) if targets == "off" else None


def requested(body: bytes, targets: Targets, never: Collection[Place] = ()) -> Request | Refusal:
    """What is to be audited."""
    try:
        request = _read(body)
    except UNREADABLE:
        return Refusal(400, _FORM)
    if unknown := sorted(set(request.revisions) - set(REVISIONS)):
        known = ", ".join(REVISIONS)
        return Refusal(400, f"{len(unknown)} of the revisions do not exist. There are {known}.")
    address = _ADDRESS.fullmatch(request.url)
    if address is None or not _is_port(address["port"]):
        return Refusal(400, _NOT_AN_ADDRESS)
    if targets != "any" and not is_this_machine(address["host"].strip("[]")):
        return Refusal(403, _BEYOND)
    if place_at(_plain(address)) in never:
        return Refusal(403, _OURS)
    if any(SECRET.search(unquote(part.partition("=")[0])) for part in (address["query"] or "").split("&")):
        return Refusal(400, _SECRET)
    return Request(_plain(address), request.revisions)


def _is_port(written: str | None) -> bool:
    return written is None or 0 < int(written[1:]) <= _LAST_PORT


def _plain(address: re.Match[str]) -> str:
    """The address with its scheme and host in lower case, and with a path."""
    query = "" if address["query"] is None else f"?{address['query']}"
    origin = f"{address['scheme']}://{address['host']}{address['port'] or ''}".lower()
    return f"{origin}{address['path'] or '/'}{query}"
