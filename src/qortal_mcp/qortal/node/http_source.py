"""A node over HTTP: the only code that opens a connection to one, and it can only GET.

The HTTP code is loaded with the first request: listing tools need not wait for it.
"""

import asyncio
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ... import __version__
from ...server.alarms import Alarms
from ..endpoints.record import Request
from ..limits import DEFAULT, NodeLimits
from . import failures
from .origin import origin_of
from .source import RawReply

if TYPE_CHECKING:
    from .http_connection import Connection

_HEADERS = {
    # Anything else makes Core answer 500 on its plain-text endpoints.
    "Accept": "*/*",
    # Core translates its messages.
    "Accept-Language": "en",
    # Nothing is decompressed here, so there can be no decompression bomb.
    "Accept-Encoding": "identity",
    "User-Agent": f"qortal-mcp/{__version__}",
}
_PORTS = {"http": 80, "https": 443}
# Core closes connections that are idle for 30 s, proxies often sooner: one that was idle longer is not reused.
_IDLE_SECONDS = 15.0
# OpenSSL's numbers: what is wrong with a certificate.
_CERTIFICATES = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    62: "its certificate is for another host name",
    64: "its certificate is for another address",
}
_CUT_SHORT = "the connection was closed during the handshake"
# What OpenSSL makes of an answer in plain HTTP, by version.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"})


class HttpSource:
    """One node. Follows no redirects, keeps no cookies, knows no proxy and no key."""

    def __init__(self, url: str, limits: NodeLimits = DEFAULT) -> None:
        self.origin = origin_of(url)
        self._limits = limits
        self._address = urlsplit(self.origin)
        self._host = self._address.hostname or ""
        heads = {"Host": self._address.netloc, **_HEADERS}
        self._after_target = "".join(
            [" HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in heads.items()), "\r\n"]
        )
        self._connection: type[Connection] | None = None
        self._ssl: ssl.SSLContext | None = None
        # Idle open connections, the most recently used last. The gate limits how many there can be.
        self._idle: list[Connection] = []
        self._deadlines = Alarms(limits.reply_seconds)
        self._is_closed = False

    async def warm(self) -> None:
        if self._connection is None:
            from .http_connection import Connection

            if self._address.scheme == "https":
                self._ssl = await asyncio.to_thread(ssl.create_default_context)
            self._connection = Connection

    async def fetch(self, request: Request) -> RawReply:
        # Sent as written: everything in the target was encoded when it was built.
        written = f"GET {request.target}{self._after_target}".encode("ascii")
        while True:
            idle = self._reusable()
            connection = idle or await self._connect()
            try:
                reply = await connection.get(written)
            except failures.NodeFailure as exc:
                if idle is None or idle.has_received or exc.code != "NODE_UNREACHABLE":
                    raise
                # An idle connection was closed just before it was used. That says nothing about the node.
                continue
            if connection.is_open:
                if self._is_closed:
                    connection.abort()
                else:
                    self._idle.append(connection)
            return reply

    def _reusable(self) -> "Connection | None":
        """An open connection that was used recently."""
        oldest = asyncio.get_running_loop().time() - _IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and connection.used_at >= oldest:
                return connection
            connection.abort()
        return None

    async def _connect(self) -> "Connection":
        await self.warm()
        if self._is_closed:
            raise failures.unreachable(self.origin)
        make, limits, address = self._connection, self._limits, self._address
        assert make is not None, "warm() loads it"
        try:
            async with asyncio.timeout(limits.connect_seconds):
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: make(self.origin, limits, self._deadlines),
                    self._host,
                    address.port or _PORTS[address.scheme],
                    ssl=self._ssl,
                )
        except TimeoutError:
            raise failures.timed_out(limits.connect_seconds) from None
        except ssl.SSLError as exc:
            raise failures.tls_failed(self.origin, _tls_failure(exc)) from exc
        except ConnectionResetError as exc:
            if self._ssl is None:
                raise failures.unreachable(self.origin) from exc
            raise failures.tls_failed(self.origin, _CUT_SHORT) from exc
        except (
            OSError,
            UnicodeError,
        ) as exc:  # UnicodeError: the host name is too long, or has an empty part
            raise failures.unreachable(self.origin) from exc
        return connection

    async def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop().abort()
        await asyncio.sleep(0)  # the sockets close in the loop's next iteration


def _tls_failure(exc: ssl.SSLError) -> str:
    """Why a connection could not be secured, in a few words."""
    if isinstance(exc, ssl.SSLCertVerificationError):
        return _CERTIFICATES.get(exc.verify_code, "its certificate is not trusted")
    if exc.reason in _NOT_TLS:
        return "what answers there is not TLS. Perhaps its address starts with http://"
    if isinstance(exc, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return _CUT_SHORT
    return (exc.reason or "handshake failed").lower().replace("_", " ")
