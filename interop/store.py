"""A real Valkey or Redis server behind two real servers: shared answers, one limit, rubbish, and the store killed under load."""

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cli.running import Listening, environment, listening, run
from tests.qortal.test_tls import CERTIFICATE, KEY
from tests.store.servers import RecordingNode, call, number, two_servers
from valkey import Valkey

from interop.processes import finished
from interop.programs import ROOT, Programs
from interop.runner import Failed

_HOME = ROOT / ".interop" / "store"
_INSTALL_SECONDS = 200.0
_WAIT_SECONDS = 30.0
_PASSWORD = "the-password-of-this-check"
_RATE = 5
_NAME = "/names/alice-test"
_NOT_HERE = "skipped: neither Valkey nor Redis is installed, and their Debian packages cannot be had here (apt-get download redis-server)"
# The server is a link to a file of the tools, and needs a few libraries that not every machine has.
_PACKAGES = (
    "valkey-server valkey-tools libjemalloc2 liblzf1 libatomic1",
    "redis-server redis-tools libjemalloc2 liblzf1 libatomic1",
)


@dataclass(frozen=True)
class _Program:
    path: str
    # Where its libraries are, if they are not the system's.
    libraries: str = ""


async def run_store(programs: Programs) -> str:
    found = await _installed()
    if found is None:
        if os.environ.get("STORE") == "required":
            raise Failed(_NOT_HERE)
        return _NOT_HERE
    return await asyncio.to_thread(_proved, found)


async def _installed() -> _Program | None:
    """From the PATH, or unpacked from a Debian package, which needs no rights and starts no service."""
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return _Program(path)
    if _unpacked() is None and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _HOME.mkdir(parents=True, exist_ok=True)
        tries = " || ".join(f"apt-get download {packages}" for packages in _PACKAGES)
        script = f"{{ {tries} || {{ apt-get update && {{ {tries}; }}; }}; }} && for file in *.deb; do dpkg-deb -x $file . || exit 1; done"
        await finished(["sh", "-c", script], seconds=_INSTALL_SECONDS, env=os.environ, cwd=_HOME)
    return _unpacked()


def _unpacked() -> _Program | None:
    for name in ("valkey-server", "redis-server"):
        if (path := _HOME / "usr" / "bin" / name).exists():
            folders = [str(folder) for folder in (_HOME / "usr" / "lib").glob("*-linux-*")]
            return _Program(str(path), ":".join(folders))
    return None


class _Store:
    """The store as a process that can be killed and started again on the same port."""

    def __init__(self, program: _Program, folder: Path, *, tls: bool = False) -> None:
        self._program = program
        self._folder = folder
        self._tls = tls
        with socket.socket() as probe, socket.socket() as other:
            for each in (probe, other):
                each.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
            self._tls_port: int = other.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"rediss://localhost:{self._tls_port}" if self._tls else f"redis://127.0.0.1:{self.port}"

    def client(self) -> Valkey:
        return Valkey(host="127.0.0.1", port=self.port, password=_PASSWORD, socket_timeout=5)

    def start(self) -> None:
        config = self._folder / "store.conf"
        secured = f"tls-port {self._tls_port}\ntls-cert-file {CERTIFICATE}\ntls-key-file {KEY}\ntls-auth-clients no\n"
        config.write_text(
            f"bind 127.0.0.1\nport {self.port}\nsave ''\nappendonly no\nrequirepass {_PASSWORD}\n"
            f"maxmemory 64mb\nmaxmemory-policy allkeys-lru\ndir {self._folder}\n"
            + (secured if self._tls else "")
        )
        libraries = {"LD_LIBRARY_PATH": self._program.libraries} if self._program.libraries else {}
        process = self._process = subprocess.Popen(
            [self._program.path, str(config)], stdout=subprocess.DEVNULL, env={**os.environ, **libraries}
        )
        _until(lambda: self._answers() or process.poll() is not None, "the store answers")
        if not self._answers():
            raise Failed("the store ended at its start")

    def _answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except Exception:
            return False

    def replies(self) -> int:
        """How many answers it holds."""
        with self.client() as client:
            return sum(b":reply:" in key for key in client.keys("qortal-mcp:*"))

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def _running(program: _Program, *, tls: bool = False) -> Iterator[_Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = _Store(program, Path(folder), tls=tls)
        try:
            store.start()
            yield store
        finally:
            store.kill()


def _proved(program: _Program) -> str:
    env = {"QORTAL_MCP_CACHE_PASSWORD": _PASSWORD}
    with RecordingNode().running() as node, _running(program) as store:
        with two_servers(node, store.url, env=env) as (a, b):
            _shares(store, node, a, b)
            spoilt = _survives_rubbish(node, store, a, b)
        allowed = _limits(node, store, env)
        with two_servers(node, store.url, "--rate-limit", "100000", env=env) as (a, b):
            calls = _survives_death(store, a, b)
        version = _examined(store, env)
        secured = _checks_certificates(program, node, env)
    return f"{version}: shared, {allowed} calls of {2 * _RATE} at once, {spoilt} spoilt values, {calls} calls without a failure around two deaths, {secured}"


def _shares(store: _Store, node: RecordingNode, a: Listening, b: Listening) -> None:
    before = store.replies()
    first = call(a, "get_name", name="alice-test")
    _until(lambda: store.replies() > before, "the answer is written, which happens in the background")
    second = call(b, "get_name", name="alice-test")
    if node.asked.count(_NAME) != 1 or first["structuredContent"] != second["structuredContent"]:
        raise Failed(f"{_NAME} was read {node.asked.count(_NAME)} times by two servers")


def _survives_rubbish(node: RecordingNode, store: _Store, a: Listening, b: Listening) -> int:
    """How many values were spoilt, each in another way. Raises: Failed if one of them is used."""
    for height in range(2, 12):
        call(a, "get_block", height=height)
    time.sleep(0.5)
    with store.client() as client:
        keys = [key for key in client.keys("qortal-mcp:*") if b":reply:" in key]
        for at, key in enumerate(keys):
            value = client.get(key) or b""
            spoilt = [
                b"",
                b"rubbish",
                value[:-1],
                value + b"x",
                value.replace(b"qm1", b"qm2"),
                b"x" * 5_000_000,
            ]
            if at % 7 == 6:
                client.delete(key)
                client.lpush(key, b"a list")
            else:
                client.set(key, spoilt[at % 7])
    before = list(node.asked)
    for height in range(2, 12):
        result = call(b, "get_block", height=height)
        if result["isError"] or result["structuredContent"]["height"] != height:
            raise Failed(f"rubbish in the store reached a caller: {result}")
    if len(node.asked) < len(before) + 10:
        raise Failed("a spoilt value was used")
    return len(keys)


def _limits(node: RecordingNode, store: _Store, env: dict[str, str]) -> int:
    """How many calls both servers allowed. Raises: Failed."""
    words = ("--rate-limit", str(_RATE), "--trusted-proxy", "127.0.0.1")
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "validate_address", "arguments": {"address": "x"}},
    }
    allowed: list[bool] = []
    with two_servers(node, store.url, *words, env=env) as (a, b):

        def ask(server: Listening) -> None:
            for _ in range(20):
                said = server.ask("/mcp", body, {"X-Forwarded-For": "203.0.113.7"})[1]
                allowed.append(b"RATE_LIMITED" not in said)

        began = time.monotonic()
        _side_by_side(lambda: ask(a), lambda: ask(b))
        seconds = time.monotonic() - began
    most = 2 * _RATE + _RATE * seconds + 1
    if not 2 * _RATE <= sum(allowed) <= most:
        raise Failed(
            f"{sum(allowed)} calls were allowed in {seconds:.1f} s, instead of {2 * _RATE} to {most:.0f}"
        )
    return sum(allowed)


