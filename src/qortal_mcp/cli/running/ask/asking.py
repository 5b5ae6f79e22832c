"""From settings to an agent, and one question to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator

import click
import msgspec
from msgspec import Struct

from .... import settings
from ....agent import events, saved
from ....agent.agent import Agent
from ....agent.inert import inert
from ....agent.limits import AgentLimits
from ....agent.prompt.framing import Frame
from ....agent.prompt.system import system_prompt
from ....agent.run import Run
from ....agent.tools.server import ToolServer
from ....agent.tools.toolbox import Toolbox
from ....client.limits import ClientLimits
from ....client.options import Options
from ....from_settings import node_of, server_of
from ....model_from_settings import Chosen, NoModel, choose, endpoint_of, limits_of, new_mark, setup_of, today
from ....settings import NodeOptions
from ....settings.asking import AskOptions, ModelOptions, QuestionOptions
from ....settings.bridging import ReachOptions
from ....text import visible
from ...input.targets import command_or_address
from ...output import terminal
from ...output.asked.answers import AnswerPrinter
from ...output.asked.offers import table, weigh
from .. import failures
from ..reaching import Reached, reach
from ..until_stopped import until_stopped
from . import run_file

CONNECTING = "Connecting …"


class Wanted(Struct, frozen=True, kw_only=True):
    """What a person wants: which tools, which model, within which limits."""

    # None: Qortal's tools are not wanted.
    chain: NodeOptions | None
    model: ModelOptions
    servers: tuple[Reached, ...]
    # Of other servers, offer only tools that declare themselves read-only.
    read_only: bool
    limits: AgentLimits
    # Certificates to trust, besides the system's: for the model's endpoint as for servers.
    ca_file: str | None = None


def wanted(
    ctx: click.Context,
    chain: NodeOptions,
    model: ModelOptions,
    question: QuestionOptions,
    asking: AskOptions,
    reach_: ReachOptions,
) -> Wanted:
    """Raises: WrongUsage, WrongSetting."""
    targets = [command_or_address(ctx, text) for text in asking.server]
    addresses = [target for target in targets if isinstance(target, str)]
    if len(addresses) > 1 and (reach_.header_file or settings.server_token(reach_, os.environ)):
        raise failures.WrongUsage("A token or header is for one server; there are several addresses.", ctx)
    is_ours_named = chain.sample or chain.node != NodeOptions().node
    limits = ClientLimits(exit_seconds=0.5, goodbye_seconds=1.0)
    return Wanted(
        chain=chain if is_ours_named or not targets else None,
        model=model,
        servers=tuple(reach(target, reach_, limits) for target in targets),
        read_only=asking.read_only,
        limits=limits_of(question),
        ca_file=reach_.ca_file,
    )


@contextlib.asynccontextmanager
async def toolbox_of(wanted: Wanted) -> AsyncIterator[Toolbox]:
    """The servers, not connected yet. Raises: WrongSetting."""
    async with contextlib.AsyncExitStack() as stack:
        servers: list[ToolServer] = []
        if wanted.chain is not None:
            node = node_of(wanted.chain)
            stack.push_async_callback(node.close)
            servers.append(
                ToolServer(server_of(wanted.chain, node), label="qortal", options=Options(), is_ours=True)
            )
        servers += [
            ToolServer(reached.target, options=reached.options, mask=reached.mask, read_only=wanted.read_only)
            for reached in wanted.servers
        ]
        toolbox = Toolbox(servers, wanted.limits)
        stack.push_async_callback(toolbox.close)
        yield toolbox


@contextlib.asynccontextmanager
async def agent_of(wanted: Wanted) -> AsyncIterator[Agent]:
    """Raises: WrongSetting, Undetermined."""
    async with toolbox_of(wanted) as toolbox:
        chosen = await _chosen_while_opening(wanted, toolbox)
        endpoint = endpoint_of(chosen, wanted.limits)
        try:
            hidden = frozenset(value for reached in wanted.servers for value in reached.secrets)
            is_qortal = wanted.chain is not None
            yield Agent(
                endpoint, toolbox, setup_of(chosen, wanted.limits, is_qortal=is_qortal, hidden=hidden)
            )
        finally:
            await endpoint.close()


async def _chosen_while_opening(wanted: Wanted, toolbox: Toolbox) -> Chosen:
    """Connect the servers and find the model at the same time. Raises: WrongSetting, Undetermined."""
    opening = asyncio.create_task(toolbox.open())
    try:
        chosen = await choose(wanted.model, wanted.limits, os.environ, wanted.ca_file)
        await opening
    except NoModel as exc:
        await _cancelled(opening)
        raise failures.Undetermined(str(exc)) from None
    except BaseException:
        await _cancelled(opening)
        raise
    return chosen


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])


def ask_once(wanted: Wanted, question: str, *, as_json: bool, traces: bool, save: str | None) -> int:
    if save is not None:
        run_file.check(save)
    recorder = saved.Recorder()
    printer = AnswerPrinter(traces=traces)

    def on_event(event: events.Event) -> None:
        recorder(event)
        if not as_json or isinstance(event, events.Asked | events.Calling | events.Called):
            printer(event)

    async def run() -> Run:
        async with agent_of(wanted) as agent:
            return await agent.ask(question, on_event)

    try:
        printer.doing(CONNECTING)
        found = until_stopped(run())
    finally:
        printer.stop()
    if save is not None:
        run_file.write(save, recorder.events)
    if as_json:
        terminal.write_json(msgspec.json.encode(found))
    return finished(found, says_why=True)


def finished(run: Run, *, says_why: bool) -> int:
    """The exit code of a run. Raises: Undetermined with the reason if there is no answer."""
    if run.problem and says_why:
        raise failures.Undetermined(visible(run.problem))
    return failures.GOOD if run.is_complete else failures.UNDETERMINED


def replay(path: str, *, as_json: bool, traces: bool) -> int:
    happened = run_file.read(path)
    runs = [event.run for event in happened if isinstance(event, events.Ended)]
    if as_json:
        terminal.write_json(msgspec.json.encode(runs[0] if len(runs) == 1 else runs))
    else:
        printer = AnswerPrinter(traces=traces)
        for event in happened:
            if isinstance(event, events.Asked):
                click.echo(f"> {visible(event.question)}", err=True)
            elif isinstance(event, events.Text):
                printer(events.Text(text=inert(event.text)))
            elif not isinstance(event, events.Calling | events.Called):
                printer(event)
            elif traces and isinstance(event, events.Called):
                printer.trace(event.call)
            else:  # nothing is waited for
                printer.stop()
        printer.stop()
    return finished(runs[-1], says_why=not as_json)


def dry_run(wanted: Wanted, *, as_json: bool) -> int:
    async def look() -> int:
        async with toolbox_of(wanted) as toolbox:
            await toolbox.open()
            servers = toolbox.servers_seen()
            prompt = system_prompt(
                Frame(new_mark()), servers=servers, today=today(), is_qortal=wanted.chain is not None
            )
            found = weigh(list(toolbox.offers.values()), prompt, servers)
        if as_json:
            terminal.write_json(msgspec.json.encode(found))
        else:
            terminal.write(table(found))
        return failures.GOOD if found.tools else failures.UNDETERMINED

    return until_stopped(look())
