"""`sample-node`: the sample chain as a node, for testing clients of Core's API."""

from typing import Any

import click

from ..settings import SampleNodeOptions
from .input.options import SettingsCommand


@click.command(cls=SettingsCommand, groups=(SampleNodeOptions,))
def command(options: SampleNodeOptions) -> None:
    """Serve the sample chain as a node.

    Answers GET requests for Core's endpoints over HTTP, like the Core that the chain was read from.
    """
    from ..qortal.sample.http import app
    from ..transports.serve import run_http, url_of
    from .running.serve.listening import announce, bound, resolved

    sock = bound(resolved(options.listen), options.listen)

    class App:
        """The sample chain as an application that can be run."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await app(scope, receive, send)

        def leave(self) -> None:
            """Nobody asks it whether it is ready."""

        async def drain(self) -> None:
            """Nothing here lasts longer than a request."""

    run_http(App(), sock, on_started=lambda: announce(url_of(sock, "")))
