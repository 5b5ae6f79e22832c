"""What can go wrong at a node, and how it is reported. One table; errors are recognized by number, never by text.

NodeFailure (a ToolError): the node cannot be reached, refuses, or does not answer what was requested.
  NotANode: what listens there is something else than Qortal Core.
  NotSecured: somebody listens there, and TLS fails.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...server.tool_errors import ToolError
from ...text import printable, shortened
from .confirm.comparing import Confirmation
from .source import RawReply

_MESSAGE_CHARS = 120
_TLS_ALERT = b"\x15\x03"
# What web servers say about a plain request at their HTTPS port, in the first lines of a page.
_PLAIN_REFUSED = (b"HTTPS", b"SSL-enabled")
_PAGE_BYTES = 2000


class NodeFailure(ToolError):
    """`rests_node` if the fault is the node's and not this one request's.

    `try_next` if another node may do better, which is always so when a node rests. `is_foreign` if Core would
    hardly answer like this.
    """

    def __init__(
        self,
        code: str,
        sentence: str,
        fact: str = "",
        *,
        retryable: bool = False,
        rests_node: bool = False,
        try_next: bool = False,
        is_foreign: bool = False,
    ) -> None:
        super().__init__(code, sentence, fact, retryable=retryable)
        self.rests_node = rests_node
        self.try_next = try_next or rests_node
        self.is_foreign = is_foreign
        # The node's own words, if they may say more than the failure does.
        self.said = ""
        # What other nodes say to it, with `--confirm`.
        self.confirmation: Confirmation | None = None


class NotANode(NodeFailure):
    """A website, or another service."""

    fact = "This is not a Qortal node."

    def __init__(self) -> None:
        super().__init__("NODE_ERROR", "Node error.", self.fact, rests_node=True)


class NotSecured(NodeFailure):
    """A wrong certificate, or a service without TLS."""

    def __init__(self, origin: str, why: str) -> None:
        super().__init__(
            "NODE_UNREACHABLE",
            "Node unreachable.",
            f"TLS to {origin} failed: {why}.",
            retryable=True,
            rests_node=True,
        )


def unreachable(*origins: str) -> NodeFailure:
    return NodeFailure(
        "NODE_UNREACHABLE",
        "Node unreachable.",
        f"Tried {' and '.join(origins)}. Is Qortal Core running there? Use --node for another node, or --sample for none.",
        retryable=True,
        rests_node=True,
    )


def none_of(failures: Sequence[tuple[str, NodeFailure]]) -> NodeFailure:
    """What to report if every node failed: what one of them said, or else what is wrong with each."""
    said = [exc for _, exc in failures if exc.code != "NODE_UNREACHABLE" and not isinstance(exc, NotANode)]
    absent = [origin for origin, exc in failures if exc.code == "NODE_UNREACHABLE"]
    if said or len(failures) == 1 or not absent:
        return said[0] if said else failures[0][1]
    if len(absent) == len(failures):
        return unreachable(*absent)
    faults = (
        f"{origin} ({'unreachable' if origin in absent else 'not a Qortal node'})" for origin, _ in failures
    )
    return NodeFailure(
        "NODE_UNREACHABLE",
        "Node unreachable.",
        f"Tried {' and '.join(faults)}.",
        retryable=True,
        rests_node=True,
    )


def tls_failed(origin: str, why: str) -> NodeFailure:
    return NotSecured(origin, why)


def timed_out(seconds: float) -> NodeFailure:
    return NodeFailure(
        "NODE_TIMEOUT",
        "Node did not answer in time.",
        f"It was given {seconds:g} s.",
        retryable=True,
        rests_node=True,
    )


def still_fetching(seconds: float) -> NodeFailure:
    """Of content that the node may have to get from its peers first."""
    return NodeFailure(
        "NODE_TIMEOUT",
        "Node did not answer in time.",
        f"It was given {seconds:g} s. It may still be fetching this from its peers: try again later.",
        retryable=True,
        try_next=True,
    )


def frozen() -> NodeFailure:
    """It accepts requests, answers none of them, and is probed until it does."""
    return NodeFailure(
        "NODE_TIMEOUT",
        "Node did not answer in time.",
        "It has stopped answering; it will be asked again as soon as it does.",
        retryable=True,
        rests_node=True,
    )


def syncing() -> NodeFailure:
    return NodeFailure("NODE_SYNCING", "Node is synchronizing.", retryable=True, rests_node=True)


def refused(fact: str, *, rests_node: bool) -> NodeFailure:
    return NodeFailure("NODE_REFUSED", "Node refused this client.", fact, rests_node=rests_node)


def not_supported(fact: str = "", *, is_foreign: bool = False) -> NodeFailure:
    return NodeFailure(
        "NOT_SUPPORTED", "Not supported by this node.", fact, try_next=True, is_foreign=is_foreign
    )


def not_found(sentence: str, fact: str = "") -> NodeFailure:
    return NodeFailure("NOT_FOUND", sentence, fact)


def node_error(
    fact: str,
    *,
    retryable: bool = False,
    rests_node: bool = False,
    try_next: bool = False,
    is_foreign: bool = False,
) -> NodeFailure:
    return NodeFailure(
        "NODE_ERROR",
        "Node error.",
        fact,
        retryable=retryable,
        rests_node=rests_node,
        try_next=try_next,
        is_foreign=is_foreign,
    )


def reply_too_large(at_most: int) -> NodeFailure:
    return NodeFailure("TOO_LARGE", "Answer too large.", f"The node sent more than {at_most} bytes.")


def too_many_values(at_most: int) -> NodeFailure:
    return NodeFailure("TOO_LARGE", "Answer too large.", f"The node sent more than {at_most} values.")


def not_readable() -> NodeFailure:
    return node_error("Its answer cannot be read.", rests_node=True, is_foreign=True)


def not_http(received: bytes) -> NodeFailure:
    """What arrived is not HTTP; perhaps TLS, which refuses a plain request with an alert."""
    return speaks_https() if received.startswith(_TLS_ALERT) else not_readable()


def speaks_https() -> NodeFailure:
    return node_error("It speaks HTTPS: its address must begin with https://.", rests_node=True)


def not_as_expected() -> NodeFailure:
    return node_error("Its answer does not have the expected form.", try_next=True, is_foreign=True)


# Core's error numbers. Any other number is reported as a node error with that number.
_NOT_FOUND = {
    124: "Address not found on chain.",
    301: "Block not found.",
    304: "Public key not found.",
    311: "Transaction not found.",
    401: "Name not found.",
    501: "Poll not found.",
    601: "Asset not found.",
    603: "Order not found.",
    1101: "Group not found.",
    1401: "File not found.",
}
_INVALID = {
    101: "Invalid signature.",
    102: "Invalid Qortal address.",
    112: "Invalid public key.",
    126: "Invalid reference.",
    129: "Invalid height.",
}
_SYNCING = frozenset({7, 8})
# What a proxy answers when its node is down, or when it limits us. Core itself answers 500.
_PROXY_STATUSES = frozenset({429, 502, 503, 504})
_UNAUTHORIZED = 4
_SWITCHED_OFF = 6


class _CoreError(Struct):
    error: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    message: str = ""


_decode_error = decoder(_CoreError)


def failure_of(reply: RawReply, noun: str, absent: frozenset[int] = frozenset()) -> NodeFailure:
    """What an answer other than 200 means."""
    core = _core_error(reply)
    if core is not None and core.error in absent:
        failure = not_found(f"{noun} not found.")
        failure.said = _short(core.message)
        return failure
    if core is not None:
        return _by_number(core, reply.status)
    if reply.status == 204:
        return not_found(f"{noun} not found.")
    if reply.status in (401, 403):
        return refused("Add this machine to the node's setting apiWhitelist.", rests_node=True)
    if reply.status in (404, 405):
        return not_supported(is_foreign=True)
    if reply.status == 400 and any(word in reply.body[:_PAGE_BYTES] for word in _PLAIN_REFUSED):
        return speaks_https()
    message = ""
    if reply.content_type.startswith("text/plain"):
        message = _short(reply.body[: 4 * _MESSAGE_CHARS].decode(errors="replace"))
    described = _described(f"HTTP {reply.status}", message)
    return node_error(
        described,
        retryable=reply.status >= 500,
        rests_node=reply.status in _PROXY_STATUSES,
        is_foreign=300 <= reply.status < 500 and reply.status not in _PROXY_STATUSES,
    )


def _core_error(reply: RawReply) -> _CoreError | None:
    try:
        return _decode_error(reply.body)
    except UNREADABLE:
        return None  # Jetty's own page, or a text


def _by_number(core: _CoreError, status: int) -> NodeFailure:
    if core.error in _NOT_FOUND:
        return not_found(_NOT_FOUND[core.error])
    if core.error in _INVALID:
        return NodeFailure("INVALID_ARGUMENT", _INVALID[core.error])
    if core.error in _SYNCING:
        return syncing()
    if core.error == _UNAUTHORIZED:
        return refused("This read needs an API key, and none is ever sent.", rests_node=False)
    if core.error == _SWITCHED_OFF:
        return not_supported("The feature is off there.")
    return node_error(_described(f"Code {core.error}", _short(core.message)), retryable=status >= 500)


def _described(what: str, message: str) -> str:
    return f"{what}: {message}" if message else f"{what}."


def _short(message: str) -> str:
    """The node's own words, unless they are markup."""
    if "<" in message:
        return ""
    return printable(shortened(" ".join(message.split()), _MESSAGE_CHARS))
