"""We rely on internals of uvicorn. If they are gone, the server still serves, and says what is not limited."""

import subprocess
import sys
import urllib.request

import pytest

from qortal_mcp.transports.bounds import uvicorn_parts

# A uvicorn without one of the names: what an upgrade might bring.
_SERVE_WITHOUT = """
import sys
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
del HttpToolsProtocol.send_400_response
from qortal_mcp.cli.main import main
sys.argv = ["qortal-mcp", "serve", "--sample", "--listen", "127.0.0.1:0", "--log-format", "json"]
main()
"""


def test_the_installed_uvicorn_has_every_part() -> None:
    assert uvicorn_parts.missing() == []


@pytest.mark.parametrize("part", uvicorn_parts.PARTS, ids=lambda part: part.name)
def test_a_part_that_is_gone_is_noticed(monkeypatch: pytest.MonkeyPatch, part: uvicorn_parts.Part) -> None:
    renamed = uvicorn_parts.Part(part.module, part.name, ("no_such_method",), ("no_such_attribute",))
    monkeypatch.setattr(uvicorn_parts, "PARTS", (part, renamed))
    assert uvicorn_parts.missing() == [f"{part.name}.no_such_method", f"{part.name}.no_such_attribute"]


def test_a_server_on_another_uvicorn_serves_and_warns() -> None:
    argv = [sys.executable, "-c", _SERVE_WITHOUT]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = []
            for line in process.stderr:
                said.append(line)
                if "Listening on" in line:
                    break
            address = said[-1].split()[-1].removesuffix("/mcp")
            with urllib.request.urlopen(f"{address}/healthz", timeout=5) as reply:
                assert reply.status == 200
        finally:
            process.terminate()
        assert process.wait(timeout=10) == 0
    assert any("NOT limited" in line and "HttpToolsProtocol.send_400_response" in line for line in said), said
