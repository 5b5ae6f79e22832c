"""docs/tools.md and the table of tools: every tool as clients see it, with an example that was really made."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from qortal_mcp.cli.output import schemas
from qortal_mcp.cli.output.values import as_arguments
from qortal_mcp.cli.running.own_server import ask_server
from qortal_mcp.qortal.manifest import listed_tools, manifest
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS
from qortal_mcp.server.dispatch import Server

from .errors_table import errors_table
from .examples import EXAMPLES
from .markdown import code, table

_HEAD = """\
# Tools

All of them only read. Arguments that a tool does not know are refused with the ones it does; a `limit` above its
maximum is lowered, and a note says so. Times are taken in ISO 8601 or in milliseconds. The examples are answers of the
sample chain (`--sample`).

Answers from a node also have these members; a tool that asks no node, such as `validate_address`, has none of them:

"""

_ERRORS = """\
A tool that failed answers `isError: true` and a sentence; `_meta["qortal-mcp/error"]` holds `code` and `retryable`:

"""

_BESIDE = """\
## Resources and prompts

Clients that attach what they read find the same answers by address; connections that can subscribe to `qortal://node` hear
of each new block. Prompts are questions ready to ask. Names, chains, services and types of transactions are completed.

"""


class NoExample(Exception):
    """A tool whose example call fails; the text says which and why."""


def page() -> str:
    node = Node.sample()
    server = make_server(node, toolsets="all")
    tools = {tool["name"]: tool for tool in listed_tools(server)}
    parts = [_HEAD + "".join(f"- `{name}`: {meaning}\n" for name, meaning in schemas.COMMON.items())]
    for name, toolset in TOOLSETS.items():
        default = "" if toolset.is_default else f" (off by default: `--toolsets +{name}`)"
        parts.append(f"## Toolset {name}{default}\n")
        parts += [_tool(server, tools[tool]) for tool in toolset.tools]
    parts.insert(1, _ERRORS + errors_table())
    parts.append(_BESIDE + beside_table())
    return "\n".join(parts)


def _rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool with the name of its toolset, marked where that is off by default."""
    tools = {tool["name"]: tool for tool in listed_tools(make_server(Node.sample(), toolsets="all"))}
    for name, toolset in TOOLSETS.items():
        for tool in toolset.tools:
            yield name if toolset.is_default else f"{name}, off", tools[tool]


def tools_table() -> str:
    """One line a toolset: its tools, which tell by their names what they are for."""
    rows = [
        (name if toolset.is_default else f"{name}, off", ", ".join(code(tool) for tool in toolset.tools))
        for name, toolset in TOOLSETS.items()
    ]
    return table(["toolset", "tools"], rows)


def beside_table() -> str:
    """One line for each resource and prompt."""
    told = manifest(make_server(Node.sample()))
    rows = [
        *((code(one["uri"]), one["description"]) for one in told["resources"]),
        *((code(one["uriTemplate"]), one["description"]) for one in told["resourceTemplates"]),
        *((f"prompt {code(one['name'])}{_takes(one)}", one["description"]) for one in told["prompts"]),
    ]
    return table(["what", "for"], [(name, " ".join(words.split())) for name, words in rows])


def _takes(prompt: dict[str, Any]) -> str:
    names = [code(argument["name"]) for argument in prompt.get("arguments", ())]
    return f" of {', '.join(names)}" if names else ""


def catalogue() -> str:
    """One line a tool: its arguments, required ones marked, and the fields of its answer."""
    rows = [
        (
            toolset,
            code(tool["name"]),
            _arguments(tool["inputSchema"]),
            ", ".join(code(name) for name in schemas.without_common(tool["outputSchema"])["properties"]),
        )
        for toolset, tool in _rows()
    ]
    return table(["toolset", "tool", "arguments (! required)", "answer"], rows)


def _arguments(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(code(name) + ("!" if name in required else "") for name in schema["properties"])


def _tool(server: Server, tool: dict[str, Any]) -> str:
    arguments = [
        (code(n), kind, default, words) for n, kind, default, words in schemas.arguments(tool["inputSchema"])
    ]
    own = schemas.without_common(tool["outputSchema"])
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
    response = asyncio.run(ask_server(server, "tools/call", {"name": name, "arguments": arguments}))
    if response.error is not UNSET:
        raise NoExample(f"the example of {name} in docs/examples.py fails: {response.error.message}")
    result = msgspec.json.decode(response.result)
    if result["isError"]:
        raise NoExample(f"the example of {name} in docs/examples.py fails: {result['content'][0]['text']}")
    command = f"qortal-mcp call {name} {as_arguments(arguments)}".rstrip() + " --sample --json"
    answer = msgspec.json.format(msgspec.json.encode(result["structuredContent"]), indent=2).decode()
    return f"```sh\n{command}\n```\n\n```json\n{answer}\n```\n"
