"""A worker: serves the connections that it is handed, until there will be no more."""

import signal
import socket
from contextlib import AsyncExitStack

from ..... import logs
from .....one_of_several import OneOfSeveral
from .....transports.arrivals import Arrivals
from ....program import reported
from ..jobs import ServeChain
from . import messages
from .link import Audits, Link, Questions
from .process import TERMINAL_SIGNALS


def main(control: int, arrivals: int, memory: int) -> int:
    """Returns the exit code. The numbers are those of open files."""
    # A terminal sends these to all of its processes, and the one that looks after this one decides.
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, TERMINAL_SIGNALS)
    return reported(lambda: _serve(socket.socket(fileno=control), socket.socket(fileno=arrivals), memory))


def _serve(control: socket.socket, arrivals: socket.socket, memory: int) -> int:
    handover = _first(control)
    logs.name_worker(handover.number)
    logs.configure(handover.log.log_level, handover.log.log_format)
    among = OneOfSeveral(handover.number, handover.of, handover.secret, memory)
    part = among.board.parts[handover.number]
    taking = Arrivals(arrivals, part.count_connections, part.count_beat)
    link = Link(control, among, lambda token: renew(token), lambda: taking.say_leaving())
    job = handover.job
    if isinstance(job, ServeChain):
        from ..serving_chain import chain_app, serve_app

        prepared = chain_app(
            job, handover.token, among=among, allowance=Questions(link), audits=Audits(link), beside=link.live
        )
        link.look, renew = prepared.node.look, prepared.app.renew_token
        link.report = prepared.report.begin
        serve_app(prepared.app, taking, link.ready)
    else:
        from ..serving_file import file_app, serve_file_app

        async def beside(stack: AsyncExitStack) -> None:
            await link.live(stack)

        app = file_app(job, handover.token, among, beside)
        renew = app.renew_token
        serve_file_app(app, taking, link.ready)
    return 0


def _first(control: socket.socket) -> messages.Handover:
    """The first line, which is all that has been said so far."""
    text = b""
    while not text.endswith(b"\n"):
        data = control.recv(messages.LINE_BYTES)
        if not data:
            raise SystemExit(0)  # whoever started this is gone
        text += data
    found = messages.to_worker(text)
    assert isinstance(found, messages.Handover), "it is told first"
    control.setblocking(False)
    return found
