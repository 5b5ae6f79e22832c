"""`complete`: what a server suggests for an argument of a prompt, or for a part of a resource's address."""

from collections.abc import Sequence
from typing import Any

import click

from ..repairs import values
from .input import typed_arguments
from .input.any_server import GROUPS, takes_server
from .input.forms import one_form
from .input.options import SettingsCommand
from .output import terminal
from .output.any_server import written
from .running.any_server.asking import members_of, result_of
from .running.any_server.chosen import Chosen

# The specification allows 100.
_MOST_VALUES = 1000
_VALUE_CHARS = 1000


@click.command(cls=SettingsCommand, groups=GROUPS, asks_once=True)
@takes_server
@click.argument("kind", type=click.Choice(["prompt", "resource"]))
@click.argument("of", metavar="NAME|URI-TEMPLATE")
@click.argument("argument")
@click.argument("value", default="")
@click.option(
    "--with",
    "given",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another argument that is chosen already; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Show the completion as JSON.")
@click.option("--raw", "as_raw", is_flag=True, help="Show the whole result as JSON.")
def command(
    where: Chosen,
    kind: str,
    of: str,
    argument: str,
    value: str,
    given: Sequence[str],
    as_json: bool,
    as_raw: bool,
) -> None:
    """Show what a server suggests for an argument, one value per line.

    VALUE is what is typed so far; without it, everything is suggested.

    \b
      qortal-mcp complete prompt fee_check type REG --sample
      qortal-mcp complete resource 'qortal://name/{name}' name al --sample

    Exit codes: 0 answered, even with no value; 1 the server answered with an error; 2 wrong usage; 3 could not be
    determined: no server answers.
    """
    one_form(as_json=as_json, as_raw=as_raw)
    chosen = typed_arguments.texts_of(given)
    ref = {"type": "ref/prompt", "name": of} if kind == "prompt" else {"type": "ref/resource", "uri": of}
    params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
    if chosen:
        params["context"] = {"arguments": chosen}
    result = result_of(where, "completion/complete", params)
    if as_raw:
        written.write_json(result)
        return
    completion = members_of(result).get("completion")
    if as_json:
        written.write_json(values.write(completion))
        return
    _show(completion if isinstance(completion, dict) else {})


def _show(completion: dict[str, Any]) -> None:
    found = completion.get("values")
    texts = [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
    for text in texts[:_MOST_VALUES]:
        terminal.write(terminal.one_line(text[:_VALUE_CHARS]))
    total = completion.get("total")
    if isinstance(total, int) and len(texts) < total < 2**63:
        terminal.note(f"{min(len(texts), _MOST_VALUES):,} of {total:,} shown.")
    elif completion.get("hasMore") is True or len(texts) > _MOST_VALUES:
        terminal.note("There are more.")
