"""Servers that are not ours, as a command line names them with --server. Loopback only."""

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bridge.scripts import HANDSHAKE, Script, result, serving, text
from tests.bridge.standins import Loop, Serve, StandIn, standing_in

ROOT = Path(__file__).parents[2]
# Offers everything there is.
EVERYTHING = shlex.join([sys.executable, str(ROOT / "examples" / "everything.py")])
# Our own server as a stranger would start it.
OURS = shlex.join([sys.executable, "-m", "qortal_mcp", "stdio", "--sample"])

NOTING = ROOT / "tests" / "bridge" / "noting.py"

# Each command, as `offering` answers it.
COMMAND_LINES = [
    ["tools"],
    ["call", "greet", "name=Ada"],
    ["read", "memo:1"],
    ["prompt", "ask"],
    ["complete", "prompt", "ask", "whom"],
]
EACH_COMMAND = [pytest.param(words, id=words[0]) for words in COMMAND_LINES]
NAMED = {
    "name": "greet",
    "description": "Greets somebody. And more.",
    "inputSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["name"],
    },
    "annotations": {"readOnlyHint": True},
}
ALL = {**HANDSHAKE, "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}}


def offering(**methods: Any) -> Script:
    """A right server that has one of each thing."""
    said: dict[str, Any] = {
        "resources__list": [result({"resources": [{"uri": "memo:1", "name": "memo"}]})],
        "resources__read": [result({"contents": [{"uri": "memo:1", "text": "remember"}]})],
        "prompts__list": [result({"prompts": [{"name": "ask", "arguments": [{"name": "whom"}]}]})],
        "prompts__get": [
            result({"messages": [{"role": "user", "content": {"type": "text", "text": "Who?"}}]})
        ],
        "completion__complete": [result({"completion": {"values": ["Ada", "Bob"]}})],
    }
    return serving({"greet": [text("Hello.")]}, entries=[NAMED], handshake=ALL, **{**said, **methods})


def noting(folder: Path) -> str:
    """A server in a process of its own that does what its tools are called."""
    return shlex.join([sys.executable, str(NOTING), str(folder / "log")])


@contextlib.contextmanager
def other(loop: Loop, serve: Serve, script: Script) -> Iterator[tuple[str, StandIn]]:
    """A stand-in, and what follows --server."""
    with standing_in(loop, serve, script) as stand_in:
        first, *rest = stand_in.target
        yield (shlex.join(rest) if first == "--" else first), stand_in
