"""A node over HTTP: the only code that opens a connection to one, and it can only GET.

aiohttp takes a tenth of a second to import, so nothing here does before the first question.
"""

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from .. import __version__
from . import failures
from .endpoints.record import Request
from .limits import DEFAULT, NodeLimits
from .origin import origin_of
from .source import RawReply

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

_HEADERS = {
    # Anything else makes Core answer 500 on its plain-text addresses.
    "Accept": "*/*",
    # Core translates its messages.
    "Accept-Language": "en",
    # Nothing is unpacked here, so that nothing can be packed to burst.
    "Accept-Encoding": "identity",
    "User-Agent": f"qortal-mcp/{__version__}",
}


class HttpSource:
    """One node. Follows no redirects, keeps no cookies, knows no proxy and no key."""

    def __init__(self, url: str, limits: NodeLimits = DEFAULT) -> None:
        self.origin = origin_of(url)
        self._limits = limits
        self._session: ClientSession | None = None
        self._library: Any = None
        self._is_closed = False

    async def warm(self) -> None:
        if self._library is None:
            self._library = await asyncio.to_thread(importlib.import_module, "aiohttp")
        if self._is_closed:  # while the library was loading
            raise failures.unreachable(self.origin)
        if self._session is None:
            self._session = self._open()

    def _open(self) -> "ClientSession":
        aiohttp, limits = self._library, self._limits
        session: ClientSession = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=limits.requests),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=limits.reply_seconds, sock_connect=limits.connect_seconds),
            headers=_HEADERS,
            auto_decompress=False,
            trust_env=False,
        )
        return session

    async def fetch(self, request: Request) -> RawReply:
        if self._session is None:
            await self.warm()
        assert self._session is not None, "warm() opens it"
        aiohttp = self._library
        # `encoded`: sent as written. Otherwise the library would fold dots and change escapes.
        url = aiohttp.client.URL(self.origin + request.target, encoded=True)
        try:
            async with self._session.get(url, allow_redirects=False) as reply:
                return RawReply(reply.status, reply.headers.get("Content-Type", ""), await self._body(reply))
        except TimeoutError:
            raise failures.timed_out(self._limits.reply_seconds) from None
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, OSError) as exc:
            raise failures.unreachable(self.origin) from exc
        except aiohttp.ClientError as exc:
            raise failures.not_readable() from exc

    async def _body(self, reply: "ClientResponse") -> bytes:
        at_most = self._limits.reply_bytes
        if reply.content_length is not None:  # no more than this will be read, whatever is sent
            if reply.content_length > at_most:
                raise failures.reply_too_large(at_most)
            return await reply.read()
        chunks, size = [], 0
        async for chunk in reply.content.iter_any():
            size += len(chunk)
            if size > at_most:
                raise failures.reply_too_large(at_most)
            chunks.append(chunk)
        return b"".join(chunks)

    async def close(self) -> None:
        self._is_closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()
