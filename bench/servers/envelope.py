"""The minimum that a bare process must read of a message, and the reply around bytes that already exist."""

from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType


class Envelope(Struct):
    method: str
    id: int | str | UnsetType = UNSET


decode = msgspec.json.Decoder(Envelope).decode
_encode = msgspec.json.Encoder().encode


def reply(id_: int | str, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_encode(id_), result)


def results(folder: str) -> dict[str, bytes]:
    """What our own server answered to each method, recorded before the measurement."""
    return {
        method: (Path(folder) / f"{method.replace('/', '_')}.json").read_bytes()
        for method in ("initialize", "tools/list", "tools/call")
    }
