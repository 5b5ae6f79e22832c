"""The list of all checks, in the order they run."""

from collections.abc import Awaitable, Callable, Sequence

from interop import eras, terminal
from interop.agents import AGENTS, Agent, run_agent, sample
from interop.asked import ASKED, run_asked
from interop.audits import run_audit
from interop.bridged import STAND_INS, StandIn, bridged, judge_agent, judge_library
from interop.bridged_suite import SUITES, run_bridged_suite
from interop.conformance import REVISIONS, judge, run_suite
from interop.foreign import FOREIGN, Foreign
from interop.gathered import AGENT_VISITS, CLIENT_VISITS, Visit, run_agent_visit, run_client_visit
from interop.installed import INSTALLED, run_installed
from interop.libraries import LIBRARIES, Library, run_library, seen_by
from interop.library.measured import run_shelves
from interop.library.signatures import run_signatures
from interop.programs import Programs
from interop.prometheus import run_prometheus
from interop.remarks import Allowed, allowed
from interop.runner import Check
from interop.servers import SERVERS, OpenServer, everything, sample_over_http
from interop.store import run_store
from interop.usable import CLIENTS, Client, run_usable

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
            seen = await run_agent(agent, programs, target, sample.SCRIPT)
            return sample.judge(seen)

    return run


def _bridged_library(library: Library, stand_in: StandIn, way: str) -> _Run:
    async def run(programs: Programs) -> str:
        arguments = {stand_in.good.tool: stand_in.good.arguments}
        bad = {"tool": stand_in.bad.tool, "arguments": stand_in.bad.arguments}
        async with bridged(stand_in, way) as target:
            seen = await seen_by(library, programs, target, arguments, bad)
        return judge_library(stand_in, seen, library.revision)

    return run


def _bridged_agent(agent: Agent, stand_in: StandIn, way: str) -> _Run:
    async def run(programs: Programs) -> str:
        async with bridged(stand_in, way, agent.repair) as target:
            seen = await run_agent(agent, programs, target, (stand_in.good, stand_in.bad))
            return judge_agent(stand_in, seen)

    return run


def _bridged_suite(name: str) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_bridged_suite(name, programs)

    return run


def _visits(client: eras.Client, places: Sequence[eras.Place]) -> _Run:
    async def run(programs: Programs) -> str:
        return await eras.run_visits(client, places, programs)

    return run


def _gathered(visit: Visit, run_visit: Callable[[Visit, Programs], Awaitable[str]]) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_visit(visit, programs)

    return run


def _installed(client: str, way: str) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_installed(client, way, programs)

    return run


def _typed(visit: terminal.Visit) -> _Run:
    async def run(programs: Programs) -> str:
        return await terminal.run_terminal(visit, programs)

    return run


def _usable(client: Client) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_usable(client, programs)

    return run


def _audit(name: str, server: Foreign) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_audit(name, server, programs)

    return run


def _asked(server: Foreign) -> _Run:
    async def run(programs: Programs) -> str:
        return await run_asked(server, programs)

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
    *(
        Check(f"install-{client}-{way}", _installed(client, way))
        for client in INSTALLED
        for way in ("stdio", "http")
    ),
    *(Check(f"bridge-conformance-{name}", _bridged_suite(name)) for name in SUITES),
    *(
        Check(f"bridge-{system}-{name}-{way}", _bridged_library(library, stand_in, way))
        for system, stand_in in STAND_INS.items()
        for name, library in LIBRARIES.items()
        for way in library.ways
    ),
    *(
        Check(f"bridge-{system}-{name}-{way}", _bridged_agent(agent, stand_in, way))
        for system, stand_in in STAND_INS.items()
        for name, agent in AGENTS.items()
        for way in agent.ways
    ),
    *(
        Check(f"eras-direct-{name}", _visits(client, eras.own_places(client)))
        for name, client in eras.CLIENTS.items()
    ),
    *(
        Check(f"eras-{name}", _visits(client, eras.other_places(client)))
        for name, client in eras.CLIENTS.items()
    ),
    *(
        Check(f"gathered-{visit.who}-{visit.front}", _gathered(visit, run_visit))
        for visits, run_visit in ((CLIENT_VISITS, run_client_visit), (AGENT_VISITS, run_agent_visit))
        for visit in visits
    ),
    *(Check(f"bridge-usable-{name}", _usable(client)) for name, client in CLIENTS.items()),
    *(Check(f"terminal-{name}", _typed(visit)) for name, visit in terminal.VISITS.items()),
    Check("prometheus", run_prometheus),
    Check("store", run_store),
    *(Check(f"ask-{name}", _asked(server)) for name, server in ASKED.items()),
    *(Check(f"audit-{name}", _audit(name, server)) for name, server in FOREIGN.items()),
    Check("library-shelf", run_shelves),
    Check("library-signatures", run_signatures),
)
