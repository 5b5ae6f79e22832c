"""`serve`: the HTTP and WebSocket server, until a signal asks it to stop."""

import logging
import os
import sys
from contextlib import AsyncExitStack

import click
from msgspec.structs import replace

from .. import settings
from ..settings import ListenOptions, NodeOptions, ShareOptions, WatchOptions, WorkerOptions
from ..settings.asking import ModelOptions, QuestionOptions
from ..settings.console import ConsoleOptions
from .input.options import SettingsCommand, flags_given
from .running.failures import WrongUsage

log = logging.getLogger(__name__)


@click.command(
    cls=SettingsCommand,
    groups=(
        NodeOptions,
        ListenOptions,
        WorkerOptions,
        ShareOptions,
        ModelOptions,
        QuestionOptions,
        ConsoleOptions,
        WatchOptions,
    ),
)
@click.argument("target", required=False, metavar="[FILE.py:NAME]")
@click.option("--reload", is_flag=True, help="With a file: serve it again whenever it changes.")
@click.option(
    "--sessions", is_flag=True, help="With a file: give older clients a session, so that tools can ask them."
)
@click.pass_context
def command(
    ctx: click.Context,
    chain: NodeOptions,
    door: ListenOptions,
    workers: WorkerOptions,
    sharing: ShareOptions,
    model: ModelOptions,
    question: QuestionOptions,
    console: ConsoleOptions,
    watching: WatchOptions,
    target: str | None,
    reload: bool,
    sessions: bool,
) -> int | None:
    """Serve AI clients over HTTP and WebSocket, and people with a browser.

    MCP is at /mcp (Streamable HTTP) and /ws (WebSocket). The console is at /: open it in a browser.
    /healthz, /readyz and /metrics are for operators; /mcp-manifest.json and /llms.txt describe the
    server. With a token, all of them except /healthz and the files of the console need it.

    Questions to a language model, on the console and at /ask, go to the endpoint that is named with --base-url and
    --model, or on loopback to one that is found on this machine. Its key never leaves the server.

    Listening beyond loopback needs a token, from --token-file or the variable QORTAL_MCP_TOKEN, unless --without-token
    is given; and --allow-host must have the name that clients use for the server.

    FILE.py:NAME serves a server of your own instead, made with this library: the object of that name in the file, at /mcp and /ws. The
    options for listening and logging hold for it; --reload starts it again when the file, or what it imports from its folder, changes.

    With --workers it is several processes at one address: this one looks after them, and replaces one that dies.

    SIGTERM and Ctrl-C end it after the calls in flight; behind a balancer, --drain-seconds lets it serve on until no more come. SIGHUP reads the token of --token-file and the log level of
    --config again, or ends it where it was started from a terminal that was closed.
    """
    if target is not None:
        from .running.serve.serving_file import refuse_flags, serve_file

        refuse_flags(
            ctx, (NodeOptions, ShareOptions, ModelOptions, QuestionOptions, ConsoleOptions, WatchOptions)
        )
        return serve_file(target, door, workers.workers, reload=reload, sessions=sessions)
    if reload or sessions:
        raise WrongUsage("--reload and --sessions are for a server in a file: serve FILE.py:NAME.", ctx)
    from ..door import check_host
    from ..transports.guard import is_loopback
    from ..transports.sockets import url_of
    from .running.serve.jobs import ServeChain
    from .running.serve.listening import announce, bound, resolved, say
    from .running.serve.service_manager import tell_ready

    token = settings.token(door, os.environ)
    host, port = resolved(door.listen)
    check_host(host, door, token)
    job = ServeChain(
        chain=chain,
        door=replace(door, listen=f"[{host}]:{port}" if ":" in host else f"{host}:{port}"),
        sharing=sharing,
        model=model,
        question=question,
        console=console,
        watching=watching,
    )

    def listening() -> None:
        announce(url_of(sock))
        if (
            sys.stderr is not None and sys.stderr.isatty()
        ):  # others read one JSON object per line from here on
            say(f"Console at {url_of(sock, '/')}")
        if not is_loopback(host) and not door.allow_host:
            log.warning(
                "clients are refused unless they use the host name localhost: "
                "allow the name they use with --allow-host NAME[:PORT]"
            )

    if workers.workers > 1:
        from .running.serve.workers.starting import serve_with_workers

        sock = bound((host, port), door.listen)

        def all_started() -> None:
            listening()
            tell_ready(os.environ)

        return serve_with_workers(job, workers.workers, token, sock, all_started, watching)
    from .running.serve.read_again import ReadAgain
    from .running.serve.serving_chain import chain_app, serve_app

    async def beside(stack: AsyncExitStack) -> None:
        await ReadAgain(door, flags_given(), prepared.app.renew_token).live(stack)

    prepared = chain_app(job, token, beside=beside)
    sock = bound((host, port), door.listen)

    def started() -> None:
        listening()
        prepared.report.begin()
        tell_ready(os.environ)

    serve_app(prepared.app, sock, started, door.drain_seconds)
    return None
