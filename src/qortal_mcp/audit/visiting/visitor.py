"""One connection to the server under audit: ask, listen, and write down every byte. Judges nothing.

A visitor goes on whatever comes: an answer that is nearly right ends a step like a right one. What only one transport
can do is a method all the same, which does nothing or something simpler for the others, so that a visit is written once.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...protocol.versions import MODERN
from ..evidence import Gap, Step, Transport, Visit
from ..steps import StepName
from .budget import Budget, Volume
from .messages import encoded, modern_params, notification
from .probes import OLD_VERSION, RAW_ID


class Visitor(ABC):
    """What the visits need of a connection, whatever it is made of."""

    def __init__(self, transport: Transport, budget: Budget) -> None:
        self.transport = transport
        self.revision = ""
        # What the server declared.
        self.capabilities: Mapping[str, Any] = {}
        self.steps: list[Step] = []
        self._budget = budget
        self._limits = budget.limits
        self._volume = Volume(budget.limits)
        self._ids = itertools.count(1)

    @abstractmethod
    async def ask(
        self,
        name: StepName,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
        id_: int | str | None = None,
    ) -> Step:
        """A request, and whatever comes until it is answered. Raises: Stopped, Flooded."""

    @abstractmethod
    async def send(
        self, name: StepName, data: bytes, *, expects: int | None = None, seconds: float | None = None
    ) -> Step:
        """Bytes as they are, and whatever comes until the id they expect. Raises: Stopped, Flooded."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """The connection is gone; asking is pointless."""

    @abstractmethod
    async def close(self) -> None: ...

    async def tell(self, name: StepName, method: str, params: Mapping[str, Any] | None = None) -> Step:
        """A notification. Raises: Stopped, Flooded."""
        return await self.send(name, encoded(notification(method, params)))

    async def resolve_refusal(
        self, step: Step, params: Mapping[str, Any], gap: Callable[[Gap], None]
    ) -> Step:
        """`initialize` again where the transport sent it elsewhere; the same step where it did not."""
        return step

    def agree(self, revision: str, step: Step) -> None:
        """From now on this revision is spoken; the step is the handshake that agreed on it."""
        self.revision = revision

    def learn(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """What the tools want beside the message when they are called."""
        return

    def can_name(self, tool: str) -> bool:
        """Whether a call to this tool can be sent at all."""
        return True

    def has_lost_session(self, step: Step) -> bool:
        """Whether a step found the session gone. Another handshake opens a new one."""
        return False

    async def probe_version_headers(self) -> None:
        """Requests without, and with a wrong, version beside the message."""
        return

    @abstractmethod
    async def probe_batch(self) -> None:
        """One request as a batch."""

    async def probe_names(self, tool: str) -> None:
        """Calls to a tool that does not exist, whose name beside the message is wrong or encoded."""
        return

    async def probe_session(self) -> None:
        """What surrounds the messages of a handshake revision. It ends the session."""
        return

    async def probe_modern(self) -> None:
        """Requests of 2026-07-28 that must be refused."""
        await self.send("modern-old-version", OLD_VERSION, expects=RAW_ID)

    async def end_input(self) -> None:
        """Say that nothing more will come, and see whether the server ends by itself."""
        return

    def visit(self, name: str) -> Visit:
        """What was seen so far."""
        return Visit(name=name, transport=self.transport, revision=self.revision, steps=tuple(self.steps))

    def _params(self, method: str, params: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        is_modern = self.revision in MODERN or method == "server/discover"
        return modern_params(params) if is_modern else params

    def _keep(self, step: Step) -> Step:
        """Raises: Flooded."""
        self.steps.append(step)
        self._volume.check()
        return step
