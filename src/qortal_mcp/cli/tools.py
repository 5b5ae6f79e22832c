"""`tools`: which tools there are, and how many tokens they cost a model."""

from typing import Any

import click
import msgspec
from msgspec import UNSET

from .. import tokens
from ..qortal.tools import TOOLSETS, definitions, select
from .input import completion
from .input.any_server import GROUPS, takes_server
from .input.options import SettingsCommand
from .input.toolsets import switching_on, tool_named, toolset_of
from .output import terminal, view
from .output.any_server.offers import signature
from .output.tool_detail import detail
from .program import unknown_tool
from .running import failures
from .running.any_server.chosen import Chosen, OtherServer, OwnServer
from .running.own_server import Response, ask


@click.command(cls=SettingsCommand, groups=GROUPS, asks_once=True)
@takes_server
@click.argument("tool", required=False, shell_complete=completion.tools)
@click.option("--json", "as_json", is_flag=True, help="Show the tools/list result, or the one tool, as JSON.")
@click.option(
    "--tokens", "as_tokens", is_flag=True, help="Show how many tokens each tool takes, and the total."
)
def command(where: Chosen, tool: str | None, as_json: bool, as_tokens: bool) -> None:
    """List the tools, or show one of them in full.

    The list is grouped by toolset; --toolsets turns them on and off. With the name of a TOOL: its arguments with
    type, default, range and meaning, and the fields of its answer.

    \b
      qortal-mcp tools
      qortal-mcp tools get_block
      qortal-mcp tools --server 'qortal-mcp stdio --sample'

    Tokens are counted as o200k if the package `tiktoken` and its table are installed, otherwise estimated and
    marked with ~.
    """
    if as_json and as_tokens:
        raise failures.WrongUsage("--json and --tokens cannot be combined; give one of them.")
    palette = view.palette()
    if isinstance(where, OtherServer):
        from .running.any_server.listing import show_tools

        show_tools(where, tool, as_json=as_json, weighed=_weighed if as_tokens else None)
        return
    if tool is not None:
        _show_one(where, tool, as_json, as_tokens, palette)
        return
    response = _response(where)
    if as_json:
        terminal.write_json(bytes(response.result))
        return
    tools = msgspec.json.decode(response.result)["tools"]
    terminal.write(_weighed(tools, palette) if as_tokens else _listed(tools, where.chain.toolsets, palette))


def _response(where: OwnServer) -> Response:
    _, response = ask(where.chain, "tools/list", {}, where.revision)
    assert response.error is UNSET, "a list without a cursor is always answered"
    return response


def _show_one(where: OwnServer, name: str, as_json: bool, as_tokens: bool, palette: view.Palette) -> None:
    _response(where)  # the chosen toolsets must exist, even if they do not matter here
    found = one(name)
    if as_json:
        terminal.write_json(msgspec.json.encode(found))
    elif as_tokens:
        terminal.write(_weighed([found], palette))
    else:
        remark = _remark(found["name"], where.chain.toolsets)
        terminal.write(detail(found, remark, terminal.width(), palette))


def one(name: str) -> dict[str, Any]:
    """The definition of a tool, whether or not its toolset is on; also by an old name.

    Raises: NoSuchTool.
    """
    known = {tool["name"]: tool for tool in definitions(tuple(TOOLSETS))}
    meant = tool_named(name)
    if meant not in known:
        raise failures.NoSuchTool(unknown_tool(name, known))
    return known[meant]


def _remark(tool: str, chosen: str) -> str:
    """Which toolset a tool belongs to, and how to turn it on if it is off."""
    toolset = toolset_of(tool)
    assert toolset is not None, "every tool belongs to one"
    if toolset in select(chosen):
        return f"toolset {toolset}"
    return f"toolset {toolset}, off: {switching_on(toolset, chosen)}"


def _listed(tools: list[dict[str, Any]], chosen: str, palette: view.Palette) -> str:
    """The toolsets: each tool with its arguments and the first sentence about it, or just its name if it is off."""
    by_name = {tool["name"]: tool for tool in tools}
    width = terminal.width()
    lines: list[str] = []
    for name, toolset in TOOLSETS.items():
        if lines:
            lines.append("")
        if toolset.tools[0] in by_name:
            lines.append(palette.heading(name))
            for tool in toolset.tools:
                lines += _in_short(by_name[tool], width, palette)
        else:
            how = palette.quiet(f"(off: {switching_on(name, chosen)})")
            lines += [f"{palette.heading(name)} {how}"]
            lines += [f"  {line}" for line in terminal.wrapped(", ".join(toolset.tools), width - 2)]
    return "\n".join([*lines, "", palette.quiet("qortal-mcp tools TOOL shows one in full.")])


def _in_short(tool: dict[str, Any], width: int, palette: view.Palette) -> list[str]:
    schema = tool["inputSchema"]
    arguments = [_argument(name, schema) for name in schema["properties"]]
    about = terminal.wrapped(_first_sentence(tool["description"]), width - 6)
    return [*signature(tool["name"], arguments, width, palette), *(f"      {line}" for line in about)]


def _argument(name: str, schema: dict[str, Any]) -> str:
    return name if name in schema.get("required", ()) else f"[{name}]"


def _first_sentence(text: str) -> str:
    sentence, dot, _ = " ".join(text.split()).partition(". ")
    return sentence + dot.strip()


def _weighed(tools: list[dict[str, Any]], palette: view.Palette) -> str:
    counter = tokens.best_counter()
    counted = {tool["name"]: counter.count(tokens.as_read(tool)) for tool in tools}
    rows = {**counted, f"total of {len(tools)}": sum(counted.values())}
    names = max(len(name) for name in rows)
    figures = max(len(counter.written(count)) for count in rows.values())
    lines = [
        f"{palette.name(name.ljust(names))}  {counter.written(n).rjust(figures)}" for name, n in rows.items()
    ]
    how = (
        f"Tokens by {tokens.ENCODING}."
        if counter.is_exact
        else f"Tokens are estimated at {tokens.CHARS_PER_TOKEN} characters each; install the package tiktoken to count them."
    )
    return "\n".join([*lines, palette.quiet(how)])
