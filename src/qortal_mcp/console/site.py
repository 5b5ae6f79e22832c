"""The routes of the console: its page and files, what the page must know, and what only it asks for."""

from ..qortal.node.node import Node
from ..server.dispatch import Server
from ..settings import BASE_URL_VARIABLE, NodeOptions
from ..transports.http import Site
from .asking.route import Asking
from .auditing.never import never_audited
from .auditing.route import Auditing
from .connecting import connecting
from .files import Files
from .setup import ConsoleSetup
from .status import status

OPEN_PATHS = frozenset({"/", "/console/"})


def console_site(
    server: Server, node: Node, chain: NodeOptions, setup: ConsoleSetup, *, needs_token: bool
) -> Site:
    files = Files(needs_token=needs_token)
    asking = Asking(server, setup, allowance=setup.allowance)
    auditing = Auditing(
        setup.audit_targets,
        never_audited((*chain.node, setup.model.base_url or setup.environ.get(BASE_URL_VARIABLE, ""))),
        server.limits,
        places=setup.audits,
    )

    def end() -> None:
        asking.close()
        auditing.close()

    return Site(
        handlers={
            "/": files.serve_index,
            "/console/": files.serve_file,
            "/console/status": status(node, chain),
            "/console/connect": connecting(chain, needs_token=needs_token),
            "/console/audit": auditing.handle,
            "/ask": asking.handle,
        },
        open_paths=OPEN_PATHS,
        end=end,
    )
