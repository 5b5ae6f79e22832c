"""`call`: one tool, once, from a terminal or a script."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import click
import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..protocol.errors import ErrorObject
from ..qortal.node.failures import NotANode
from ..qortal.server import ERROR_KEY
from ..repairs import values
from ..server.dispatch import Server
from ..server.input.private_keys import looks_secret
from ..settings import NodeOptions
from ..text import visible
from .input import call_arguments, completion, forms
from .input.any_server import GROUPS, names_server, takes_server
from .input.forms import Form
from .input.options import SettingsCommand
from .input.toolsets import arguments_of, required_of, switching_on, text_arguments, tool_named, toolset_of
from .output import terminal, view
from .program import PROGRAM, unknown_tool
from .running import failures
from .running.any_server.chosen import Chosen, OtherServer, OwnServer
from .running.any_server.refusals import OPEN_CODES
from .running.own_server import opened
from .running.pages import Gathered, ending, gathered
from .running.rows_shown import show_rows


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


def _as_argument(wrong: click.NoSuchOption, words: list[str], known: Collection[str]) -> click.UsageError:
    """An option that does not exist is often an argument of the tool."""
    name = wrong.option_name.lstrip("-").replace("-", "_")
    if name not in known:
        return wrong
    at = next((at for at, word in enumerate(words) if word.partition("=")[0] == wrong.option_name), None)
    value = "VALUE"
    if at is not None:
        _, equals, joined = words[at].partition("=")
        following = words[at + 1 : at + 2]
        given = joined if equals else "".join(following)
        value = given if given and not given.startswith("-") and not looks_secret(given) else value
    return failures.WrongUsage(
        f"{wrong.message} An argument of the tool is written without dashes: {call_arguments.as_typed(f'{name}={value}')}.",
        wrong.ctx,
    )


class CallCommand(SettingsCommand):
    """A command whose help is about one tool if a tool is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # --help is handled before arguments are parsed, so they are kept here for it.
        is_about_tool = bool(args) and not args[0].startswith("-") and not names_server(args)
        ctx.obj = args[0] if is_about_tool else None
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as exc:
            raise _as_argument(exc, words, arguments_of(ctx.obj) if is_about_tool else ()) from None

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
@click.option(
    "--csv",
    "as_csv",
    is_flag=True,
    help="Show the rows of the answer's list as CSV for a spreadsheet; one row if it has no list.",
)
@click.option("--raw", "as_raw", is_flag=True, help="Show the whole result as JSON, errors included.")
@click.option(
    "--list",
    "list_name",
    metavar="NAME",
    help="With --csv: the list to show if the answer has several, such as totals. Default: the one that has pages.",
)
@click.option(
    "--all-pages", is_flag=True, help="Call again for every further page and show all rows as one list."
)
def command(where: Chosen, tool: str, arguments: Sequence[str], whole: str | None, **form: Any) -> int:
    """Call one tool and show its answer.

    A VALUE is read as JSON if possible, otherwise as text; always as text if the tool takes only text. For the arguments of a TOOL, add --help after its name; with --server, see qortal-mcp tools TOOL --server TARGET.

    \b
      qortal-mcp call get_block height=298 --sample
      qortal-mcp call get_name name=alice-test --sample
      qortal-mcp call search_transactions types='["PAYMENT"]' limit=1 --sample
      qortal-mcp call list_trade_offers limit=100 --csv --all-pages --sample
      qortal-mcp call get_block height=298 --server 'qortal-mcp stdio --sample'

    CSV is as RFC 4180 has it: UTF-8, a line of names, lines that end with CR LF. Numbers and texts are exact. A text that
    a spreadsheet would take for a formula (it begins with = + - or @) has an apostrophe in front; a negative number is left as it is.

    Exit codes: 0 answered; 1 the tool answered with an error, wrong arguments included; 2 wrong usage; 3 could not be
    determined: the server or the node is unreachable, refuses, is too slow or synchronizing.
    """
    wanted = Form(**form)
    forms.check(wanted)
    if isinstance(where, OtherServer):
        from .running.any_server.calling import call

        return call(where, tool, arguments, whole, wanted)
    given = call_arguments.read(arguments, whole, text_arguments(tool), required_of(tool))
    found = asyncio.run(_called(where, tool, given, all_pages=wanted.all_pages))
    if wanted.as_raw:
        terminal.write_json(bytes(found.result))
        return msgspec.json.decode(found.result, type=Result).exit_code
    _show(found.result, wanted)
    return ending(found)


async def _called(where: OwnServer, tool: str, given: dict[str, Raw], *, all_pages: bool) -> Gathered:
    async with opened(where.chain, where.revision) as own:

        async def ask(arguments: Any) -> Raw:
            response = await own.ask("tools/call", {"name": tool, "arguments": arguments})
            if response.error is not UNSET:
                raise _refused(own.server, where.chain, tool, response.error)
            return response.result

        return await gathered(ask, given) if all_pages else Gathered(await ask(given))


def _show(raw: Raw, form: Form) -> None:
    result = msgspec.json.decode(raw, type=Result)
    if result.isError:
        kind = failures.Bad if result.exit_code == failures.BAD else failures.Undetermined
        raise kind(visible(result.text))
    if form.as_csv:
        show_rows(values.read(raw), form)
    elif result.structuredContent is UNSET:
        terminal.write(visible(result.text))
    elif form.as_json:
        terminal.write_json(bytes(result.structuredContent))
    else:
        value = msgspec.json.decode(result.structuredContent)
        terminal.write(view.answer(value, view.paper(), view.palette()))


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
    return failures.NoSuchTool(unknown_tool(tool, catalogue.tools, catalogue.tool_aliases))
