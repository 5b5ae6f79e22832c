"""The shared store: whether it can be reached, and what it says about itself."""

import asyncio
import re
import time
from collections.abc import Mapping

from msgspec import Struct

from ... import settings
from ...settings import ShareOptions, WrongSetting
from ...store.address import Address, address_of
from ...store.limits import DEFAULT
from ...store.line import Refused, Wire
from .. import limits

_VERSION = re.compile(rb"^(valkey|redis)_version:([\w.-]{1,40})\r?$", re.M)
_MEMORY = re.compile(rb"^(maxmemory|maxmemory_policy):([\w-]{1,40})\r?$", re.M)
# How a store says that it wants a password, or another one.
_PASSWORD_CODES = ("NOAUTH", "WRONGPASS", "NOPERM")


class StoreFacts(Struct, frozen=True, kw_only=True):
    """What is known about a store; if it does not answer, why."""

    # What commands would say to these options.
    refusal: str = ""
    # Its client is not installed.
    is_without_client: bool = False
    # Nothing answers there, or not as a store does.
    failure: str = ""
    wants_password: bool = False
    milliseconds: int = 0
    # Such as "valkey 8.1.1".
    version: str = ""
    # Bytes it may use, 0 for any number; None if it does not say.
    most_memory: int | None = None
    evicts: bool = False


async def look(options: ShareOptions, environ: Mapping[str, str]) -> StoreFacts:
    assert options.cache is not None, "only a store that is given is looked at"
    try:
        password = settings.cache_password(options, environ)
        address = address_of(options.cache)
    except WrongSetting as exc:
        return StoreFacts(refusal=str(exc))
    except ValueError as exc:
        return StoreFacts(refusal=f"--cache {exc}.")
    try:
        from ...store.connection import connected
    except ImportError:
        return StoreFacts(is_without_client=True)
    try:
        async with asyncio.timeout(limits.STORE_SECONDS):
            wire = await connected(address, password, DEFAULT.value_bytes)
            try:
                return await _told(wire)
            finally:
                await wire.close()
    except TimeoutError:
        return StoreFacts(failure="it takes connections, and does not answer in time")
    except Exception as exc:  # whatever listens there may do anything
        wants = any(code in str(exc) for code in _PASSWORD_CODES)
        return StoreFacts(failure=_failure(exc, address), wants_password=wants)


async def _told(wire: Wire) -> StoreFacts:
    started = time.monotonic()
    await wire.send([("PING",), ("INFO", "server"), ("INFO", "memory")])
    pong = await wire.reply()
    milliseconds = int((time.monotonic() - started) * 1000)
    said = [pong, await wire.reply(), await wire.reply()]
    if isinstance(pong, Refused):
        return StoreFacts(failure=f"it answers {pong.code}", wants_password=pong.code in _PASSWORD_CODES)
    if pong != b"PONG":
        return StoreFacts(failure="what listens there is no Valkey or Redis server")
    server, memory = (part if isinstance(part, bytes) else b"" for part in said[1:])
    versions = {name.decode(): number.decode() for name, number in _VERSION.findall(server)}
    name = next((name for name in ("valkey", "redis") if name in versions), "")
    bounds = {key.decode(): value.decode() for key, value in _MEMORY.findall(memory)}
    most = bounds.get("maxmemory", "")
    return StoreFacts(
        milliseconds=milliseconds,
        version=f"{name} {versions[name]}" if name else "",
        most_memory=int(most) if most.isdigit() else None,
        evicts=bounds.get("maxmemory_policy", "noeviction") != "noeviction",
    )


def _failure(exc: Exception, address: Address) -> str:
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return "what listens there is no Valkey or Redis server"
