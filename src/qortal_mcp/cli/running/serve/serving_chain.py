"""The Qortal server over HTTP as `serve` runs it: by itself, or as one of several workers."""

import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from socket import socket
from typing import TYPE_CHECKING

from msgspec import Struct

from .... import settings
from ....application import make_app
from ....console.asking.allowance import Allowing
from ....console.auditing.places import Places
from ....console.setup import ConsoleSetup
from ....from_settings import node_of, store_of
from ....qortal.node.node import Node
from ....settings.console import audit_targets_of
from ....transports.guard import is_loopback
from ....transports.http import HttpApp
from ....transports.serve import run_http
from .jobs import ServeChain
from .startup_report import StartupReport

if TYPE_CHECKING:
    from ....one_of_several import OneOfSeveral
    from ....transports.arrivals import Arrivals


class Prepared(Struct, frozen=True):
    """The application and what belongs to it. Nothing is opened before it starts."""

    app: HttpApp
    node: Node
    report: StartupReport


def chain_app(
    job: ServeChain,
    token: str | None,
    *,
    beside: Callable[[AsyncExitStack], Awaitable[None]],
    among: "OneOfSeveral | None" = None,
    allowance: Allowing | None = None,
    audits: Places | None = None,
) -> Prepared:
    """`beside` is what else lives as long as the application.

    Raises: WrongSetting.
    """
    if job.model.key_file is not None:
        settings.model_key(job.model, os.environ)  # a wrong file is reported now, not to whoever asks first
    store = store_of(job.sharing, settings.cache_password(job.sharing, os.environ))
    node = node_of(job.chain, job.watching, store, among)
    report = StartupReport(node, job.chain)
    on_loopback = is_loopback(settings.host_and_port(job.door.listen)[0])
    setup = ConsoleSetup(
        model=job.model,
        question=job.question,
        audit_targets=audit_targets_of(job.console, is_loopback=on_loopback),
        environ=os.environ,
        is_loopback=on_loopback,
        allowance=allowance,
        audits=audits,
    )

    async def live(stack: AsyncExitStack) -> None:
        await report.live(stack)
        await beside(stack)

    app = make_app(
        job.chain,
        job.door,
        token,
        node=node,
        console=setup,
        beside=live,
        watching=job.watching,
        store=store,
        among=among,
    )
    return Prepared(app, node, report)


def serve_app(
    app: HttpApp, sock: "socket | Arrivals", started: Callable[[], None], drain_seconds: float = 0.0
) -> None:
    run_http(
        app,
        sock,
        limits=app.server.limits,
        on_started=started,
        metrics=app.server.metrics,
        drain_seconds=drain_seconds,
    )
