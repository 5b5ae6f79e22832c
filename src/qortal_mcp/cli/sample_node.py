"""`sample-node`: the sample chain as a node of its own, to try clients of Core's API against."""

import sys
from typing import Any

import click

from .. import settings
from ..settings import SampleNodeOptions
from . import failures
from .options import SettingsCommand


@click.command(cls=SettingsCommand, groups=(SampleNodeOptions,))
def command(options: SampleNodeOptions) -> None:
    """Serve the sample chain as a node of its own.

    Answers GET on Core's addresses over HTTP, as the Core did that the chain was read from.
    """
    from ..qortal.sample.http import app
    from ..transports.serve import bind, run_http, url_of

    host, port = settings.host_and_port(options.listen)
    try:
        sock = bind(host, port)
    except OSError as exc:
        raise failures.CouldNotFindOut(f"Cannot listen on {options.listen}: {exc.strerror or exc}.") from None

    class Door:
        """The sample chain as something that can be run."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await app(scope, receive, send)

        async def drain(self) -> None:
            """Nothing here lasts longer than a request."""

    def announce() -> None:
        print(f"Listening on {url_of(sock, '')}", file=sys.stderr, flush=True)

    run_http(Door(), sock, on_started=announce)
