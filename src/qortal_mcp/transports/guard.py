"""Who may use the HTTP endpoint: Host, Origin and token, checked on every route and on the WebSocket upgrade.

A page in a browser can reach loopback through a name of its own (DNS rebinding), so the name in `Host` must
be one of ours whatever address we listen on, or the very IP address at which the request arrived: no name leads there. A page of
another origin is refused outright.
"""

import hmac
import ipaddress
from collections.abc import Iterable
from typing import TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from .head import Head

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_REMEMBERED = 256
# An IP address and a port; None where the web server does not tell.
Address: TypeAlias = tuple[str, int] | None
# What a browser says about a request of a page that we did not serve, if it is not of a link that a person followed.
_FOREIGN = (b"cross-site", b"same-site")
_LINK = b"navigate"
_LAST_PORT = 65_535


class Refusal(Struct, frozen=True):
    """An HTTP status and a sentence that says what to change."""

    status: int
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    # Whether the page that asked may read it, because its origin is allowed.
    is_readable: bool = False


_UNKNOWN_HOST = Refusal(421, "This Host is not allowed here. Allow it with --allow-host NAME[:PORT].")


class Guard:
    """Decides by headers, and by where a request arrived. Hosts without a port match any port."""

    def __init__(
        self,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        self._hosts = frozenset(host.lower() for host in (*_LOOPBACK, *hosts))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._token = None if token is None else token.encode()
        self._verdicts: dict[tuple[bytes | None, bytes | None], Refusal | None] = {}

    @property
    def has_token(self) -> bool:
        return self._token is not None

    def renew_token(self, token: str) -> None:
        assert self._token is not None, "who may come in without a token is decided at the start"
        self._token = token.encode()

    def refuse(self, head: Head, arrived_at: Address, *, needs_token: bool = True) -> Refusal | None:
        """Why a request is refused; None if it may pass."""
        if head.is_in_doubt:
            return Refusal(400, "Host, Origin and Authorization may each be sent only once.")
        key = (host, origin) = head.get(b"host"), head.get(b"origin")
        if key in self._verdicts:
            refusal = self._verdicts[key]
        else:
            refusal = self._judge(host, origin)
            if len(self._verdicts) < _REMEMBERED:
                self._verdicts[key] = refusal
        if refusal is _UNKNOWN_HOST and host is not None and _is_there(host, arrived_at):
            refusal = self._judge_origin(host, origin)
        if refusal is not None or not needs_token:
            return refusal
        # An image or a script of another page is loaded without an Origin. What needs no token are the files of our page.
        if (
            origin is None
            and head.get(b"sec-fetch-site") in _FOREIGN
            and head.get(b"sec-fetch-mode") != _LINK
        ):
            return Refusal(403, "A page of another origin must not load this.")
        return None if self._token is None else self._judge_token(head.get(b"authorization"))

    def _judge(self, host: bytes | None, origin: bytes | None) -> Refusal | None:
        if not host:
            return Refusal(400, "The Host header is missing.")
        return (
            self._judge_origin(host, origin)
            if self._knows_host(host.decode("latin-1").lower())
            else _UNKNOWN_HOST
        )

    def _judge_origin(self, host: bytes, origin: bytes | None) -> Refusal | None:
        if origin is None:
            return None
        name = host.decode("latin-1").lower()
        text = origin.decode("latin-1").lower()
        if text in self._origins or self._is_own(text, name):
            return None
        return Refusal(403, "This Origin is not allowed here. Allow it with --allow-origin ORIGIN.")

    def _knows_host(self, host: str) -> bool:
        return host in self._hosts or _without_port(host) in self._hosts

    def _is_own(self, origin: str, host: str) -> bool:
        """A page that we served ourselves: same name and port as its Host header."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and origin == f"{parts.scheme}://{host}"

    def _judge_token(self, authorization: bytes | None) -> Refusal | None:
        assert self._token is not None, "only called if a token is set"
        scheme, _, credentials = (authorization or b"").partition(b" ")
        # The name of the scheme is case-insensitive (RFC 9110), the token is not.
        if scheme.lower() == b"bearer" and hmac.compare_digest(credentials.strip(b" "), self._token):
            return None
        challenge = ((b"www-authenticate", b'Bearer realm="mcp"'),)
        return Refusal(
            401, "A bearer token is needed: Authorization: Bearer TOKEN.", challenge, is_readable=True
        )


class ClosedGuard(Guard):
    """Lets nobody in, and tells why to those whom the same guard would let in."""

    def __init__(
        self,
        why: str,
        *,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        token: str | None = None,
    ) -> None:
        super().__init__(hosts=hosts, origins=origins, token=token)
        self._closed = Refusal(503, why, is_readable=True)

    def refuse(self, head: Head, arrived_at: Address, *, needs_token: bool = True) -> Refusal | None:
        refused = super().refuse(head, arrived_at, needs_token=needs_token)
        # A browser asks without a token whether its page may ask at all: without leave the page could not read why.
        return self._closed if refused is None and needs_token else refused


def _is_there(host: bytes, arrived_at: Address) -> bool:
    """Whether a Host header is the address at which a request arrived, with its port or without one."""
    if arrived_at is None:
        return False
    address, port = arrived_at
    shown = address.removeprefix("::ffff:") if "." in address else address
    name = f"[{shown}]" if ":" in shown else shown
    return host.decode("latin-1").lower() in (name, f"{name}:{port}")


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if host.endswith("]") or not colon:
        return host
    is_port = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= _LAST_PORT
    return name if is_port else ""


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can only be reached from this machine."""
    name = host.lower().strip("[]")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
