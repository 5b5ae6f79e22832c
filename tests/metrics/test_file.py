"""`--metrics-file`: the same numbers in a file, for servers that nobody can connect to."""

import os
import stat
from pathlib import Path

import pytest
from tests.cli.running import INITIALIZE, message, run

from qortal_mcp.metrics import Metrics
from qortal_mcp.metrics.file import MetricsFile
from qortal_mcp.metrics.names import IN_FLIGHT

from .prometheus import number

COUNT = "mcp_server_operation_duration_seconds_count"
TALK = INITIALIZE + message(2, "tools/call", {"name": "validate_address", "arguments": {"address": "x"}})


@pytest.mark.promise(
    "Operations", "`--metrics-file` writes the metrics of a server on stdio to a file, whole or not at all."
)
def test_a_server_on_stdio_leaves_its_numbers_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "desk.prom"
    path.write_text("what an earlier run wrote")
    ended = run("stdio", "--sample", "--metrics-file", str(path), stdin=TALK)
    assert ended.code == 0
    labels = {"mcp_protocol_version": "2025-11-25", "network_transport": "pipe", "file": "desk"}
    page = path.read_text()
    assert number(page, COUNT, mcp_method_name="initialize", **labels) == 1
    tool = {"mcp_method_name": "tools/call", "gen_ai_tool_name": "validate_address"}
    assert number(page, COUNT, **tool, **labels) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(tmp_path) == ["desk.prom"]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        pytest.param("absent/desk.prom", "its folder does not exist", id="no-folder"),
        pytest.param("folder.prom", "it is not a file", id="a-folder"),
        pytest.param("desk.txt", "must name a file that ends with .prom", id="other-ending"),
    ],
)
@pytest.mark.parametrize("command", ["stdio", "serve"])
def test_a_file_that_cannot_be_written_is_refused_at_the_start(
    tmp_path: Path, name: str, complaint: str, command: str
) -> None:
    (tmp_path / "folder.prom").mkdir()
    ended = run(command, "--sample", "--metrics-file", str(tmp_path / name), stdin=TALK)
    assert ended.code == 2
    assert "--metrics-file" in ended.err
    assert complaint in ended.err


async def test_a_folder_that_vanishes_is_reported_once_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "mounted"
    folder.mkdir()
    metrics = Metrics()
    metrics.show(IN_FLIGHT, lambda: 3)
    async with MetricsFile(folder / "desk.prom", metrics) as _:
        folder.rmdir()
    assert [record.getMessage() for record in caplog.records] == ["cannot write the metrics file"]
