"""The agent: asks a model, makes the calls it wants, and gives it the results until it answers.

    agent = Agent(endpoint, toolbox, Setup())
    run = await agent.ask("Who owns the name alice-test?", on_event)

One agent holds one conversation. A run always comes back, whatever a model, an endpoint or a server does.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .asking import Asking, Means
from .conversation import Conversation
from .events import Asked, Ended, Event
from .limits import DEFAULT, AgentLimits
from .model.endpoint import Endpoint
from .prompt.framing import Frame
from .prompt.room import Room
from .prompt.system import system_prompt
from .run import Run, Spent
from .secrets import Secrets
from .tools.toolbox import Toolbox


class Setup(Struct, frozen=True, kw_only=True):
    """What an agent is told once."""

    limits: AgentLimits = DEFAULT
    # Of the model, in tokens, if it is known; and how a person can raise it.
    window: int | None = None
    raise_window: str = ""
    # The endpoint may cut prompts without a word, as those on one's own machine do.
    may_cut: bool = False
    # The date as the model is told it, and whether Qortal's tools are among those it is offered.
    today: str = ""
    is_qortal: bool = False
    # Unguessable, so that no text can end the frame that is put around it.
    mark: str = ""
    # Never shown, kept or passed on.
    secrets: frozenset[str] = frozenset()


class Agent:
    """One conversation with one model."""

    def __init__(self, endpoint: Endpoint, toolbox: Toolbox, setup: Setup) -> None:
        self.toolbox = toolbox
        self.conversation = Conversation(setup.limits)
        # The newest question. Just before the first one the servers were connected.
        self._asking: Asking | None = None
        self.endpoint = endpoint
        self._setup = setup
        self._means = Means(
            endpoint=endpoint,
            toolbox=toolbox,
            frame=Frame(setup.mark),
            room=Room(setup.limits, setup.window, setup.raise_window, may_cut=setup.may_cut),
            limits=setup.limits,
            secrets=Secrets(setup.secrets),
        )

    @property
    def spent(self) -> Spent:
        """What the newest question has taken so far, even if it was cancelled."""
        return self._asking.spent if self._asking is not None else Spent()

    async def ask(self, question: str, on_event: Callable[[Event], None]) -> Run:
        """Answer a question. Cancelling it leaves the conversation as it was."""
        on_event(Asked(question=question))
        if self._asking is not None:
            await self.toolbox.refresh()
        self._asking = asking = Asking(question, self._means, on_event)
        run = await asking.run(self.conversation, self._system())
        if run.answer:
            self.conversation.add(question, run.answer, tuple(asking.calls.results))
        on_event(Ended(run=run))
        return run

    def _system(self) -> str:
        return system_prompt(
            self._means.frame,
            servers=self.toolbox.servers_seen(),
            today=self._setup.today,
            is_qortal=self._setup.is_qortal,
        )
