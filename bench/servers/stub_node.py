"""A node that answers fixed bytes, faster than any client can ask or after a delay, and counts its requests."""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from typing import ClassVar

_TIP = {
    "height": 2_300_000,
    "signature": "5" * 100,
    # Just now: a node with an old tip is behind, and its answers say so.
    "timestamp": int(time.time() * 1000),
    "minterPublicKey": "6" * 44,
    "minterSignature": "7" * 88,
    "reference": "8" * 128,
    "transactionCount": 3,
    "totalFees": "0.03000000",
    "version": 4,
    "atCount": 1,
    "atFees": "0.00000000",
    "onlineAccountsCount": 900,
}
_STATUS = {
    "isMintingPossible": False,
    "isSynchronizing": False,
    "syncPercent": 100,
    "numberOfConnections": 32,
    "height": 2_300_000,
}
_INFO = {
    "currentTimestamp": 1_790_000_060_000,
    "uptime": 86_400_000,
    "buildVersion": "qortal-6.1.8-0000000",
    "buildTimestamp": 1_780_000_000,
    "nodeId": "N1",
}
# By the start of the path; longer prefixes first.
_REPLIES = (
    ("/addresses/balance/", "text/plain", "1234.56789012"),
    ("/admin/status", "application/json", json.dumps(_STATUS)),
    ("/admin/info", "application/json", json.dumps(_INFO)),
    ("/blocks/height", "text/plain", "2300000"),
    # As much as is read of one reply, in the form that takes longest.
    ("/names", "application/json", "[" + "1e300," * 690_000 + "1]"),
    ("/blocks/last", "application/json", json.dumps(_TIP)),
)


class Connection(asyncio.Protocol):
    """One keep-alive connection. `/asked` answers with the counts so far and is not counted itself."""

    asked: ClassVar[Counter[str]] = Counter()
    delay_seconds: ClassVar[float] = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport), "a socket is one"
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            path = self._buffer.split(b" ", 2)[1].decode("latin-1")
            self._buffer = self._buffer[end + 4 :]
            answer = self._answer(path)
            if self.delay_seconds and path != "/asked":
                asyncio.get_running_loop().call_later(self.delay_seconds, self._transport.write, answer)
            else:
                self._transport.write(answer)

    def _answer(self, path: str) -> bytes:
        if path == "/asked":
            return _http(200, "application/json", json.dumps(self.asked))
        for beginning, media_type, body in _REPLIES:
            if path.startswith(beginning):
                self.asked[beginning] += 1
                return _http(200, media_type, body)
        self.asked[path[:60]] += 1
        return _http(404, "application/json", '{"error":400,"message":"unknown to the stub"}')


def _http(status: int, media_type: str, body: str) -> bytes:
    words = "OK" if status == 200 else "Not Found"
    head = f"HTTP/1.1 {status} {words}\r\ncontent-type: {media_type}\r\ncontent-length: {len(body)}\r\n\r\n"
    return (head + body).encode()


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    Connection.delay_seconds = options.delay_ms / 1000
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", options.port)
    port = server.sockets[0].getsockname()[1]
    print(f"Listening on http://127.0.0.1:{port}", file=sys.stderr, flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
