"""What every client asks of the server: one good call per tool, and one bad call."""

from collections.abc import Mapping
from typing import Any

from docgen.examples import EXAMPLES

from qortal_mcp.qortal.tools import TOOLSETS

# Arguments that every tool answers without an error.
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    tool: EXAMPLES.get(tool, {}) for toolset in TOOLSETS.values() for tool in toolset.tools
}

BAD_TOOL = "get_balance"
BAD_ARGUMENTS: Mapping[str, Any] = {"address": "12345"}
BAD_ANSWER = "Invalid Qortal address."

# The height of the sample chain, which never grows.
SAMPLE_HEIGHT = 596
