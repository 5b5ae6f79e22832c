"""Behind `/ask`: which model there is, and one question to it with the tools of this server.

Imported by the first request for it: an agent and its connections take longer to load than everything else.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence

from msgspec.structs import replace

from ...agent.agent import Agent
from ...agent.events import Calling, Event
from ...agent.limits import AgentLimits
from ...agent.run import Run
from ...agent.tools.server import ToolServer
from ...agent.tools.toolbox import Toolbox
from ...client.options import Options
from ...model_from_settings import Chosen, NoModel, choose, endpoint_of, limits_of, setup_of
from ...server.dispatch import Server
from ...settings import WrongSetting
from ...text import visible
from ..setup import ConsoleSetup
from .allowance import Share
from .limits import ConsoleLimits
from .questions import Question, Turn


class Unavailable(Exception):
    """No model can be asked. Its text says why, and the next step."""


class Answering:
    """Knows for some seconds which model there is. Everything else is made anew for each question."""

    def __init__(self, server: Server, setup: ConsoleSetup, limits: ConsoleLimits) -> None:
        self._server = server
        self._setup = setup
        self._limits = limits
        self._choosing = asyncio.Lock()
        self._known: Chosen | Unavailable | None = None
        self._known_until = 0.0

    async def model(self) -> Chosen:
        """Raises: Unavailable."""
        async with self._choosing:
            if self._known is None or time.monotonic() >= self._known_until:
                self._known = await self._look()
                self._known_until = time.monotonic() + self._limits.model_seconds
            known = self._known
        if isinstance(known, Unavailable):
            raise Unavailable(*known.args)
        return known

    async def _look(self) -> Chosen | Unavailable:
        setup = self._setup
        try:
            return await choose(
                setup.model, limits_of(setup.question), setup.environ, looks_here=setup.is_loopback
            )
        except (NoModel, WrongSetting) as exc:
            return Unavailable(f"{visible(str(exc)).rstrip('.')}.")

    def asked(self, question: Question, chosen: Chosen, share: Share) -> "Asked":
        limits = limits_of(self._setup.question)
        limits = replace(
            limits,
            tokens=share.tokens,
            question_seconds=share.seconds,
            start_seconds=min(limits.start_seconds, share.seconds),
            round_calls=min(limits.round_calls, share.calls),
            answer_chars=min(limits.answer_chars, self._limits.answer_chars),
            argument_chars=min(limits.argument_chars, self._limits.argument_chars),
        )
        return Asked(self._server, question, chosen, limits)


class Asked:
    """One question on its way, and what it has taken so far, even if it is cancelled."""

    def __init__(self, server: Server, question: Question, chosen: Chosen, limits: AgentLimits) -> None:
        self._server = server
        self._question = question
        self._chosen = chosen
        self._limits = limits
        self._agent: Agent | None = None
        self.calls = 0

    @property
    def tokens(self) -> int:
        return self._agent.spent.tokens if self._agent is not None else 0

    async def answer(self, on_event: Callable[[Event], None]) -> Run:
        def count(event: Event) -> None:
            self.calls += isinstance(event, Calling)
            on_event(event)

        async with self._opened() as agent:
            self._agent = agent
            return await agent.ask(self._question.question.strip(), count)

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[Agent]:
        own = ToolServer(self._server, label="qortal", options=Options(), is_ours=True)
        toolbox = Toolbox([own], self._limits)
        endpoint = endpoint_of(self._chosen, self._limits)
        try:
            await toolbox.open()
            agent = Agent(endpoint, toolbox, setup_of(self._chosen, self._limits, is_qortal=True))
            _remind(agent, self._question.conversation)
            yield agent
        finally:
            await endpoint.close()
            await toolbox.close()


def _remind(agent: Agent, turns: Sequence[Turn]) -> None:
    for turn in turns:
        agent.conversation.add(turn.question, turn.answer, turn.results)
