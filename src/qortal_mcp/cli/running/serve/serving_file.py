"""Serve the server of a Python file: on HTTP and WebSocket with the options of `serve`, or on stdio."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from socket import socket
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from msgspec.structs import replace

from .... import settings
from ....door import OPEN_ROUTES, callers_of, check_host, closed_guard_of, guard_of, operator_routes, rate_of
from ....server.dispatch import Server
from ....server.life import LifespanFailed
from ....server.rates.rate import RateLimit
from ....server.receiver import Receiver
from ....settings import ListenOptions, Options
from ....text import shortened, visible
from ....transports.http import HttpApp, Page
from ...input.server_file import CannotLoad, ServerFile
from .. import failures
from .jobs import ServeFile
from .listening import announce, bound, resolved, say

if TYPE_CHECKING:
    from ....one_of_several import OneOfSeveral
    from ....transports.arrivals import Arrivals

_SHOWN_CHARS = 400


def refuse_flags(ctx: click.Context, groups: Sequence[type[Options]]) -> None:
    """Options of the Qortal server mean nothing to any other.

    Raises: WrongUsage.
    """
    for option in (option for group in groups for option in settings.options_of(group)):
        if ctx.get_parameter_source(option.field) is ParameterSource.COMMANDLINE:
            raise failures.WrongUsage(f"{option.flag} is for the Qortal server, not for one in a file.")


def serve_file(target: str, door: ListenOptions, workers: int, *, reload: bool, sessions: bool) -> int:
    """Serve until a signal asks to stop; returns the exit code.

    Raises: WrongUsage, WrongSetting, Undetermined; Bad if the file is wrong and nobody waits for a change.
    """
    from ....transports.sockets import url_of

    if workers > 1 and (reload or sessions):
        flag, why = (
            ("--reload", "while a file changes, one process is enough")
            if reload
            else ("--sessions", "a session lives in one process")
        )
        raise failures.WrongUsage(f"{flag} and --workers {workers} cannot be combined: {why}.")
    file = ServerFile(target)
    token = settings.token(door, os.environ)
    host, port = resolved(door.listen)
    check_host(host, door, token)
    callers_of(door, token)  # a wrong option is reported before the file is run
    sock = bound((host, port), door.listen)
    at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    job = ServeFile(target=target, door=replace(door, listen=at))
    if workers > 1:
        from .workers.starting import serve_with_workers

        return serve_with_workers(job, workers, token, sock, lambda: announce(url_of(sock)))

    def serve(server: Receiver, is_first: bool) -> None:
        started = (
            (lambda: announce(url_of(sock))) if is_first else (lambda: say(f"Reloaded {file.path.name}."))
        )
        app = _app_of(server, job.door, token, sessions)
        serve_file_app(app, sock, started, job.door.drain_seconds)

    def refuse(sentence: str) -> None:
        from ....transports.serve import run_http

        app = HttpApp(Server("unserved"), guard=closed_guard_of(door, token, sentence))
        run_http(app, sock, on_started=lambda: None)

    if reload:
        from .reloading import serve_reloading

        return serve_reloading(file, serve, refuse)
    serve(_loaded(file), True)
    return failures.GOOD


def file_app(
    job: ServeFile,
    token: str | None,
    among: "OneOfSeveral",
    beside: Callable[[AsyncExitStack], Awaitable[None]],
) -> HttpApp:
    """The server of a file as one of several workers; `beside` is what else lives as long.

    Raises: WrongUsage, WrongSetting; Bad if the file is wrong.
    """
    server = _loaded(ServerFile(job.target))
    among.divide(server)
    return _app_of(server, job.door, token, False, among, beside)


def serve_file_app(
    app: HttpApp, sock: "socket | Arrivals", started: Callable[[], None], drain_seconds: float = 0.0
) -> None:
    """Raises: Bad if the server cannot start."""
    from ....transports.serve import run_http

    try:
        run_http(app, sock, limits=app.server.limits, on_started=started, drain_seconds=drain_seconds)
    except LifespanFailed as exc:
        raise _not_started(app.server, exc) from exc


def _app_of(
    server: Receiver,
    door: ListenOptions,
    token: str | None,
    sessions: bool,
    among: "OneOfSeveral | None" = None,
    beside: Callable[[AsyncExitStack], Awaitable[None]] | None = None,
) -> HttpApp:
    rate = rate_of(door, settings.host_and_port(door.listen)[0])
    if rate is not None and (server.rate is None or door.rate_limit is not None):
        server.limit_rate(RateLimit(rate) if among is None else among.rate(rate))
    return HttpApp(
        server,
        guard=guard_of(door, token),
        callers=callers_of(door, token),
        sessions=sessions,
        routes=operator_routes(
            server.metrics, lambda: Page(b'{"status":"ok"}'), None if among is None else among.look
        ),
        open_routes=OPEN_ROUTES,
        lifespan=beside,
    )


def serve_file_on_stdio(target: str) -> None:
    """Serve standard input and output until the input ends.

    Raises: WrongUsage; Bad if the file is wrong.
    """
    from ....transports.stdio import serve_fds, take_stdout

    file = ServerFile(target)
    wire = take_stdout()  # first: what the file prints is not for the client
    server = _loaded(file)
    try:
        asyncio.run(serve_fds(server, 0, wire))
    except LifespanFailed as exc:
        raise _not_started(server, exc) from exc


def _loaded(file: ServerFile) -> Receiver:
    try:
        return file.load()
    except CannotLoad as exc:
        raise failures.Bad(str(exc)) from exc


def _not_started(server: Receiver, exc: LifespanFailed) -> failures.Bad:
    said = f"{server.info.name} cannot start: {exc}"
    return failures.Bad(shortened(visible(said), _SHOWN_CHARS))
