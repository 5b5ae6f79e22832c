"""Real agents that `qortal-mcp install` has set up: over stdio, and over HTTP with a token that only a variable holds."""

import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from interop.agents import AGENTS, claude, run_agent, sample
from interop.processes import bare_environment
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import PROGRAM, SAMPLE, Target, listening

_TOKEN = "interop-0123456789abcdef"
_VARIABLE = "QORTAL_MCP_TOKEN"
_INSTALL_SECONDS = 60


@dataclass(frozen=True)
class _Installed:
    """An agent, what install calls it, and the file that it reads in its home."""

    agent: str
    client: str
    file: str
    # What a person adds to the entry: by default Codex begins without the tools of a server that needs more than a second.
    added: str = ""


INSTALLED = {
    "codex": _Installed(
        "codex", "codex", "config.toml", added='required = true\ndefault_tools_approval_mode = "approve"\n'
    ),
    "claude": _Installed("claude", "claude-code", ".claude.json"),
    "gemini": _Installed("gemini", "gemini-cli", ".gemini/settings.json"),
}


async def run_installed(name: str, way: str, programs: Programs) -> str:
    """Lets an agent that install has set up follow the script, and takes the entry out again."""
    row = INSTALLED[name]
    known = AGENTS[row.agent]
    async with _server(way) as words:
        agent = replace(
            known,
            prepare=partial(_prepare, row, known.prepare, words),
            command=claude.own_command if row.agent == "claude" else known.command,
            after=partial(_undo, row),
        )
        seen = await run_agent(agent, programs, Target(), sample.SCRIPT)
    return sample.judge(seen)


@asynccontextmanager
async def _server(way: str) -> AsyncIterator[list[str]]:
    """The options for install."""
    if way == "stdio":
        yield [*SAMPLE]
        return
    env = {**bare_environment(ROOT), _VARIABLE: _TOKEN}
    async with listening(str(PROGRAM), "serve", *SAMPLE, env=env) as target:
        yield ["--http", target.url, "--token"]


def _prepare(
    row: _Installed,
    prepare: Callable[[Path, str, Target], dict[str, str]],
    words: list[str],
    home: Path,
    model: str,
    server: Target,
) -> dict[str, str]:
    variables = {**prepare(home, model, server), _VARIABLE: _TOKEN}
    env = {**bare_environment(home), **variables}
    _run(env, row.client, *words)
    again = _run(env, row.client, *words)
    file = home / row.file
    text = file.read_text(encoding="utf-8")
    if "Nothing to do" not in again or _TOKEN in text:
        raise Failed(f"installed twice:\n{again}\n{text}")
    file.write_text(text + row.added, encoding="utf-8")
    return variables


def _undo(row: _Installed, home: Path, env: Mapping[str, str]) -> None:
    """The agent may have rewritten its file meanwhile, as Claude Code does; a person may have added to the entry."""
    file = home / row.file
    if row.added:
        file.write_text(file.read_text(encoding="utf-8").replace(row.added, ""), encoding="utf-8")
    _run(env, row.client, "--undo")
    if str(PROGRAM) in (text := file.read_text(encoding="utf-8")) or _VARIABLE in text:
        raise Failed(f"still there after --undo:\n{text}")


def _run(env: Mapping[str, str], *words: str) -> str:
    done = subprocess.run(
        [PROGRAM, "install", *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
    )
    if done.returncode != 0:
        raise Failed(f"install {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout
