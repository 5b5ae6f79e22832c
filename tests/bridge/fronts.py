"""Clients in front of the real command: over stdio, over HTTP with and without a session, over a WebSocket."""

import contextlib
import http.client
import itertools
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import websockets
import websockets.sync.client
from tests.bridge.scripts import Json, compact
from tests.cli.running import COMMAND, SECONDS, environment

LEGACY = "2025-06-18"
MARKS = ("qortal-mcp/repairs", "qortal-mcp/dropped")


def opening(revision: str = LEGACY, capabilities: Json | None = None) -> Json:
    return {
        "protocolVersion": revision,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "c", "version": "1"},
    }


def without_marks(message: Json) -> Json:
    """An answer without what the bridge says about its repairs."""
    result = message.get("result")
    meta = result.get("_meta") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(meta, dict):
        return message
    rest = {name: value for name, value in meta.items() if name not in MARKS}
    bare = {name: value for name, value in result.items() if name != "_meta"}
    return {**message, "result": {**bare, "_meta": rest} if rest else bare}


def marks(message: Json) -> list[str]:
    """The codes of what was repaired in an answer."""
    found: list[str] = message["result"].get("_meta", {}).get(MARKS[0], [])
    return found


def dropped(message: Json) -> Any:
    """What was taken out of an answer."""
    return message["result"]["_meta"][MARKS[1]]


class Front(Protocol):
    """A client that asks one thing after the other."""

    def ask(self, method: str, params: Json) -> Json: ...


def call(front: Front, name: str, arguments: Json | None = None) -> Json:
    return front.ask("tools/call", {"name": name, "arguments": arguments or {}})


def request(id_: Any, method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, **({} if params is None else {"params": params})}


class Stdio:
    """A bridge as the process that a client starts."""

    def __init__(
        self, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, hello: bool = True
    ) -> None:
        self._ids = itertools.count(1)
        self.lines: list[bytes] = []
        self._err: list[bytes] = []
        self._ended = False
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            [*COMMAND, "bridge", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(env),
            cwd=cwd,
        )
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.lines)),
            threading.Thread(target=self._read, args=(self.process.stderr, self._err)),
        ]
        for reader in self._readers:
            reader.start()
        self.handshake: Json = {}
        if hello:
            self.shake_hands()

    def _read(self, stream: Any, lines: list[bytes]) -> None:
        for line in stream:
            with self._news:
                lines.append(line)
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def shake_hands(self, revision: str = LEGACY) -> None:
        self.handshake = self.ask("initialize", opening(revision))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def err(self) -> str:
        return b"".join(self._err).decode()

    @property
    def messages(self) -> list[Json]:
        """Everything that was said to the client so far. Each line is a message."""
        return [json.loads(line) for line in self.lines]

    def wait_for(self, claim: Callable[[], bool]) -> None:
        """Wait until something is true of what was written to stdout or stderr."""
        with self._news:
            self._news.wait_for(lambda: claim() or self._ended, SECONDS)
            assert claim(), (self.lines, self.err)

    def send(self, *messages: Json | bytes) -> None:
        assert self.process.stdin is not None, "it is a pipe"
        for one in messages:
            self.process.stdin.write((one if isinstance(one, bytes) else compact(one).encode()) + b"\n")
        self.process.stdin.flush()

    def answer(self, id_: Any) -> Json:
        """The answer to a request. Raises: AssertionError if there is none in time, or more than one."""
        found: list[Json] = []

        def is_there() -> bool:
            found[:] = [one for one in self.messages if "method" not in one and _same(one.get("id"), id_)]
            return bool(found)

        self.wait_for(is_there)
        assert len(found) == 1, found
        return found[0]

    def ask(self, method: str, params: Json | None = None) -> Json:
        id_ = f"c{next(self._ids)}"
        self.send(request(id_, method, params))
        return self.answer(id_)

    def said(self, method: str) -> list[Json]:
        """Notifications and requests of the server."""
        return [one for one in self.messages if one.get("method") == method]

    def end(self) -> int:
        """Close stdin, and wait for the process to end."""
        assert self.process.stdin is not None, "it is a pipe"
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            for reader in self._readers:
                reader.join(SECONDS)
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None, "it is a pipe"
                stream.close()
        return code


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


@contextlib.contextmanager
def stdio(
    *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, hello: bool = True
) -> Iterator[Stdio]:
    """A bridge with its client, until the block ends."""
    front = Stdio(*words, env=env, cwd=cwd, hello=hello)
    try:
        yield front
    finally:
        if front.process.stdin is not None and not front.process.stdin.closed:
            front.end()


class Stateless:
    """A client of a listening bridge that sends requests one by one, without a handshake."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
        self._ids = itertools.count(1)
        self.headers: dict[str, str] = {"MCP-Protocol-Version": LEGACY}

    def post(self, message: Json) -> tuple[int, Mapping[str, str], bytes]:
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        self._connection.request("POST", "/mcp", compact(message).encode(), {**kinds, **self.headers})
        reply = self._connection.getresponse()
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return reply.status, headers, reply.read()

    def ask(self, method: str, params: Json) -> Json:
        id_ = f"c{next(self._ids)}"
        _, headers, body = self.post(request(id_, method, params))
        if headers["content-type"].startswith("text/event-stream"):
            events = [json.loads(line[5:]) for line in body.splitlines() if line.startswith(b"data:")]
            (found,) = (one for one in events if one.get("id") == id_)
            return dict(found)
        answer: Json = json.loads(body)
        assert answer["id"] == id_, answer
        return answer

    def close(self) -> None:
        self._connection.close()


class Session(Stateless):
    """A client that shakes hands and then names its session."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        status, headers, body = self.post(request(0, "initialize", opening()))
        assert status == 200, body
        self.headers["Mcp-Session-Id"] = headers["mcp-session-id"]
        status, _, _ = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert status == 202


class Socket:
    """A client over a WebSocket."""

    def __init__(self, url: str) -> None:
        self._ids = itertools.count(1)
        self._stack = contextlib.ExitStack()
        self._socket = self._stack.enter_context(
            websockets.sync.client.connect(
                url.replace("http:", "ws:").removesuffix("/mcp") + "/ws",
                subprotocols=[websockets.Subprotocol("mcp")],
                proxy=None,
                close_timeout=1,
            )
        )
        self.ask("initialize", opening())
        self._socket.send(compact({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    def ask(self, method: str, params: Json) -> Json:
        id_ = f"c{next(self._ids)}"
        self._socket.send(compact(request(id_, method, params)))
        while True:
            answer: Json = json.loads(self._socket.recv(SECONDS))
            if "method" not in answer:
                assert answer["id"] == id_, answer
                return answer

    def close(self) -> None:
        self._stack.close()
