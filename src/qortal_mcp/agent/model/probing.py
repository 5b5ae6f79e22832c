"""Small questions to a server that may not be there: an answer in a moment, or none."""

import asyncio
from types import TracebackType
from typing import Any, Self

import msgspec

from ...client.errors import ClientError
from ...client.limits import ClientLimits
from ...client.transcript import Headers, Recorder
from ...client.wires.routes import Route
from ...client.wires.web import POST_HEADERS, Web
from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE

# Lists of models of large services have 500 kB; what Ollama says about one model contains its license.
_REPLY_BYTES = 4 * 1024 * 1024
# Of names that servers give their models.
_NAME_CHARS = 256


class Probe:
    """One server. Every question that it does not answer with JSON and in time is answered with None."""

    def __init__(
        self, seconds: float, *, key: str | None = None, proxies: bool = False, ca_file: str | None = None
    ) -> None:
        """Raises: ClientError if the file of certificates cannot be used."""
        headers: Headers = (("authorization", f"Bearer {key}"),) if key else ()
        bounds = ClientLimits(message_bytes=_REPLY_BYTES, connect_seconds=seconds)
        self._seconds = seconds
        self._web = Web(Recorder(), bounds, headers, route=Route(proxies=proxies, ca_file=ca_file))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._web.close()

    async def get(self, url: str) -> Any:
        return await self._ask("GET", url, None)

    async def post(self, url: str, body: Any) -> Any:
        return await self._ask("POST", url, msgspec.json.encode(body))

    async def _ask(self, method: str, url: str, data: bytes | None) -> Any:
        headers = POST_HEADERS if data is not None else ()
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._web.request(method, url, headers, data) as head,
            ):
                return decode(await self._web.body(head)) if head.is_good else None
        except (ClientError, TimeoutError, *UNREADABLE):
            return None


def member(value: Any, *names: str) -> Any:
    """What a decoded answer holds at a path of names; None if it does not."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def items(value: Any, *names: str) -> list[dict[str, Any]]:
    """The objects of a list in a decoded answer."""
    found = member(value, *names)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def name_of(item: dict[str, Any], *members: str) -> str:
    """The first of these members that is a usable name; empty if there is none."""
    names = (item.get(name) for name in members)
    return next((name for name in names if isinstance(name, str) and 0 < len(name) <= _NAME_CHARS), "")


def count(value: Any) -> int | None:
    """A positive whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
