"""What answers at a port: our own server, another web server, or something else. It is sent a GET and no secret."""

import asyncio
import re
from contextlib import suppress

from msgspec import Struct

from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...qortal.server import NAME
from ...text import printable, shortened
from .. import limits

# Our page needs no token, so it is there even if the manifest is not.
_PAGE = b"read by qortal-mcp"
_SERVER = re.compile(rb"^server:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})")
_WORDS_CHARS = 60


class Occupant(Struct, frozen=True):
    """`version` is known only of our own server, and not if it needs a token."""

    is_ours: bool
    version: str = ""
    # In words, for something else.
    what: str = ""


class _Manifest(Struct):
    name: str
    version: str


_decode = decoder(_Manifest)


async def look(host: str, port: int) -> Occupant | None:
    """None if nobody listens."""
    try:
        reply = await _got(host, port, "/mcp-manifest.json")
    except OSError:
        return None
    ours = _ours(reply)
    if ours is None and _status(reply) == 401:
        with suppress(OSError):
            page = await _got(host, port, "/")
            ours = Occupant(True) if _PAGE in page else None
    return ours or Occupant(False, what=_in_words(reply))


async def _got(host: str, port: int, path: str) -> bytes:
    """Head and body, as far as they came in time. Raises: OSError if there is no connection."""
    async with asyncio.timeout(limits.OCCUPANT_SECONDS):
        reader, writer = await asyncio.open_connection(host, port)
    received = b""
    try:
        # HTTP/1.0: no chunks, and the end of the connection is the end of the reply.
        writer.write(f"GET {path} HTTP/1.0\r\nHost: localhost:{port}\r\nAccept: */*\r\n\r\n".encode())
        async with asyncio.timeout(limits.OCCUPANT_SECONDS):
            while len(received) < limits.OCCUPANT_BYTES and (data := await reader.read(65536)):
                received += data
    except (OSError, TimeoutError):
        pass  # what came before says who it is, if anything does
    finally:
        writer.transport.abort()
    return received


def _ours(reply: bytes) -> Occupant | None:
    try:
        manifest = _decode(reply.partition(b"\r\n\r\n")[2])
    except UNREADABLE:
        return None
    return Occupant(True, version=printable(manifest.version)) if manifest.name == NAME else None


def _status(reply: bytes) -> int | None:
    match = _STATUS.match(reply)
    return None if match is None else int(match[1])


def _in_words(reply: bytes) -> str:
    if not reply:
        return "a program that does not answer HTTP"
    if _status(reply) is None:
        return "a program that does not speak HTTP"
    server = _SERVER.search(reply.partition(b"\r\n\r\n")[0])
    if server is None:
        return "another web server"
    return f"another web server ({printable(shortened(server[1].decode('latin-1').strip(), _WORDS_CHARS))})"
