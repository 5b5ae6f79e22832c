"""A store on a real socket that knows the commands that are used, and can be told to behave badly."""

import contextlib
import hashlib
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from io import BufferedReader

# A manner answers a command with bytes, or None: as usual.
Manner = Callable[[list[bytes]], bytes | None]


class TinyStore:
    """Speaks RESP. `values` is what it keeps; `asked` are the commands it got."""

    def __init__(self, password: str = "") -> None:
        self.values: dict[bytes, tuple[bytes, float]] = {}
        self.asked: list[list[bytes]] = []
        self.manner: Manner = lambda words: None
        # Kinds of commands whose connection is closed in the middle of the answer.
        self.cuts: set[bytes] = set()
        # While it is cleared, nothing is answered.
        self.goes_on = threading.Event()
        self.goes_on.set()
        self._password = password.encode()
        self._scripts: set[bytes] = set()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0

    def start(self) -> None:
        self._listener = listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        self.port = listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self) -> None:
        """Die: the port is closed, and every connection with it."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.goes_on.set()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def commands(self, name: str) -> list[list[bytes]]:
        return [words for words in self.asked if words[0] == name.encode()]

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError), connection.makefile("rb") as lines:
            is_known = not self._password
            while line := lines.readline():
                words = [_word(lines) for _ in range(int(line[1:]))]
                self.goes_on.wait(30)
                with self._lock:
                    self.asked.append(words)
                    if words[0] == b"AUTH":
                        is_known = words[-1] == self._password
                        reply = b"+OK\r\n" if is_known else b"-WRONGPASS invalid password\r\n"
                    else:
                        reply = self._reply(words) if is_known else b"-NOAUTH Authentication required.\r\n"
                if words[0] in self.cuts:
                    connection.sendall(reply[: len(reply) // 2])
                    connection.shutdown(socket.SHUT_RDWR)
                    break
                connection.sendall(reply)
        self._open.discard(connection)

    def _reply(self, words: list[bytes]) -> bytes:
        told = self.manner(words)
        if told is not None:
            return told
        match words:
            case [b"PING"]:
                return b"+PONG\r\n"
            case [b"SELECT", _]:
                return b"+OK\r\n"
            case [b"INFO", b"server"]:
                return _bulk(
                    b"# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n"
                )
            case [b"INFO", b"memory"]:
                return _bulk(b"# Memory\r\nmaxmemory:268435456\r\nmaxmemory_policy:allkeys-lru\r\n")
            case [b"GETRANGE", key, start, end]:
                return _bulk(self._value(key)[int(start) : int(end) + 1])
            case [b"SET", key, value, b"PX", milliseconds]:
                self.values[key] = (value, time.monotonic() + int(milliseconds) / 1000)
                return b"+OK\r\n"
            case [b"EVALSHA", digest, b"1", key, step, burst]:
                known = digest in self._scripts
                return (
                    self._take(key, int(step), int(burst)) if known else b"-NOSCRIPT No matching script.\r\n"
                )
            case [b"EVAL", script, b"1", key, step, burst]:
                self._scripts.add(hashlib.sha1(script).hexdigest().encode())
                return self._take(key, int(step), int(burst))
        return b"-ERR unknown command\r\n"

    def _value(self, key: bytes) -> bytes:
        value, until = self.values.get(key, (b"", 0.0))
        return value if until > time.monotonic() else b""

    def _take(self, key: bytes, step: int, burst: int) -> bytes:
        """The same bucket that the script keeps."""
        now = time.monotonic() * 1_000_000
        try:
            full = min(max(float(self._value(key)), now), now + burst)
        except ValueError:
            full = now
        over = full + step - now - burst
        if over > 0:
            return b":%d\r\n" % math.ceil(over)
        self.values[key] = (b"%f" % (full + step), (full + step) / 1_000_000)
        return b":0\r\n"


def _word(lines: BufferedReader) -> bytes:
    size = int(lines.readline()[1:])
    return lines.read(size + 2)[:-2]


def _bulk(value: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(value), value)


@contextlib.contextmanager
def tiny_store(password: str = "") -> Iterator[TinyStore]:
    """A store that runs until the block ends."""
    store = TinyStore(password)
    store.start()
    try:
        yield store
    finally:
        store.stop()
