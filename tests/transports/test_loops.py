"""Which event loop a server runs on: uvloop over HTTP where it is installed, and asyncio's own everywhere else."""

import json
import subprocess
import sys

import pytest
from tests.door import open_program

pytest.importorskip("uvloop")

SERVER = """
import asyncio
from qortal_mcp.server import Server, tool

@tool
async def loop() -> str:
    '''Which loop it runs on.'''
    return type(asyncio.get_running_loop()).__module__.partition('.')[0]

server = Server("loops", tools=[loop])
"""
OVER_HTTP = """
from qortal_mcp.transports.http import HttpApp
from qortal_mcp.transports.serve import bind, run_http
run_http(HttpApp(server), bind("127.0.0.1", 0))
"""
OVER_STDIO = "from qortal_mcp.transports.stdio import serve_stdio\nserve_stdio(server)\n"
HIDDEN = "import sys; sys.modules['uvloop'] = None\n"


@pytest.mark.parametrize(("before", "expected"), [("", "uvloop"), (HIDDEN, "asyncio")])
def test_an_http_server_runs_on_uvloop_where_it_is_installed(before: str, expected: str) -> None:
    with open_program([sys.executable, "-c", before + SERVER + OVER_HTTP]) as door:
        assert door.call("loop")["content"][0]["text"] == expected


def test_a_stdio_server_runs_on_the_loop_that_starts_faster_and_never_loads_the_other() -> None:
    told = "import sys; print('uvloop' in sys.modules, file=sys.stderr)\n"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "loop"}}
    hello = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}},
    }
    done = subprocess.run(
        [sys.executable, "-c", SERVER + OVER_STDIO + told],
        input="".join(json.dumps(message) + "\n" for message in (hello, call)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1])["result"]["content"][0]["text"] == "asyncio"
    assert done.stderr.split() == ["False"]
