"""`qortal-mcp audit` of other people's servers: it finds what interop/baselines/ lists for each, no more and no less.

Every entry there was verified by hand on the wire. A new finding means that a server changed, or a false alarm of ours.
"""

import tempfile
from pathlib import Path

from interop.foreign import Foreign
from interop.programs import ROOT, Programs
from interop.runner import Failed
from qortal_mcp.audit.confinement.confined import confined_judge
from qortal_mcp.audit.evidence import Evidence
from qortal_mcp.audit.judging import baseline
from qortal_mcp.audit.judging.finding import Report
from qortal_mcp.audit.limits import AuditLimits
from qortal_mcp.audit.visiting.calls import Call, Permission
from qortal_mcp.audit.visiting.runner import Order, Unreachable, collect

BASELINES = ROOT / "interop" / "baselines"
# Findings that depend on timing are not compared: the same server starts in half a second here and in three elsewhere.
_TIMING_DEPENDENT = frozenset({"slow-start"})
# Longer than usual, so that a slow machine is not taken for a slow server; a server in time is not delayed.
_LIMITS = AuditLimits(linger_seconds=2.0, exit_seconds=5.0, total_seconds=90.0)


async def run_audit(name: str, server: Foreign, programs: Programs) -> str:
    """Audits a server and compares the result with its baseline."""
    known = baseline.read((BASELINES / f"{name}.json").read_bytes())
    report = await confined_judge(await look(server, programs), known)
    if problems := problems_of(report, known):
        raise Failed("\n".join(problems))
    spoken = f"{len(report.revisions)} revisions, {report.tools_called} of {report.tools} tools called"
    return f"{spoken}, {len(known)} known findings in {report.requests} requests"


async def look(server: Foreign, programs: Programs) -> Evidence:
    """Everything that an audit sees of a server."""
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as folder:
        async with server(programs, Path(folder)) as visited:
            named = tuple(Call(tool, arguments) for tool, arguments in visited.calls)
            order = Order(
                target=visited.target.url or visited.target.command,
                permission=Permission(named=named, all_read_only=True),
                env=visited.env,
                limits=_LIMITS,
            )
            try:
                return await collect(order)
            except Unreachable as exc:
                raise Failed(f"the server cannot be reached: {exc}") from exc


def problems_of(report: Report, known: baseline.Known) -> list[str]:
    """What is new, what is gone, and what could not be checked."""
    new = [one for one in report.findings if not one.known and one.code not in _TIMING_DEPENDENT]
    gone = baseline.gone(known, report)
    gaps = [gap for gap in report.gaps if gap.weighs]
    return [
        *(f"new: {one.severity} {one.code} at {one.where}: {one.evidence}\n  {one.reproduce}" for one in new),
        *(f"no longer found: {code} at {where}" for code, where in gone),
        *(f"not checked: {gap.what}: {gap.reason}" for gap in gaps),
    ]
