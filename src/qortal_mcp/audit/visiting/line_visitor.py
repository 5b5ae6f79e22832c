"""A visitor over lines and frames: a program, a WebSocket, or HTTP+SSE."""

import asyncio
import contextlib
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
from ..steps import StepName
from .budget import Budget
from .messages import encoded, request
from .probes import BATCH, RAW_ID
from .visitor import Visitor


class LineVisitor(Visitor):
    """A program, a WebSocket, or HTTP+SSE: messages go one way and come another."""

    def __init__(self, transport: Transport, budget: Budget) -> None:
        super().__init__(transport, budget)
        self._wire: RawWire | None = None
        self._heard: list[Heard] = []
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
        """The observer of the wire."""
        if record.direction != "received":
            return
        if record.kind == "closed":
            self._closed = record.data.decode("utf-8", "replace")
        elif record.kind in ("message", "noise", "too_long"):
            self._volume.add(len(record.data))
            if not self._volume.is_too_much:
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
        name: StepName,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
        id_: int | str | None = None,
    ) -> Step:
        id_ = next(self._ids) if id_ is None else id_
        message = encoded(request(id_, method, self._params(method, params)))
        return await self._step(name, message, subject, id_, seconds)

    async def send(
        self, name: StepName, data: bytes, *, expects: int | None = None, seconds: float | None = None
    ) -> Step:
        return await self._step(name, data, "", expects, seconds if expects is not None else 0.0)

    async def _step(
        self, name: StepName, data: bytes, subject: str, id_: int | str | None, seconds: float | None
    ) -> Step:
        self._budget.take()
        began = self._began = time.monotonic()
        end: Ending = "sent"
        try:
            await self._write(data)
            if id_ is not None:
                end = await self._wait(id_, self._limits.request_seconds if seconds is None else seconds)
        except ClientError as exc:
            await self._end_of_wire()
            # A program that lives but does not read is silent, not gone.
            end = "closed" if self._closed is not None else "silent"
            self._closed = self._closed or str(exc)
        heard, self._heard = tuple(self._heard), []
        return self._keep(
            Step(
                name=name,
                subject=subject,
                text=data.decode("utf-8", "replace"),
                heard=heard,
                seconds=round(time.monotonic() - began, 3),
                end=end,
                remark=" ".join([self._closed, *self._last_words()]) if self._closed else "",
            )
        )

    async def _write(self, data: bytes) -> None:
        assert self._wire is not None, "attached before the first step"
        await self._wire.send_raw(data + b"\n" if self.transport == "stdio" else data)

    async def _end_of_wire(self) -> None:
        """A broken pipe is felt before the end of the program is known."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.grace_seconds):
                while self._closed is None:
                    self._news.clear()
                    await self._news.wait()

    async def _wait(self, id_: int | str, seconds: float) -> Ending:
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
            if self._volume.is_too_much:
                return "silent"
            left = end - time.monotonic()
            if left <= 0:
                return "answered" if nearly else "silent"
            # Not `wait_for`: before Python 3.12 it loses an interrupt that comes together with news.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._news.wait()

    def _match(self, heard: Heard, id_: int | str) -> str:
        data = heard.data
        values = lenient.read(data).values
        found = ""
        for value in values:
            for part in value if isinstance(value, list) else [value]:
                if is_reply(part):
                    given = part.get("id")
                    if given == id_ and not isinstance(given, bool):
                        return "answer"
                    if not isinstance(given, int) or isinstance(id_, str) or given >= id_:
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
            if self.revision in MODERN:
                continue
            reply: dict[str, Any] = {"jsonrpc": "2.0", "id": question["id"]}
            if question["method"] == "ping":
                reply["result"] = {}
            else:
                reply["error"] = {"code": -32601, "message": "Method not found"}
            await self._write(encoded(reply))

    async def probe_batch(self) -> None:
        """Where it is passed over, the next answer shows it sooner than silence does."""
        step = await self.send("raw batch", BATCH, expects=RAW_ID, seconds=self._limits.grace_seconds)
        if step.end == "silent" and not self.is_over:
            await self.ask("after-batch", "ping", seconds=self._limits.probe_seconds)

    async def end_input(self) -> None:
        """Close a program's standard input and see whether it ends by itself."""
        wire = self._wire
        if not isinstance(wire, StdioWire) or self.is_over:
            return
        began = time.monotonic()
        left = await wire.end_input(self._limits.exit_seconds)
        heard, self._heard = tuple(self._heard), []
        self.steps.append(
            Step(
                name="end-of-input",
                heard=heard,
                seconds=round(time.monotonic() - began, 3),
                end="answered" if left else "silent",
                remark=self._closed or "",
            )
        )

    def _last_words(self) -> list[str]:
        """The last line of a program's standard error."""
        tail = self._wire.stderr_tail if isinstance(self._wire, StdioWire) else b""
        lines = tail.decode("utf-8", "replace").strip().splitlines()
        return [f"and said: {lines[-1][:300]}"] if lines else []

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()
