"""docs/tools.md and the table of toolsets: every tool in short, with an example that was really made."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from qortal_mcp.cli.output import schemas
from qortal_mcp.cli.output.values import as_arguments
from qortal_mcp.cli.running.own_server import ask_server
from qortal_mcp.qortal.manifest import listed
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS
from qortal_mcp.server.dispatch import Server

from .errors_table import errors_table
from .examples import EXAMPLES
from .json_lines import lines
from .markdown import code, table

_HEAD = """\
# Tools

All of them only read. Arguments that a tool does not know are refused with the ones it does; a `limit` above its
maximum is lowered, and a note says so. An address may be written as `@` and a registered name. Times are taken in ISO 8601, in
milliseconds, or as `24h`, `7d`, `2w`, `1y`: so long before the newest block. A field marked with `?` is
optional. `qortal-mcp tools TOOL` shows the type of every field; `tools/list` and `qortal-mcp tools --json` give the
schemas.

Answers from a node also have these members; a tool that asks no node, such as `validate_address`, has none of them. The
examples, answers of the sample chain (`--sample`), leave them out:

"""

_ERRORS = """\
A tool that failed answers `isError: true` and a sentence; `_meta["qortal-mcp/error"]` holds `code` and `retryable`:

"""

_BESIDE = """\
## Resources and prompts

Clients that attach what they read find the same answers by address. Connections that can subscribe hear of each new block with
`qortal://node`, and of each change of an account, a name or a trade with its address; `qortal-mcp watch` shows these changes in a terminal. Prompts are questions ready to ask. Names, chains, services and types of transactions are completed.

"""


class NoExample(Exception):
    """A tool whose example call fails; the text says which and why."""

    def __init__(self, tool: str, why: str) -> None:
        where = (
            "its call in docgen/examples.py fails"
            if tool in EXAMPLES
            else "it needs a call in docgen/examples.py"
        )
        super().__init__(f"there is no example of {tool}: {where} ({why.rstrip('.')})")


def page() -> str:
    node = Node.sample()
    server = make_server(node, toolsets="all")
    tools = {tool["name"]: tool for tool in listed(server, "tools")}
    parts = [_HEAD + "".join(f"- `{name}`: {meaning}\n" for name, meaning in schemas.COMMON.items())]
    for name, toolset in TOOLSETS.items():
        default = "" if toolset.is_default else f" (off by default: `--toolsets +{name}`)"
        parts.append(f"## Toolset {name}{default}\n")
        parts += [_tool(server, tools[tool]) for tool in toolset.tools]
    parts.insert(1, _ERRORS + errors_table())
    parts.append(_BESIDE + beside_table())
    return "\n".join(parts)


def tools_table() -> str:
    """One line per toolset: its tools, whose names say what they are for."""
    rows = [
        (name if toolset.is_default else f"{name}, off", ", ".join(code(tool) for tool in toolset.tools))
        for name, toolset in TOOLSETS.items()
    ]
    return table(["toolset", "tools"], rows)


def beside_table() -> str:
    """One line for each resource and prompt."""
    server = make_server(Node.sample())
    prompts = listed(server, "prompts")
    rows = [
        *((code(one["uri"]), one["description"]) for one in listed(server, "resources")),
        *((code(one["uriTemplate"]), one["description"]) for one in listed(server, "resourceTemplates")),
        *((f"prompt {code(one['name'])}{_takes(one)}", one["description"]) for one in prompts),
    ]
    return table(["what", "for"], [(name, " ".join(words.split())) for name, words in rows])


def _takes(prompt: dict[str, Any]) -> str:
    names = [code(argument["name"]) for argument in prompt.get("arguments", ())]
    return f" of {', '.join(names)}" if names else ""


def _tool(server: Server, tool: dict[str, Any]) -> str:
    arguments = [
        (code(n), kind, default, words) for n, kind, default, words in schemas.arguments(tool["inputSchema"])
    ]
    return "\n".join(
        [
            f"### {tool['name']}\n",
            " ".join(tool["description"].split()) + "\n",
            table(["argument", "takes", "default", "meaning"], arguments) if arguments else "No arguments.\n",
            _answer(schemas.without_common(tool["outputSchema"])),
            _example(server, tool["name"]),
        ]
    )


def _answer(schema: Mapping[str, Any]) -> str:
    """The fields that need no words in one line, and one line for each of the others."""
    fields = list(_fields(schema))
    plain = ", ".join(name for name, words in fields if not words)
    described = "".join(f"- {name}: {words}.\n" for name, words in fields if words)
    return "\n".join(part for part in (f"Answer: {plain}.\n" if plain else "Answer:\n", described) if part)


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each field with what is to be said of it: its meaning, and the fields within it."""
    required = schema.get("required", ())
    for name, part in schema["properties"].items():
        inside = part if "properties" in part else part.get("items", {})
        words = [part["description"].removesuffix(".")] if "description" in part else []
        if "properties" in inside:
            each = "list of " if inside is not part else ""
            words.append(each + ", ".join(f"{n} ({w})" if w else n for n, w in _fields(inside)))
        yield code(name if name in required else f"{name}?"), "; ".join(words)


def _example(server: Server, name: str) -> str:
    arguments = EXAMPLES.get(name, {})
    response = asyncio.run(ask_server(server, "tools/call", {"name": name, "arguments": arguments}))
    if response.error is not UNSET:
        raise NoExample(name, response.error.message)
    result = msgspec.json.decode(response.result)
    if result["isError"]:
        raise NoExample(name, result["content"][0]["text"])
    command = f"qortal-mcp call {name} {as_arguments(arguments)}".rstrip() + " --sample --json"
    answer = result["structuredContent"]
    own = {member: value for member, value in answer.items() if member not in schemas.COMMON}
    return f"```console\n$ {command}\n{lines(own, depth=2)}```\n"
