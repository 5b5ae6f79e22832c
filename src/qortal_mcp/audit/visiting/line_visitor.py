"""A visitor over lines and frames: a program, a WebSocket, or HTTP+SSE."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Mapping
from typing import Any

from ...client.errors import ClientError
from ...client.transcript import Record
from ...client.wires.stdio import StdioWire
from ...client.wires.wire import RawWire
from ...protocol import lenient
from ...protocol.versions import MODERN
from ..evidence import Ending, Heard, Step, Transport
from ..matching import is_reply
from .visitor import Budget, Flooded, encoded, modern_params, request


class LineVisitor:
    """A program, a WebSocket, or HTTP+SSE: messages go one way and come another."""

    def __init__(self, transport: Transport, budget: Budget) -> None:
        self.transport = transport
        self.revision = ""
        self.steps: list[Step] = []
        self._budget = budget
        self._limits = budget.limits
        self._ids = itertools.count(1)
        self._wire: RawWire | None = None
        self._heard: list[Heard] = []
        self._pieces = self._bytes = 0
        self._began = time.monotonic()
        self._news = asyncio.Event()
        self._closed: str | None = None
        self._questions: list[dict[str, Any]] = []

    def attach(self, wire: RawWire) -> None:
        self._wire = wire

    @property
    def is_over(self) -> bool:
        return self._closed is not None

    def observe(self, record: Record) -> None:
        """What the wire's observer is told."""
        if record.direction != "received":
            return
        if record.kind == "closed":
            self._closed = record.data.decode("utf-8", "replace")
        elif record.kind in ("message", "noise", "too_long"):
            self._pieces += 1
            self._bytes += len(record.data)
            if not self._is_flooded:
                self._heard.append(
                    Heard.of(
                        record.data,
                        at=round(time.monotonic() - self._began, 3),
                        too_long=record.kind == "too_long",
                        binary=record.binary,
                    )
                )
        self._news.set()

    async def ask(
        self,
        name: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
    ) -> Step:
        id_ = next(self._ids)
        if self.revision in MODERN or method == "server/discover":
            params = modern_params(params)
        return await self._step(name, encoded(request(id_, method, params)), subject, id_, seconds)

    async def tell(self, name: str, method: str, params: Mapping[str, Any] | None = None) -> Step:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = dict(params)
        return await self._step(name, encoded(message), "", None, 0.0)

    async def send(
        self, name: str, data: bytes, *, expects: int | None = None, seconds: float | None = None
    ) -> Step:
        return await self._step(name, data, "", expects, seconds if expects is not None else 0.0)

    async def _step(
        self, name: str, data: bytes, subject: str, id_: int | None, seconds: float | None
    ) -> Step:
        self._budget.take()
        began = self._began = time.monotonic()
        end: Ending = "sent"
        try:
            assert self._wire is not None, "attached before the first step"
            await self._wire.send_raw(data + b"\n" if self.transport == "stdio" else data)
            if id_ is not None:
                end = await self._wait(id_, self._limits.request_seconds if seconds is None else seconds)
        except ClientError as exc:
            await self._end_of_wire()
            # A program that lives but does not read is silent, not gone.
            end = "closed" if self._closed is not None else "silent"
            self._closed = self._closed or str(exc)
        heard, self._heard = tuple(self._heard), []
        step = Step(
            name=name,
            subject=subject,
            text=data.decode("utf-8", "replace"),
            heard=heard,
            seconds=round(time.monotonic() - began, 3),
            end=end,
            remark=" ".join([self._closed, *self.last_words()]) if self._closed else "",
        )
        self.steps.append(step)
        if self._is_flooded:
            raise Flooded(f"it said more than {self._limits.heard_pieces} things in one visit")
        return step

    async def _end_of_wire(self) -> None:
        """A broken pipe is felt before the end of the program is known."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.grace_seconds):
                while self._closed is None:
                    self._news.clear()
                    await self._news.wait()

    @property
    def _is_flooded(self) -> bool:
        return self._pieces > self._limits.heard_pieces or self._bytes > self._limits.heard_bytes

    async def _wait(self, id_: int, seconds: float) -> Ending:
        """Until the answer is there, or what may be taken for it, or nothing more can come."""
        looked = 0
        nearly = False
        end = time.monotonic() + seconds
        while True:
            self._news.clear()
            for heard in self._heard[looked:]:
                looked += 1
                match = self._match(heard, id_)
                if match == "answer":
                    return "answered"
                if match == "nearly" and not nearly:
                    nearly = True
                    end = min(end, time.monotonic() + self._limits.grace_seconds)
            await self._answer_questions()
            if looked < len(self._heard):
                continue
            if self._closed is not None:
                return "answered" if nearly else "closed"
            if self._is_flooded:
                return "silent"
            left = end - time.monotonic()
            if left <= 0:
                return "answered" if nearly else "silent"
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), left)

    def _match(self, heard: Heard, id_: int) -> str:
        data = heard.data
        values = lenient.read(data).values
        found = ""
        for value in values:
            for part in value if isinstance(value, list) else [value]:
                if is_reply(part):
                    given = part.get("id")
                    if given == id_ and not isinstance(given, bool):
                        return "answer"
                    if given is None or not isinstance(given, int) or given >= id_:
                        found = "nearly"
                elif isinstance(part, dict) and "method" in part and "id" in part:
                    self._questions.append(part)
        if not values:
            # The last line of a message that was written over several, or the header of another protocol.
            text = data.strip()
            if text in (b"}", b"]") or text.lower().startswith(b"content-length:"):
                found = "nearly"
        return found

    async def _answer_questions(self) -> None:
        """A server that asks gets an answer: it may wait for it before it goes on."""
        questions, self._questions = self._questions[:16], []
        for question in questions:
            if self.revision in MODERN or self._wire is None:
                continue
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": question["id"]}
            if question["method"] == "ping":
                reply["result"] = {}
            else:
                reply["error"] = {"code": -32601, "message": "Method not found"}
            data = encoded(reply)
            await self._wire.send_raw(data + b"\n" if self.transport == "stdio" else data)

    async def end_input(self) -> Step | None:
        """Close a program's standard input and see whether it ends by itself."""
        wire = self._wire
        if not isinstance(wire, StdioWire) or self.is_over:
            return None
        began = time.monotonic()
        left = await wire.end_input(self._limits.exit_seconds)
        heard, self._heard = tuple(self._heard), []
        step = Step(
            name="end-of-input",
            heard=heard,
            seconds=round(time.monotonic() - began, 3),
            end="answered" if left else "silent",
            remark=self._closed or "",
        )
        self.steps.append(step)
        return step

    def last_words(self) -> list[str]:
        tail = self._wire.stderr_tail if isinstance(self._wire, StdioWire) else b""
        lines = tail.decode("utf-8", "replace").strip().splitlines()
        return [f"and said: {lines[-1][:300]}"] if lines else []

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()
