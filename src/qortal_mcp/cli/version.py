"""`version`: what this is and which protocol revisions it speaks."""

import click
import msgspec

from .. import __version__
from ..protocol.versions import REVISIONS
from .output import terminal
from .program import PROGRAM


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Show it as a JSON object.")
def command(as_json: bool) -> None:
    """Show the version and the supported protocol revisions."""
    if as_json:
        about = {"name": PROGRAM, "version": __version__, "protocolVersions": list(REVISIONS)}
        terminal.write_json(msgspec.json.encode(about))
    else:
        terminal.write(f"{PROGRAM} {__version__}\nMCP revisions: {', '.join(REVISIONS)}")
