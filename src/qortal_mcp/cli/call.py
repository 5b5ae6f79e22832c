"""`call`: one tool, once, from a terminal or a script."""

from collections.abc import Sequence
from typing import Any

import click
import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..protocol.errors import ErrorObject
from ..qortal.node.failures import NotANode
from ..qortal.server import ERROR_KEY
from ..server.dispatch import Server
from ..settings import NodeOptions
from ..text import visible
from .input import call_arguments, completion
from .input.any_server import GROUPS, names_server, one_form, takes_server
from .input.options import SettingsCommand
from .input.toolsets import switching_on, text_arguments, tool_named, toolset_of
from .output import terminal, view
from .program import PROGRAM, unknown_tool
from .running import failures
from .running.any_server.chosen import Chosen, OtherServer
from .running.any_server.refusals import OPEN_CODES
from .running.own_server import ask


class Block(Struct, frozen=True):
    """A content block. Ours are all text."""

    text: str = ""


class Result(Struct, frozen=True):
    """What this command reads of a `tools/call` result."""

    content: list[Block]
    structuredContent: Raw | UnsetType = UNSET
    isError: bool = False
    meta: dict[str, Any] = msgspec.field(name="_meta", default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.content)

    @property
    def exit_code(self) -> int:
        if not self.isError:
            return failures.GOOD
        code = self.meta.get(ERROR_KEY, {}).get("code")
        is_open = code in OPEN_CODES or (code == "NODE_ERROR" and NotANode.fact in self.text)
        return failures.UNDETERMINED if is_open else failures.BAD


class CallCommand(SettingsCommand):
    """A command whose help is about one tool if a tool is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # --help is handled before arguments are parsed, so they are kept here for it.
        is_about_tool = bool(args) and not args[0].startswith("-") and not names_server(args)
        ctx.obj = args[0] if is_about_tool else None
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.obj is None:
            super().format_help(ctx, formatter)
            return
        from .output.tool_detail import detail, usage
        from .tools import one

        tool = one(ctx.obj)
        formatter.write_usage(f"{PROGRAM} call", f"{usage(tool)} [OPTIONS]")
        formatter.write_paragraph()
        formatter.write(detail(tool, f"toolset {toolset_of(tool['name'])}", formatter.width, view.PLAIN))
        formatter.write(f"\n\nFor the options see {PROGRAM} call --help.\n")


@click.command(cls=CallCommand, groups=GROUPS, asks_once=True)
@takes_server
@click.argument("tool", shell_complete=completion.tools)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=completion.arguments)
@click.option("--args", "whole", metavar="JSON", help="Arguments as one JSON object.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Show the structured answer as JSON; the content if there is none.",
)
@click.option("--raw", "as_raw", is_flag=True, help="Show the whole result as JSON, errors included.")
def command(
    where: Chosen, tool: str, arguments: Sequence[str], whole: str | None, as_json: bool, as_raw: bool
) -> int:
    """Call one tool and show its answer.

    A VALUE is read as JSON if possible, otherwise as text; always as text if the tool takes only text. For the arguments of a TOOL, add --help after its name; with --server, see qortal-mcp tools TOOL --server TARGET.

    \b
      qortal-mcp call get_block height=298 --sample
      qortal-mcp call get_name name=alice-test --sample
      qortal-mcp call search_transactions types='["PAYMENT"]' limit=1 --sample
      qortal-mcp call get_block height=298 --server 'qortal-mcp stdio --sample'

    Exit codes: 0 answered; 1 the tool answered with an error, wrong arguments included; 2 wrong usage; 3 could not be
    determined: the server or the node is unreachable, refuses, is too slow or synchronizing.
    """
    one_form(as_json=as_json, as_raw=as_raw)
    if isinstance(where, OtherServer):
        from .running.any_server.calling import call

        return call(where, tool, arguments, whole, as_json=as_json, as_raw=as_raw)
    chain = where.chain
    params = {"name": tool, "arguments": call_arguments.read(arguments, whole, text_arguments(tool))}
    server, response = ask(chain, "tools/call", params, where.revision)
    if response.error is not UNSET:
        raise _refused(server, chain, tool, response.error)
    if as_raw:
        terminal.write_json(bytes(response.result))
        return msgspec.json.decode(response.result, type=Result).exit_code
    return _show(response.result, as_json)


def _show(raw: Raw, as_json: bool) -> int:
    result = msgspec.json.decode(raw, type=Result)
    if result.isError:
        kind = failures.Bad if result.exit_code == failures.BAD else failures.Undetermined
        raise kind(visible(result.text))
    if result.structuredContent is UNSET:
        terminal.write(visible(result.text))
    elif as_json:
        terminal.write_json(bytes(result.structuredContent))
    else:
        palette = view.COLOURED if terminal.has_colours() else view.PLAIN
        value = msgspec.json.decode(result.structuredContent)
        terminal.write(view.answer(value, terminal.width(), palette))
    return failures.GOOD


def _refused(server: Server, chain: NodeOptions, tool: str, error: ErrorObject) -> click.ClickException:
    catalogue = server.catalogue
    if catalogue.tool(tool) is not None:
        return failures.WrongUsage(visible(error.message))
    toolset = toolset_of(tool_named(tool))
    if toolset is not None:
        how = switching_on(toolset, chain.toolsets)
        return failures.NoSuchTool(
            f"The tool {tool} is off, as its toolset {toolset} is off. Turn it on with {how}."
        )
    return failures.NoSuchTool(unknown_tool(tool, [*catalogue.tools, *catalogue.tool_aliases]))
