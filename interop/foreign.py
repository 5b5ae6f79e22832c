"""Other people's servers: small ones that we wrote with their libraries, and those they publish as reference.

Each contacts only this machine, and writes only into the folder it is given.
"""

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interop.processes import Finished, bare_environment, finished, started
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import Target

SCRIPTS = ROOT / "interop" / "servers"
LISTENING = "Listening on "
START_SECONDS = 30.0
_GIT_SECONDS = 20.0

Calls = list[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Visited:
    """A server that runs or can be started, with the calls to make."""

    target: Target
    calls: Calls = field(default_factory=list)
    # The whole environment of a command.
    env: Mapping[str, str] = field(default_factory=dict)


# Opens a server in its own folder.
Foreign = Callable[[Programs, Path], AbstractAsyncContextManager[Visited]]


def _on_python(environment: str, script: str, way: str) -> Foreign:
    return _script(lambda programs: [getattr(programs, environment), SCRIPTS / script, way], way)


def _on_typescript(script: str, way: str) -> Foreign:
    return _script(lambda programs: [programs.node, SCRIPTS / script, programs.packages, way], way)


def _script(command: Callable[[Programs], list[str | Path]], way: str) -> Foreign:
    @asynccontextmanager
    async def server(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
        env = bare_environment(folder)
        if way == "stdio":
            yield Visited(Target(command=tuple(map(str, command(programs)))), env=env)
            return
        async with started(command(programs), env=env, cwd=folder) as child:
            yield Visited(Target(url=await child.line(LISTENING, START_SECONDS)))

    return server


def _reference(programs: Programs, name: str) -> list[str | Path]:
    return [programs.node, programs.packages / f"@modelcontextprotocol/server-{name}/dist/index.js"]


_EVERYTHING: Calls = [
    ("echo", {"message": "hello"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-resource-reference", {"resourceType": "Blob", "resourceId": 1}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-sum", {"a": 1, "b": 2}),
    # Without arguments it would fetch a page.
    ("gzip-file-as-resource", {"data": "data:text/plain,hello", "outputType": "resource"}),
    ("trigger-long-running-operation", {"duration": 0.1, "steps": 1}),
]


@asynccontextmanager
async def _everything_stdio(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    yield Visited(
        _command(_reference(programs, "everything")), calls=_EVERYTHING, env=bare_environment(folder)
    )


@asynccontextmanager
async def _everything_http(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    # It does not report its port, so it is given one that was free a moment ago.
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {**bare_environment(folder), "PORT": str(port)}
    command = [*_reference(programs, "everything"), "streamableHttp"]
    async with started(command, env=env, cwd=folder) as child:
        await child.line("MCP Streamable HTTP Server listening on port ", START_SECONDS)
        yield Visited(Target(url=f"http://127.0.0.1:{port}/mcp"), calls=_EVERYTHING)


@asynccontextmanager
async def _memory(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    relation = {"from": "Ada", "to": "Bob", "relationType": "knows"}
    people = [{"name": name, "entityType": "person", "observations": ["tall"]} for name in ("Ada", "Bob")]
    calls: Calls = [
        ("create_entities", {"entities": people}),
        ("create_relations", {"relations": [relation]}),
        ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["old"]}]}),
        ("read_graph", {}),
        ("search_nodes", {"query": "Ada"}),
        ("open_nodes", {"names": ["Ada"]}),
        ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["old"]}]}),
        ("delete_relations", {"relations": [relation]}),
        ("delete_entities", {"entityNames": ["Ada", "Bob"]}),
    ]
    env = {**bare_environment(folder), "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    yield Visited(_command(_reference(programs, "memory")), calls=calls, env=env)


@asynccontextmanager
async def _filesystem(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    room = folder / "room"
    room.mkdir()
    (room / "a.txt").write_text("one\ntwo\n")
    (room / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    text, here = str(room / "a.txt"), {"path": str(room)}
    calls: Calls = [
        ("read_file", {"path": text}),
        ("read_text_file", {"path": text, "head": 1}),
        ("read_media_file", {"path": str(room / "a.png")}),
        ("read_multiple_files", {"paths": [text, str(room / "none")]}),
        ("write_file", {"path": str(room / "b.txt"), "content": "three\n"}),
        ("edit_file", {"path": text, "edits": [{"oldText": "one", "newText": "1"}], "dryRun": True}),
        ("create_directory", {"path": str(room / "inner")}),
        ("list_directory", here),
        ("list_directory_with_sizes", here),
        ("directory_tree", here),
        # It fails: there is nothing to move.
        ("move_file", {"source": str(room / "none"), "destination": str(room / "other")}),
        ("search_files", {**here, "pattern": "*.txt"}),
        ("get_file_info", {"path": text}),
    ]
    command = [*_reference(programs, "filesystem"), room]
    yield Visited(_command(command), calls=calls, env=bare_environment(folder))


@asynccontextmanager
async def _sequential_thinking(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    thought = {"thought": "Count.", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
    yield Visited(
        _command(_reference(programs, "sequential-thinking")),
        calls=[("sequentialthinking", thought)],
        env=bare_environment(folder),
    )


@asynccontextmanager
async def _time(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    calls: Calls = [
        ("get_current_time", {"timezone": "Europe/Berlin"}),
        ("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
    ]
    command: list[str | Path] = [programs.python_servers, "-m", "mcp_server_time"]
    yield Visited(_command(command), calls=calls, env=bare_environment(folder))


@asynccontextmanager
async def _git(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    env = bare_environment(folder)
    for words in (
        ["init", "-q", "-b", "main"],
        ["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        end: Finished = await finished(["git", *words], seconds=_GIT_SECONDS, env=env, cwd=folder)
        if end.code != 0:
            raise Failed(f"git {words[0]} failed\n{end.tail()}")
    here = {"repo_path": str(folder)}
    calls: Calls = [
        ("git_status", here),
        ("git_diff_unstaged", here),
        ("git_diff_staged", here),
        ("git_diff", {**here, "target": "main"}),
        ("git_log", here),
        ("git_show", {**here, "revision": "main"}),
        ("git_branch", {**here, "branch_type": "local"}),
        # It fails: there is no such branch.
        ("git_checkout", {**here, "branch_name": "none"}),
    ]
    command: list[str | Path] = [programs.python_servers, "-m", "mcp_server_git"]
    yield Visited(_command(command), calls=calls, env=env)


@asynccontextmanager
async def _fetch(programs: Programs, folder: Path) -> AsyncIterator[Visited]:
    page = folder / "page.json"
    page.write_text('{"a": 1}')
    web = [programs.python_servers, SCRIPTS / "web.py", page]
    # The page is on this machine, which it refuses otherwise.
    options = ("--ignore-robots-txt", "--allow-private-ips")
    command: list[str | Path] = [programs.python_servers, "-m", "mcp_server_fetch", *options]
    async with started(web, env=bare_environment(folder), cwd=folder) as child:
        url = await child.line(LISTENING, START_SECONDS)
        yield Visited(_command(command), calls=[("fetch", {"url": url})], env=bare_environment(folder))


def _command(words: list[str | Path]) -> Target:
    return Target(command=tuple(map(str, words)))


FOREIGN: dict[str, Foreign] = {
    "python-v1-stdio": _on_python("python_v1", "python_v1.py", "stdio"),
    "python-v1-http": _on_python("python_v1", "python_v1.py", "http"),
    "python-v2-stdio": _on_python("python_v2", "python_v2.py", "stdio"),
    "python-v2-http": _on_python("python_v2", "python_v2.py", "http"),
    "fastmcp-stdio": _on_python("python_servers", "fast_mcp.py", "stdio"),
    "fastmcp-http": _on_python("python_servers", "fast_mcp.py", "http"),
    "typescript-v1-stdio": _on_typescript("typescript_v1.mjs", "stdio"),
    "typescript-v1-http": _on_typescript("typescript_v1.mjs", "http"),
    "typescript-v1-stateless": _on_typescript("typescript_v1.mjs", "stateless"),
    "typescript-v2-stdio": _on_typescript("typescript_v2.mjs", "stdio"),
    "typescript-v2-http": _on_typescript("typescript_v2.mjs", "http"),
    "reference-everything-stdio": _everything_stdio,
    "reference-everything-http": _everything_http,
    "reference-memory": _memory,
    "reference-filesystem": _filesystem,
    "reference-sequential-thinking": _sequential_thinking,
    "reference-time": _time,
    "reference-git": _git,
    "reference-fetch": _fetch,
}