def _survives_death(store: _Store, a: Listening, b: Listening) -> int:
    """How many calls were made meanwhile. Raises: Failed if one of them failed."""
    failed: list[object] = []
    stopping = threading.Event()
    calls = [0, 0]

    def load(at: int, server: Listening) -> None:
        while not stopping.is_set():
            calls[at] += 1
            try:
                result = call(server, "get_block", height=calls[at] % 500 + 1)
            except Exception as exc:
                failed.append(repr(exc))
                return
            if result["isError"]:
                failed.append(result)

    def kill_twice() -> None:
        try:
            for _ in range(2):
                time.sleep(1)
                store.kill()
                _until(lambda: not _is_up(a) and not _is_up(b), "both servers know that the store is away")
                store.start()
                _until(lambda: _is_up(a) and _is_up(b), "both servers have found the store again")
        finally:
            stopping.set()

    _side_by_side(lambda: load(0, a), lambda: load(1, b), kill_twice)
    if failed:
        raise Failed(f"{len(failed)} calls failed: {failed[0]}")
    return sum(calls)


def _checks_certificates(program: _Program, node: RecordingNode, env: dict[str, str]) -> str:
    """Raises: Failed if an answer is not shared over TLS, or a certificate that nobody vouches for is believed."""
    node.asked.clear()
    try:
        running = contextlib.ExitStack()
        store = running.enter_context(_running(program, tls=True))
    except Failed:
        return "built without TLS"
    with running:
        with two_servers(node, store.url, env={**env, "SSL_CERT_FILE": str(CERTIFICATE)}) as (a, b):
            _shares(store, node, a, b)
        with listening("serve", "--node", node.url, "--cache", store.url, env=env) as server:
            server.wait_for(lambda said: "the shared store does not answer" in said)
            if call(server, "get_name", name="alice-test")["isError"] or _is_up(server):
                raise Failed("a store that nobody vouches for was believed, or a call failed because of it")
    return "TLS"


def _examined(store: _Store, env: dict[str, str]) -> str:
    """The version that `doctor` finds. Raises: Failed."""
    with tempfile.TemporaryDirectory() as home:
        ended = run(
            "doctor", "--sample", "--json", "--cache", store.url, env=environment({**env, "HOME": home})
        )
    checks = {row["check"]: row for section in ended.json["sections"] for row in section["checks"]}
    wrong = [row for code, row in checks.items() if code.startswith("store-") and row["state"] != "good"]
    if wrong or "store-version" not in checks:
        raise Failed(f"doctor about the store: {wrong or ended.out}")
    return str(checks["store-version"]["says"])


def _is_up(server: Listening) -> bool:
    return number(server, "qortal_mcp_store_up") == 1


def _side_by_side(*works: Callable[[], None]) -> None:
    failed: list[Exception] = []

    def run_one(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as exc:
            failed.append(exc)

    threads = [threading.Thread(target=run_one, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _until(true: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + _WAIT_SECONDS
    while not true():
        if time.monotonic() > ends:
            raise Failed(f"not within {_WAIT_SECONDS:g} s: {what}")
        time.sleep(0.05)
