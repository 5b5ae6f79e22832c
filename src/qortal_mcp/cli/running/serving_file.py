"""Serve the server of a Python file: on HTTP and WebSocket with the options of `serve`, or on stdio."""

import asyncio
import os
from collections.abc import Sequence

import click
from click.core import ParameterSource

from ... import settings
from ...door import OPEN_ROUTES, callers_of, check_host, closed_guard_of, guard_of, operator_routes, rate_of
from ...server.dispatch import Server
from ...server.life import LifespanFailed
from ...server.rate import RateLimit
from ...server.receiver import Receiver
from ...settings import ListenOptions, Options
from ...text import shortened, visible
from ...transports.http import HttpApp, Page
from ..input.server_file import CannotLoad, ServerFile
from . import failures
from .listening import announce, bound, resolved, say

_SHOWN_CHARS = 400


def refuse_flags(ctx: click.Context, groups: Sequence[type[Options]]) -> None:
    """Options of the Qortal server mean nothing to any other.

    Raises: WrongUsage.
    """
    for option in (option for group in groups for option in settings.options_of(group)):
        if ctx.get_parameter_source(option.field) is ParameterSource.COMMANDLINE:
            raise failures.WrongUsage(f"{option.flag} is for the Qortal server, not for one in a file.")


def serve_file(target: str, door: ListenOptions, *, reload: bool, sessions: bool) -> int:
    """Serve until a signal asks to stop; returns the exit code.

    Raises: WrongUsage, WrongSetting, Undetermined; Bad if the file is wrong and nobody waits for a change.
    """
    from ...transports.serve import run_http, url_of

    file = ServerFile(target)
    token = settings.token(door, os.environ)
    host, port = resolved(door.listen)
    check_host(host, door, token)
    callers_of(door, token)  # a wrong option is reported before the file is run
    sock = bound((host, port), door.listen)

    def serve(server: Receiver, is_first: bool) -> None:
        app = _app_of(server, door, token, host, sessions)
        started = (
            (lambda: announce(url_of(sock))) if is_first else (lambda: say(f"Reloaded {file.path.name}."))
        )
        try:
            run_http(app, sock, limits=server.limits, on_started=started)
        except LifespanFailed as exc:
            raise _not_started(server, exc) from exc

    def refuse(sentence: str) -> None:
        app = HttpApp(Server("unserved"), guard=closed_guard_of(door, token, sentence))
        run_http(app, sock, on_started=lambda: None)

    if reload:
        from .reloading import serve_reloading

        return serve_reloading(file, serve, refuse)
    serve(_loaded(file), True)
    return failures.GOOD


def _app_of(server: Receiver, door: ListenOptions, token: str | None, host: str, sessions: bool) -> HttpApp:
    rate = rate_of(door, host)
    if rate is not None and (server.rate is None or door.rate_limit is not None):
        server.rate = RateLimit(rate)
    return HttpApp(
        server,
        guard=guard_of(door, token),
        callers=callers_of(door, token),
        sessions=sessions,
        routes=operator_routes(server.metrics, lambda: Page(b'{"status":"ok"}')),
        open_routes=OPEN_ROUTES,
    )


def serve_file_on_stdio(target: str) -> None:
    """Serve standard input and output until the input ends.

    Raises: WrongUsage; Bad if the file is wrong.
    """
    from ...transports.stdio import serve_fds, take_stdout

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
