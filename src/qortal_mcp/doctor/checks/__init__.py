"""Every check, in the order of the report. A check stands in the file of its subject and in this list."""

from ..check import AnyCheck
from . import clients, node, program, server, settings, store

CHECKS: tuple[AnyCheck, ...] = (
    program.python,
    program.version,
    settings.options,
    settings.earlier_server,
    settings.tools,
    node.reachable,
    node.allowed,
    node.is_qortal,
    node.in_sync,
    node.newest_block,
    node.clock,
    node.peers,
    node.core_version,
    server.port,
    server.options,
    server.token,
    server.host_names,
    store.options,
    store.reachable,
    store.version,
    store.memory,
    clients.files,
    clients.not_read,
    clients.entries,
)
