"""`watch`: what changes about accounts, names, trades or the chain, shown as it happens."""

from typing import Any

import click

from ..limits import DEFAULT
from ..settings import NodeOptions
from .input.options import SettingsCommand
from .output.events import Lines
from .running import failures
from .running.until_stopped import until_stopped
from .running.watching import KINDS, SYNONYMS, Thing, watch

# The node is always watched, too.
_MOST = DEFAULT.peer_subscriptions - 1


class Kind(click.Choice[str]):
    """What can be watched, also by another word for it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(SYNONYMS.get(value, value), param, ctx)


@click.command(cls=SettingsCommand, groups=(NodeOptions,), asks_once=True)
@click.argument("kind", type=Kind(list(KINDS)), metavar="address|name|trade|chain")
@click.argument("which", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Show one JSON object per line.")
@click.option("--once", is_flag=True, help="End after the first change.")
def command(chain: NodeOptions, kind: str, which: tuple[str, ...], as_json: bool, once: bool) -> int:
    """Show what changes about accounts, names, trades or the chain, as it happens.

    First how each thing is now, as `call` shows it, then one line per change, until Ctrl-C: the time and height of the block, and each member that changed,
    old → new. An address may be a registered name with @ in front, and `account` is another word for `address`. A name that is not registered yet can be watched, too. If the node stops answering, that is said, and watching goes on.

    \b
      qortal-mcp watch address QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v
      qortal-mcp watch name alice bob --json
      qortal-mcp watch trade AYSdZDKhkpafRVm1YzDcrGMo5hBd9qK8uZ --once
      qortal-mcp watch chain

    Exit codes: 0 ended by Ctrl-C or after the change that --once waits for; 2 wrong usage; 3 could not be determined: no
    node answers at the start, or --once on the sample chain, which stands still.
    """
    if (kind == "chain") == bool(which):
        needed = "takes no names" if which else f"needs at least one {kind}"
        raise failures.WrongUsage(f"watch {kind} {needed}.", click.get_current_context())
    if len(which) > _MOST or not all(which):
        raise failures.WrongUsage(f"watch takes up to {_MOST} things, none of them empty.")
    things = [Thing(kind, each) for each in which or ("",)]
    try:
        return until_stopped(watch(chain, things, Lines(as_json=as_json), once=once))
    except KeyboardInterrupt:
        return failures.GOOD
