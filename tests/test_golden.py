"""What a client sees of each tool changes only in a reviewed diff: UPDATE_GOLDEN=1 writes the files anew."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from qortal_mcp.limits import Limits
from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.tools import TOOLSETS, load

FOLDER = Path(__file__).parent / "golden" / "tools"
TOOLS = {tool.name: tool for tool in load(tuple(TOOLSETS))}


@pytest.mark.promise("Tools and their results", "What a client sees of a tool changes only on purpose.")
@pytest.mark.promise(
    "Data of the chain", "A QDN search gives 10 results unless told otherwise, and never more than 20."
)
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_looks_as_it_did(name: str) -> None:
    seen = json.dumps(msgspec.to_builtins(TOOLS[name].definition), indent=1, ensure_ascii=False) + "\n"
    file = FOLDER / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(seen, encoding="utf-8")
    assert file.exists(), "run this test with UPDATE_GOLDEN=1 and look at the difference"
    assert file.read_text(encoding="utf-8") == seen


def test_no_golden_file_is_left_over() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(TOOLS)


@pytest.mark.promise("Limits and abuse", "No limit is raised by accident.")
def test_no_limit_has_grown() -> None:
    """Raising one is possible, but only in a reviewed difference of the file."""
    now = {
        **{f"server.{name}": value for name, value in msgspec.structs.asdict(Limits()).items()},
        **{f"node.{name}": value for name, value in msgspec.structs.asdict(NodeLimits()).items()},
    }
    file = FOLDER.parent / "limits.json"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    known = json.loads(file.read_text(encoding="utf-8"))
    assert known.keys() == now.keys()
    assert {name: value for name, value in now.items() if value > known[name]} == {}
