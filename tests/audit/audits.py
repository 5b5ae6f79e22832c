"""Audits of stub servers: visit one over its wire, and judge what was seen."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from msgspec import structs
from tests.audit.cases import Case
from tests.audit.wires import command, http_server, old_sse_server, websocket_server

from qortal_mcp.audit.evidence import Evidence
from qortal_mcp.audit.limits import AuditLimits
from qortal_mcp.audit.visiting.runner import Order, Target, collect

# Long enough for a busy machine; cases that hang have limits of their own.
LIMITS = AuditLimits(
    request_seconds=5.0,
    probe_seconds=5.0,
    start_seconds=10.0,
    grace_seconds=0.1,
    get_seconds=5.0,
    exit_seconds=5.0,
    linger_seconds=0.2,
    total_seconds=30.0,
    retry_seconds=0.05,
)


@contextlib.asynccontextmanager
async def served(case: Case) -> AsyncIterator[Target]:
    """The target of an audit of a case."""
    if case.over == "stdio":
        yield command(case.name)
        return
    servers = {"http": http_server, "websocket": websocket_server, "old sse": old_sse_server}
    more: dict[str, Any] = {"any_origin": True} if case.any_origin else {}
    async with servers[case.over](case.server, **more) as target:
        yield target


async def evidence_of(case: Case) -> Evidence:
    async with served(case) as target:
        limits = structs.replace(LIMITS, **dict(case.limits))
        return await collect(Order(target=target, revisions=case.revisions, limits=limits))
