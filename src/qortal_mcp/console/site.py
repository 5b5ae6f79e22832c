"""The routes of the console: its page and files, what the page must know, and what only it asks for."""

from ..server.dispatch import Server
from ..settings import NodeOptions
from ..transports.http import Site
from .asking.route import Asking
from .auditing.route import Auditing
from .connecting import connecting
from .files import Files
from .setup import ConsoleSetup

OPEN_PATHS = frozenset({"/", "/console/"})


def console_site(server: Server, chain: NodeOptions, setup: ConsoleSetup, *, needs_token: bool) -> Site:
    files = Files(needs_token=needs_token)
    asking = Asking(server, setup)
    auditing = Auditing(setup.audit_targets, server.limits)

    def end() -> None:
        asking.close()
        auditing.close()

    return Site(
        handlers={
            "/": files.serve_index,
            "/console/": files.serve_file,
            "/console/connect": connecting(chain, needs_token=needs_token),
            "/console/audit": auditing.handle,
            "/ask": asking.handle,
        },
        open_paths=OPEN_PATHS,
        end=end,
    )
