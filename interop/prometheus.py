"""A real Prometheus scrapes a real server: it can read the page, the alerts are valid, and every query of the dashboard has an answer."""

import asyncio
import json
import os
import shutil
import socket
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.metrics.live_node import live_node

from interop.processes import finished, started
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import PROGRAM, listening

_HOME = ROOT / ".interop" / "prometheus"
_CONFIG = ROOT / "deploy" / "prometheus" / "prometheus.yaml"
_ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
_DASHBOARD = ROOT / "deploy" / "grafana" / "qortal-mcp.json"
_INSTALL_SECONDS = 200.0
_TOOL_SECONDS = 60.0
_ANSWER_SECONDS = 90.0
_NOT_HERE = "skipped: Prometheus is not installed, and its Debian package cannot be had here (apt-get download prometheus)"
_CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("get_node_status", {}),
    ("get_node_status", {}),
    ("validate_address", {"address": "x"}),
    ("get_name", {"name": "nobody-has-this-name"}),
    ("unheard-of", {}),
)


@dataclass(frozen=True)
class _Prometheus:
    server: str
    tool: str


async def run_prometheus(programs: Programs) -> str:
    found = await _installed()
    if found is None:
        if os.environ.get("PROMETHEUS") == "required":
            raise Failed(_NOT_HERE)
        return _NOT_HERE
    queries = _queries()
    with live_node() as node, tempfile.TemporaryDirectory() as folder:
        # A rate that the visits below exceed, so that this limit is reached too. Nobody is at the address of the store: its numbers are there.
        more = ("--rate-limit", "20", "--workers", "2", "--cache", "redis://127.0.0.1:1")
        async with listening(str(PROGRAM), "serve", "--node", node, *more) as target:
            base = target.url.removesuffix("/mcp")
            await asyncio.to_thread(_visit, base)
            await _checked(found, base, Path(folder))
            answered = await _scraped(found, base, Path(folder), queries)
    return f"page and {answered} alerts are valid, {len(queries)} queries have values"


async def _installed() -> _Prometheus | None:
    """From the PATH, or unpacked from the Debian package, which needs no rights and starts no service."""
    server, tool = shutil.which("prometheus"), shutil.which("promtool")
    if server and tool:
        return _Prometheus(server, tool)
    programs = _HOME / "usr" / "bin"
    if not (programs / "promtool").exists():
        if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
            return None
        _HOME.mkdir(parents=True, exist_ok=True)
        script = "apt-get download prometheus || { apt-get update && apt-get download prometheus; } && dpkg-deb -x prometheus_*.deb ."
        done = await finished(["sh", "-c", script], seconds=_INSTALL_SECONDS, env=os.environ, cwd=_HOME)
        if done.code != 0:
            return None
    return _Prometheus(str(programs / "prometheus"), str(programs / "promtool"))


def _queries() -> list[str]:
    board = json.loads(_DASHBOARD.read_text(encoding="utf-8"))
    written = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    values = {"$job": ".*", "$instance": ".*", "$__rate_interval": "1m"}
    for name, value in values.items():
        written = [query.replace(name, value) for query in written]
    return written


def _visit(base: str) -> None:
    """Requests of every kind that the dashboard has a panel for."""
    for _ in range(12):
        for name, arguments in _CALLS:
            _post(f"{base}/mcp", "tools/call", {"name": name, "arguments": arguments})
    _post(f"{base}/mcp", "made/up", {})
    _post(f"{base}/mcp", "ping", {}, host="evil.example")


def _post(url: str, method: str, params: dict[str, Any], host: str = "") -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {"content-type": "application/json", **({"host": host} if host else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as reply:
            reply.read()
    except urllib.error.HTTPError as exc:
        exc.close()


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as reply:
        found: bytes = reply.read()
        return found


async def _checked(found: _Prometheus, base: str, folder: Path) -> None:
    """Raises: Failed where Prometheus' own linter objects to the alerts or the page."""
    page = folder / "page.prom"
    page.write_bytes(await asyncio.to_thread(_get, f"{base}/metrics"))
    for command in (
        [found.tool, "check", "config", "--syntax-only", str(_CONFIG)],
        [found.tool, "check", "rules", str(_ALERTS)],
        ["sh", "-c", f'"{found.tool}" check metrics < "{page}"'],
    ):
        done = await finished(command, seconds=_TOOL_SECONDS)
        if done.code != 0:
            raise Failed(f"{' '.join(command)}\n{done.tail()}")


async def _scraped(found: _Prometheus, base: str, folder: Path, queries: list[str]) -> int:
    """How many alerts there are, once every query has a value. Raises: Failed."""
    config = folder / "prometheus.yml"
    config.write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: ['{_ALERTS}']\n"
        "scrape_configs:\n  - job_name: qortal-mcp\n    static_configs:\n"
        f"      - targets: ['{base.removeprefix('http://')}']\n"
    )
    port = _free_port()
    command = [
        found.server,
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    async with started(command) as child:
        try:
            return await _answered(f"http://127.0.0.1:{port}/api/v1", base, queries)
        except Failed as exc:
            raise Failed(f"{exc}\n{(await child.wait(0)).tail()}") from None


async def _answered(api: str, base: str, queries: list[str]) -> int:
    left: list[str] = queries
    rules: list[Any] = []
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            while left or not rules or any(rule["health"] != "ok" for rule in rules):
                await asyncio.to_thread(_visit, base)  # rates need numbers that grow
                left = [query for query in left if not await asyncio.to_thread(_value, api, query)]
                rules = await asyncio.to_thread(_rules, api)
    except TimeoutError:
        wrong = [f"{rule['name']}: {rule.get('lastError', rule['health'])}" for rule in rules]
        raise Failed("\n".join(["no value for:", *left, "rules:", *wrong])) from None
    return len(rules)


def _value(api: str, query: str) -> bool:
    """Whether a query has a value now. Raises: Failed if Prometheus does not understand it."""
    try:
        found = json.loads(_get(f"{api}/query?{urllib.parse.urlencode({'query': query})}"))
    except urllib.error.HTTPError as exc:
        with exc:
            if exc.code == 503:  # it listens, and is still reading its storage
                return False
            raise Failed(f"{query}\n{exc.read().decode()}") from None
    except OSError:
        return False  # it is still starting
    return bool(found["data"]["result"])


def _rules(api: str) -> list[Any]:
    try:
        groups = json.loads(_get(f"{api}/rules"))["data"]["groups"]
    except OSError:
        return []
    return [rule for group in groups for rule in group["rules"]]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
