"""The reference on stdio: msgspec and asyncio, and exactly the bytes that our server answers. Imports nothing else."""

import asyncio
import sys

import msgspec
from msgspec import UNSET, Struct, UnsetType


class Envelope(Struct):
    method: str
    id: int | str | UnsetType = UNSET


def recorded(method: str) -> bytes:
    with open(f"{sys.argv[1]}/{method.replace('/', '_')}.json", "rb") as file:
        return file.read()


async def main() -> None:
    known = {method: recorded(method) for method in ("initialize", "tools/list", "tools/call")}
    decode, encode = msgspec.json.Decoder(Envelope).decode, msgspec.json.Encoder().encode
    reader = asyncio.StreamReader(limit=1024 * 1024)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        message = decode(line)
        if message.id is not UNSET:
            reply = b'{"jsonrpc":"2.0","id":%b,"result":%b}\n' % (encode(message.id), known[message.method])
            sys.stdout.buffer.write(reply)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main())
