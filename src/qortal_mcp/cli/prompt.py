"""`prompt`: a prompt of this server or of any other, filled in."""

from collections.abc import Sequence
from typing import Any

import click

from ..repairs import values
from .input import completion, typed_arguments
from .input.any_server import GROUPS, takes_server
from .input.forms import one_form
from .input.options import SettingsCommand
from .output import terminal
from .output.any_server import offers, written
from .program import PROGRAM, unknown
from .running import failures
from .running.any_server.asking import Asker, listed, members_of, result_of, use
from .running.any_server.chosen import Chosen, OwnServer


@click.command(cls=SettingsCommand, groups=GROUPS, asks_once=True)
@takes_server
@click.argument("name", required=False, shell_complete=completion.prompts)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "as_json", is_flag=True, help="Show the messages, or the list, as JSON.")
@click.option("--raw", "as_raw", is_flag=True, help="Show the whole result as JSON.")
def command(where: Chosen, name: str | None, arguments: Sequence[str], as_json: bool, as_raw: bool) -> None:
    """Show a prompt with its arguments filled in, or list the prompts.

    \b
      qortal-mcp prompt --sample
      qortal-mcp prompt name_report name=Bob --sample
      qortal-mcp prompt --server 'qortal-mcp stdio --sample'

    Exit codes: 0 shown; 1 the server answered with an error; 2 wrong usage; 3 could not be determined: no server
    answers.
    """
    one_form(as_json=as_json, as_raw=as_raw)
    if name is None:
        _list(where, as_json or as_raw)
        return
    given = typed_arguments.texts_of(arguments)
    if isinstance(where, OwnServer):
        _check_name(name)
    result = result_of(where, "prompts/get", {"name": name, **({"arguments": given} if given else {})})
    if as_raw:
        written.write_json(result)
    elif as_json:
        written.write_json(values.write(members_of(result).get("messages")))
    else:
        width = terminal.width() if terminal.is_terminal() else None
        terminal.write(offers.messages(members_of(result), written.palette(), width))


def _check_name(name: str) -> None:
    """Raises: NoSuchTool."""
    from ..qortal.prompts import PROMPTS

    known = [prompt.name for prompt in PROMPTS]
    if name not in known:
        raise failures.NoSuchTool(f"{unknown('prompt', name, known)} See {PROGRAM} prompt.")


def _list(where: Chosen, as_json: bool) -> None:
    async def work(asker: Asker) -> list[dict[str, Any]]:
        return await listed(where, asker, "prompts/list", "prompts")

    found = use(where, work)
    if as_json:
        written.write_json(values.write({"prompts": found}))
        return
    palette = written.palette()
    lines = [offers.prompts(found, terminal.width(), palette)]
    if found:
        lines += ["", palette.quiet(f"{PROGRAM} prompt NAME KEY=VALUE…{where.hint} shows one.")]
    terminal.write("\n".join(lines))
