"""A tiny balancer on loopback: sends each request to a server whose /readyz says 200, and keeps connections open as real ones do."""

import contextlib
import http.client
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit


class Balancer:
    """`request` is what a client's request through it would give. Nothing is sent twice: what fails is lost."""

    def __init__(self, urls: list[str]) -> None:
        self._places = [urlsplit(url) for url in urls]
        self._ready = [False] * len(urls)
        self._kept: list[list[http.client.HTTPConnection]] = [[] for _ in urls]
        self._turn = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def _connection(self, at: int) -> http.client.HTTPConnection:
        place = self._places[at]
        return http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)

    def is_ready(self, at: int) -> bool:
        connection = self._connection(at)
        with contextlib.closing(connection):
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            except OSError:
                return False

    def _watch(self) -> None:
        while not self._stopping.wait(0.05):
            for at in range(len(self._places)):
                ready = self.is_ready(at)
                with self._lock:
                    self._ready[at] = ready
                    dropped, self._kept[at] = ([], self._kept[at]) if ready else (self._kept[at], [])
                for connection in dropped:
                    connection.close()

    def request(self, body: bytes) -> tuple[int, bytes]:
        """Raises: OSError, http.client.HTTPException: a request that was lost."""
        with self._lock:
            ready = [at for at, is_ready in enumerate(self._ready) if is_ready]
            self._turn += 1
            at = ready[self._turn % len(ready)]
            connection = self._kept[at].pop() if self._kept[at] else self._connection(at)
        connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        read = reply.read()
        with self._lock:
            if self._ready[at] and not reply.will_close:
                self._kept[at].append(connection)
                return reply.status, read
        connection.close()
        return reply.status, read

    def wait_for(self, at: int, *, ready: bool) -> None:
        """Until it knows that a server is ready, or is not."""
        ends = time.monotonic() + 30
        while self._ready[at] != ready:
            assert time.monotonic() < ends
            time.sleep(0.01)

    @contextlib.contextmanager
    def running(self) -> Iterator["Balancer"]:
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        try:
            yield self
        finally:
            self._stopping.set()
            watcher.join()
            for kept in self._kept:
                for connection in kept:
                    connection.close()
