"""The list of all checks, in the order they run."""

from collections.abc import Awaitable, Callable, Sequence

from interop.agents import AGENTS, Agent, run_agent
from interop.audits import run_audit
from interop.conformance import REVISIONS, judge, run_suite
from interop.foreign import FOREIGN, Foreign
from interop.libraries import LIBRARIES, Library, run_library
from interop.programs import Programs
from interop.remarks import Allowed, allowed
from interop.runner import Check
from interop.servers import SERVERS, OpenServer, everything, sample_over_http

_Run = Callable[[Programs], Awaitable[str]]


def _suite(revision: str, open_server: OpenServer, remarks: Sequence[Allowed]) -> _Run:
    async def run(programs: Programs) -> str:
        async with open_server() as target:
            return judge(await run_suite(programs, target, revision), remarks)

    return run


def _library(library: Library, open_server: OpenServer) -> _Run:
    async def run(programs: Programs) -> str:
        async with open_server() as target:
            return await run_library(library, programs, target)

    return run


def _agent(agent: Agent, open_server: OpenServer) -> _Run:
    async def run(programs: Programs) -> str:
        async with open_server() as target:
            return await run_agent(agent, programs, target)

    return run


def _audit(name: str, server: Foreign) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_audit(name, server, programs)

    return run


CHECKS = (
    *(Check(f"conformance-everything-{name}", _suite(name, everything, ())) for name in REVISIONS),
    *(
        Check(f"conformance-sample-{name}", _suite(name, sample_over_http, allowed(name)))
        for name in REVISIONS
    ),
    *(
        Check(f"{name}-{way}", _library(library, SERVERS[way]))
        for name, library in LIBRARIES.items()
        for way in library.ways
    ),
    *(
        Check(f"{name}-{way}", _agent(agent, SERVERS[way]))
        for name, agent in AGENTS.items()
        for way in agent.ways
    ),
    *(Check(f"audit-{name}", _audit(name, server)) for name, server in FOREIGN.items()),
)
