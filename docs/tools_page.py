"""docs/tools.md and the table of tools: every tool as clients see it, with an example that was really made."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from qortal_mcp.cli.inside import ask
from qortal_mcp.cli.values import as_arguments
from qortal_mcp.qortal.manifest import listed_tools
from qortal_mcp.qortal.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS
from qortal_mcp.server.dispatch import Server

from . import schemas
from .examples import EXAMPLES
from .markdown import code, table

# Members that every answer from a node may have; described once.
_COMMON = ("asOf", "page", "notes")

_HEAD = """\
# Tools

All of them only read. Arguments that a tool does not know are refused with the ones it does; a `limit` above its
maximum is lowered, and a note says so. The examples are answers of the sample chain (`--sample`).

Answers from a node also have these members:

- `asOf`: the node, and the height and time of its newest block when the answer was read.
- `page`, in lists: how many records are `returned`, and in `next` the complete arguments of the call that goes on.
- `notes`, where there is something to say: a lowered limit, a look-alike name, sample data.
"""


class NoExample(Exception):
    """A tool whose example call fails; the text says which and why."""


def page() -> str:
    node = Node.sample()
    server = make_server(node, toolsets="all")
    tools = {tool["name"]: tool for tool in listed_tools(server)}
    parts = [_HEAD]
    for name, toolset in TOOLSETS.items():
        default = "" if toolset.is_default else f" (off by default: `--toolsets +{name}`)"
        parts.append(f"## Toolset {name}{default}\n")
        parts += [_tool(server, tools[tool]) for tool in toolset.tools]
    return "\n".join(parts)


def _rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool with the name of its toolset, marked where that is off by default."""
    tools = {tool["name"]: tool for tool in listed_tools(make_server(Node.sample(), toolsets="all"))}
    for name, toolset in TOOLSETS.items():
        for tool in toolset.tools:
            yield name if toolset.is_default else f"{name}, off", tools[tool]


def tools_table() -> str:
    """One line a tool."""
    rows = [(code(tool["name"]), toolset, _sentence(tool["description"])) for toolset, tool in _rows()]
    return table(["tool", "toolset", "what it is for"], rows)


def catalogue() -> str:
    """One line a tool: its arguments, required ones marked, and the fields of its answer."""
    rows = [
        (
            toolset,
            code(tool["name"]),
            _arguments(tool["inputSchema"]),
            ", ".join(code(name) for name in _own_fields(tool["outputSchema"])),
        )
        for toolset, tool in _rows()
    ]
    return table(["toolset", "tool", "arguments (! required)", "answer"], rows)


def _arguments(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(code(name) + ("!" if name in required else "") for name in schema["properties"])


def _own_fields(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in schema["properties"].items() if name not in _COMMON}


def _sentence(text: str) -> str:
    """The first sentence; the abbreviation in `(files...)` does not end one."""
    words = " ".join(text.split())
    return words.partition(". ")[0].rstrip(".") + "."


def _tool(server: Server, tool: dict[str, Any]) -> str:
    arguments = [
        (code(n), kind, default, words) for n, kind, default, words in schemas.arguments(tool["inputSchema"])
    ]
    output = tool["outputSchema"]
    own = {**output, "properties": _own_fields(output)}
    fields = [(code(path), kind, words) for path, kind, words in schemas.fields(own)]
    return "\n".join(
        [
            f"### {tool['name']}\n",
            " ".join(tool["description"].split()) + "\n",
            table(["argument", "takes", "default", "meaning"], arguments) if arguments else "No arguments.\n",
            table(["field of the answer", "type", "meaning"], fields),
            _example(server, tool["name"]),
        ]
    )


def _example(server: Server, name: str) -> str:
    arguments = EXAMPLES.get(name, {})
    response = asyncio.run(ask(server, "tools/call", {"name": name, "arguments": arguments}))
    if response.error is not UNSET:
        raise NoExample(f"the example of {name} in docs/examples.py fails: {response.error.message}")
    result = msgspec.json.decode(response.result)
    if result["isError"]:
        raise NoExample(f"the example of {name} in docs/examples.py fails: {result['content'][0]['text']}")
    command = f"qortal-mcp call {name} {as_arguments(arguments)}".rstrip() + " --sample --json"
    answer = msgspec.json.format(msgspec.json.encode(result["structuredContent"]), indent=2).decode()
    return f"```sh\n{command}\n```\n\n```json\n{answer}\n```\n"
