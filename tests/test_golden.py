"""What clients see of each tool, and every limit, changes only in a reviewed diff of the file that holds it."""

import json
from pathlib import Path

import msgspec
import pytest

from qortal_mcp.limits import Limits
from qortal_mcp.qortal import tools
from qortal_mcp.qortal.limits import NodeLimits

TOOLS = {tool.name: tool for tool in tools.load(tuple(tools.TOOLSETS))}
SEEN = json.loads(Path(tools.__file__).with_name("definitions.json").read_text(encoding="utf-8"))
LIMITS = Path(__file__).parent / "golden" / "limits.json"


@pytest.mark.promise("Tools and their results", "What a client sees of a tool changes only on purpose.")
@pytest.mark.promise(
    "Data of the chain", "A QDN search gives 10 results unless told otherwise, and never more than 20."
)
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_looks_as_it_did(name: str) -> None:
    assert name in SEEN, "run scripts/docs and look at the difference in definitions.json"
    assert SEEN[name] == msgspec.to_builtins(TOOLS[name].definition)


def test_the_file_of_tools_names_each_of_them_in_its_place() -> None:
    assert list(SEEN) == list(TOOLS)


@pytest.mark.promise("Limits and abuse", "No limit is raised by accident.")
def test_no_limit_has_grown() -> None:
    """Raising one is possible, but only with its line in the file."""
    now = {
        **{f"server.{name}": value for name, value in msgspec.structs.asdict(Limits()).items()},
        **{f"node.{name}": value for name, value in msgspec.structs.asdict(NodeLimits()).items()},
    }
    known = json.loads(LIMITS.read_text(encoding="utf-8"))
    assert known.keys() == now.keys()
    assert {name: value for name, value in now.items() if value > known[name]} == {}
