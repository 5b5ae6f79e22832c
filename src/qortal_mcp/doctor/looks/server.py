"""Where `serve` would listen and who might use it: the address, the token, the names of clients."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from ... import settings
from ...door import callers_of, check_host
from ...settings import TOKEN_VARIABLE, ListenOptions, WrongSetting
from ...transports.guard import is_loopback
from ...transports.serve import bind, numeric
from . import occupant
from .occupant import Occupant

# Where a server that listens everywhere can be reached from here.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class TokenFacts(Struct, frozen=True, kw_only=True):
    # `--token-file`, the variable, or empty if there is none.
    source: str = ""
    # Why it cannot be used, in a sentence.
    refusal: str = ""
    file: str = ""
    # Others on this machine can read the file.
    is_open: bool = False


class ServerFacts(Struct, frozen=True, kw_only=True):
    listen: str
    # It was not chosen by anybody.
    is_default: bool
    host: str
    # Numeric; None if the name cannot be resolved.
    address: str | None
    is_on_loopback: bool
    port: int
    # Why it cannot be listened on.
    refusal: OSError | None = None
    occupant: Occupant | None = None
    token: TokenFacts = TokenFacts()
    allowed_hosts: tuple[str, ...] = ()
    # Why `serve` would refuse to start with these options, in sentences.
    refused_options: tuple[str, ...] = ()


async def look(door: ListenOptions, environ: Mapping[str, str]) -> ServerFacts:
    host, port = settings.host_and_port(door.listen)
    token = await asyncio.to_thread(_token, door, environ)
    address = await asyncio.to_thread(_numeric, host, port)
    refusal: OSError | None = None
    found: Occupant | None = None
    if address is not None and port:
        refusal = _refusal(address, port)
        if _may_be_taken(refusal):
            found = await occupant.look(_EVERYWHERE.get(address, address), port)
    return ServerFacts(
        listen=door.listen,
        is_default=door.listen == ListenOptions().listen,
        host=host,
        address=address,
        is_on_loopback=is_loopback(address or host),
        port=port,
        refusal=refusal,
        occupant=found,
        token=token,
        allowed_hosts=door.allow_host,
        refused_options=tuple(_refused_options(door, address or host, token)),
    )


def _numeric(host: str, port: int) -> str | None:
    try:
        return numeric(host, port)
    except (OSError, UnicodeError):
        return None


def _refusal(address: str, port: int) -> OSError | None:
    try:
        bind(address, port).close()
    except OSError as exc:
        return exc
    return None


def _may_be_taken(refusal: OSError | None) -> bool:
    """Windows lets a port be bound although somebody listens there. An address of another machine is never asked."""
    return os.name == "nt" if refusal is None else refusal.errno == errno.EADDRINUSE


def _token(door: ListenOptions, environ: Mapping[str, str]) -> TokenFacts:
    name = door.token_file or ""
    source = "--token-file" if name else TOKEN_VARIABLE
    try:
        found = os.stat(name) if name else None
        if found is not None and not stat.S_ISREG(found.st_mode):
            return TokenFacts(source=source, file=name, refusal=f"{source} is not a file.")
        if settings.token(door, environ) is None:
            return TokenFacts()
    except WrongSetting as exc:
        return TokenFacts(source=source, file=name, refusal=str(exc))
    except (OSError, ValueError) as exc:  # ValueError: a null character in the name
        why = exc.strerror if isinstance(exc, OSError) else "not the name of a file"
        return TokenFacts(source=source, file=name, refusal=f"{source} cannot be read: {why}.")
    # Windows keeps permissions elsewhere, and shows every file as readable by all.
    is_open = found is not None and os.name == "posix" and bool(found.st_mode & 0o077)
    return TokenFacts(source=source, file=name, is_open=is_open)


def _refused_options(door: ListenOptions, host: str, token: TokenFacts) -> Iterator[str]:
    attempts: tuple[Callable[[], object], ...] = (
        lambda: check_host(host, door, token.source or None),
        lambda: callers_of(door, None),
    )
    for attempt in attempts:
        try:
            attempt()
        except WrongSetting as exc:
            yield str(exc)
