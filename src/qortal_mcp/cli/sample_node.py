"""`sample-node`: the sample chain as a node of its own, to try clients of Core's API against."""

from typing import Any

import click

from ..settings import SampleNodeOptions
from .input.options import SettingsCommand


@click.command(cls=SettingsCommand, groups=(SampleNodeOptions,))
def command(options: SampleNodeOptions) -> None:
    """Serve the sample chain as a node of its own.

    Answers GET on Core's addresses over HTTP, as the Core did that the chain was read from.
    """
    from ..qortal.sample.http import app
    from ..transports.serve import run_http, url_of
    from .running.listening import announce, bound, resolved

    sock = bound(resolved(options.listen), options.listen)

    class Door:
        """The sample chain as something that can be run."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await app(scope, receive, send)

        async def drain(self) -> None:
            """Nothing here lasts longer than a request."""

    run_http(Door(), sock, on_started=lambda: announce(url_of(sock, "")))
