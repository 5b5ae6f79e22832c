"""One connection to the server under audit: ask, listen, and write down every byte. Judges nothing.

A visitor goes on whatever comes: an answer that is nearly right ends a step like a right one.
"""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Mapping
from typing import Any, Protocol

from .. import __version__
from ..client.envelope import members, mirrored
from ..client.errors import ClientError, ConnectionLost, MalformedReply
from ..client.http import HttpWire
from ..client.limits import ClientLimits
from ..client.stdio import StdioWire
from ..client.transcript import Record
from ..client.wire import RawWire
from ..protocol import headers as mcp_headers
from ..protocol import lenient, messages
from ..protocol.framing import Event
from ..protocol.headers import HeaderParam
from ..protocol.versions import LEGACY, MODERN, MODERN_ERA
from .evidence import Ending, Headers, Heard, Http, Step, Transport, Visit
from .limits import AuditLimits
from .subjects import is_reply

INFO = {"name": "qortal-mcp-audit", "version": __version__}
_HEADER_SINCE = "2025-06-18"
_JSON_HEADERS: Headers = (
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
)


class Stopped(Exception):
    """The limits of the whole audit are reached; the text says which."""


class Budget:
    """What is left of the whole audit, shared by all visits."""

    def __init__(self, limits: AuditLimits) -> None:
        self.limits = limits
        self.requests = 0
        self._end = time.monotonic() + limits.total_seconds

    def take(self) -> None:
        """Raises: Stopped."""
        self.requests += 1
        if self.requests > self.limits.requests:
            raise Stopped(f"{self.limits.requests} requests were made")
        if time.monotonic() > self._end:
            raise Stopped(f"{self.limits.total_seconds:g} s are over")


def encoded(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def request(id_: int, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": dict(params)}


def modern_params(params: Mapping[str, Any] | None, revision: str = MODERN_ERA) -> dict[str, Any]:
    """Parameters as 2026-07-28 wants them: with `_meta` that says who asks."""
    meta = {
        messages.PROTOCOL_VERSION: revision,
        messages.CLIENT_CAPABILITIES: {},
        messages.CLIENT_INFO: INFO,
    }
    return {**(params or {}), "_meta": meta}


class Visitor(Protocol):
    """What the visits need of a connection, whatever it is made of."""

    revision: str
    transport: Transport
    steps: list[Step]

    async def ask(
        self,
        name: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
    ) -> Step:
        """A request, and whatever comes until it is answered. Raises: Stopped."""
        ...

    async def tell(self, name: str, method: str, params: Mapping[str, Any] | None = None) -> Step:
        """A notification. Raises: Stopped."""
        ...

    async def send(self, name: str, data: bytes, *, expects: int | None = None) -> Step:
        """Bytes that are no request of their own. Raises: Stopped."""
        ...

    @property
    def is_over(self) -> bool:
        """The connection is gone; asking is pointless."""
        ...

    async def close(self) -> None: ...


def visit_of(visitor: Visitor, name: str) -> Visit:
    return Visit(
        name=name, transport=visitor.transport, revision=visitor.revision, steps=tuple(visitor.steps)
    )


# -- answers ------------------------------------------------------------------------------------------


def answer_in(step: Step) -> dict[str, Any] | None:
    """The reply to a step, as forgiving as can be: what a visit goes on with, not what is judged."""
    nearly = None
    question = lenient.read(step.sent).values
    wanted = question[0].get("id") if question and isinstance(question[0], dict) else None
    for value in _values(step.heard):
        if is_reply(value):
            if value.get("id") == wanted:
                return dict(value)
            nearly = nearly or value
    return nearly


def _values(heard: tuple[Heard, ...]) -> list[Any]:
    from .subjects import pieces_of

    step = Step(name="", heard=heard)
    visit = Visit(name="", transport="stdio")
    found = [value for piece in pieces_of(visit, step) for value in piece.values]
    return [part for value in found for part in (value if isinstance(value, list) else [value])]


def result_in(step: Step) -> Any:
    """The result of a step; None where it has none."""
    reply = answer_in(step)
    return None if reply is None else reply.get("result")


# -- lines and frames ---------------------------------------------------------------------------------


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
            if self._pieces <= self._limits.heard_pieces and self._bytes <= self._limits.heard_bytes:
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

    async def send(self, name: str, data: bytes, *, expects: int | None = None) -> Step:
        return await self._step(name, data, "", expects, None if expects is not None else 0.0)

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
            end = "closed"
            self._closed = self._closed or str(exc)
        heard, self._heard = tuple(self._heard), []
        step = Step(
            name=name,
            subject=subject,
            text=data.decode("utf-8", "replace"),
            heard=heard,
            seconds=round(time.monotonic() - began, 3),
            end=end,
            remark=self._closed or "",
        )
        self.steps.append(step)
        return step

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

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.close()


# -- HTTP ---------------------------------------------------------------------------------------------


class HttpVisitor:
    """Streamable HTTP: every question is a request of its own."""

    transport: Transport = "http"

    def __init__(self, url: str, headers: Headers, budget: Budget) -> None:
        self.url = url
        self.revision = ""
        self.steps: list[Step] = []
        self.session_id: str | None = None
        self.header_params: dict[str, tuple[HeaderParam, ...]] = {}
        self._headers = headers
        self._budget = budget
        self._limits = budget.limits
        self._ids = itertools.count(1)
        self._client_limits = client_limits(budget.limits)
        self._wire = HttpWire(url, headers=headers, limits=self._client_limits)
        self._lost = False

    @property
    def is_over(self) -> bool:
        return self._lost

    async def move(self, url: str) -> None:
        """Go on at another address."""
        await self._wire.close()
        self.url = url
        self._wire = HttpWire(url, headers=self._headers, limits=self._client_limits)

    async def ask(
        self,
        name: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Step:
        """`headers` replace those that belong to the revision; None leaves one out."""
        id_ = next(self._ids)
        own: dict[str, str | None] = dict(self._usual(method))
        if self.revision in MODERN or method == "server/discover":
            params = modern_params(params)
            own = dict(
                mirrored(
                    MODERN_ERA,
                    method,
                    members({key: value for key, value in params.items() if key != "_meta"}),
                    self.header_params.get(subject, ()),
                )
            )
        sent = _merged(own, headers)
        return await self.post(name, encoded(request(id_, method, params)), sent, id_, subject, seconds)

    async def tell(self, name: str, method: str, params: Mapping[str, Any] | None = None) -> Step:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = dict(params)
        return await self.post(name, encoded(message), _merged(dict(self._usual(method)), None), None)

    async def send(self, name: str, data: bytes, *, expects: int | None = None) -> Step:
        return await self.post(name, data, _merged(dict(self._usual("")), None), expects)

    def _usual(self, method: str) -> Headers:
        found: list[tuple[str, str]] = []
        if self.session_id is not None and method != "initialize":
            found.append((mcp_headers.SESSION_ID, self.session_id))
        if self.revision in LEGACY and self.revision >= _HEADER_SINCE and method != "initialize":
            found.append((mcp_headers.PROTOCOL_VERSION, self.revision))
        return tuple(found)

    async def post(
        self,
        name: str,
        data: bytes,
        headers: Headers,
        id_: int | None,
        subject: str = "",
        seconds: float | None = None,
    ) -> Step:
        """One POST; where the server asks for patience, several. Each becomes a step."""
        for attempt in itertools.count(1):
            step = await self._exchange("POST", name, data, headers, id_, subject, seconds)
            wait = _asked_wait(step, self._limits.retry_seconds)
            if wait is None or attempt >= self._limits.retries:
                return step
            await asyncio.sleep(wait)
        raise AssertionError("attempts are counted up to a limit")

    async def get(self, name: str, headers: Headers = (), url: str | None = None) -> Step:
        sent = (("accept", "text/event-stream"), *headers)
        return await self._exchange("GET", name, None, sent, None, "", self._limits.get_seconds, url=url)

    async def delete(self, name: str) -> Step:
        return await self._exchange("DELETE", name, None, self._usual(""), None, "", self._limits.get_seconds)

    async def _exchange(
        self,
        method: str,
        name: str,
        data: bytes | None,
        headers: Headers,
        id_: int | None,
        subject: str,
        seconds: float | None,
        *,
        url: str | None = None,
    ) -> Step:
        self._budget.take()
        began = time.monotonic()
        heard: list[Heard] = []
        status: int | None = None
        answered: Headers = ()
        is_whole, remark = True, ""
        end: Ending = "answered"
        patience = self._limits.request_seconds if seconds is None else seconds
        wire = self._wire if url is None else HttpWire(url, headers=self._headers, limits=self._client_limits)

        def is_answer(event: Event) -> bool:
            return id_ is not None and _answers(event.data or "", id_)

        try:
            reply = await wire.exchange(
                data,
                headers,
                method=method,
                usual_headers=data is not None,
                timeout=patience,
                is_answer=is_answer,
                # A stream that was opened by GET stays open: its head is all that is wanted.
                stream_head_only=method == "GET",
            )
            status, answered, is_whole = reply.status, reply.headers, reply.is_whole
            heard += _heard_in(reply.body, reply.events)
            if not is_whole and id_ is not None and not any(_answers(one.text, id_) for one in heard):
                end = "silent"
        except ConnectionLost as exc:
            remark = str(exc)
            end = "silent" if remark.startswith("no reply within") else "closed"
            is_whole = False
            self._lost = end == "closed" and "ClientConnector" in remark
        except MalformedReply as exc:
            remark = str(exc)
            heard.append(Heard(too_long=True))
        finally:
            if wire is not self._wire:
                await wire.close()
        if id_ is None and method == "POST" and end == "answered":
            end = "sent"
        step = Step(
            name=name,
            subject=subject,
            text=(data or b"").decode("utf-8", "replace"),
            heard=tuple(heard),
            http=Http(
                method=method,
                path="" if url is None else url,
                sent=headers,
                status=status,
                headers=answered,
                is_whole=is_whole,
            ),
            seconds=round(time.monotonic() - began, 3),
            end=end,
            remark=remark,
        )
        step = await self._resumed(step, id_)
        self.steps.append(step)
        return step

    async def _resumed(self, step: Step, id_: int | None) -> Step:
        """A stream that broke off before its reply is taken up again where its server offers that."""
        from msgspec import structs

        if id_ is None or step.http is None or step.http.media_type != "text/event-stream":
            return step
        heard, last = list(step.heard), _last_id(step)
        for _ in range(self._limits.resumptions):
            if last is None or any(_answers(one.text, id_) for one in heard):
                break
            await asyncio.sleep(0.1)
            sent = (("accept", "text/event-stream"), ("last-event-id", last), *self._usual(""))
            try:
                reply = await self._wire.exchange(
                    None,
                    sent,
                    method="GET",
                    usual_headers=False,
                    timeout=self._limits.request_seconds,
                    is_answer=lambda event: _answers(event.data or "", id_),
                )
            except ClientError:
                break
            heard += _heard_in(b"", reply.events)
            last = next((event.id for event in reversed(reply.events) if event.id is not None), None)
        return structs.replace(step, heard=tuple(heard)) if len(heard) > len(step.heard) else step

    async def close(self) -> None:
        await self._wire.close()


def client_limits(limits: AuditLimits) -> ClientLimits:
    return ClientLimits(
        message_bytes=limits.message_bytes,
        request_seconds=limits.request_seconds,
        exit_seconds=limits.exit_seconds,
        linger_seconds=limits.linger_seconds,
    )


def _merged(own: Mapping[str, str | None], more: Mapping[str, str | None] | None) -> Headers:
    return tuple((name, value) for name, value in {**own, **(more or {})}.items() if value is not None)


def _answers(text: str, id_: int | None) -> bool:
    return any(
        is_reply(part) and (part.get("id") == id_ or not isinstance(part.get("id"), int))
        for value in lenient.read(text.encode("utf-8", "surrogateescape")).values
        for part in (value if isinstance(value, list) else [value])
    )


def _heard_in(body: bytes, events: tuple[Event, ...]) -> list[Heard]:
    heard = [Heard.of(body)] if body else []
    for event in events:
        if event.data is not None or event.id is not None:
            data = (event.data or "").encode("utf-8", "surrogateescape")
            heard.append(Heard.of(data, event=event.event, event_id=event.id or ""))
    return heard


def _last_id(step: Step) -> str | None:
    return next((one.event_id for one in reversed(step.heard) if one.event_id), None)


def _asked_wait(step: Step, at_most: float) -> float | None:
    if step.http is None or step.http.status != 429:
        return None
    text = step.http.header("retry-after") or "1"
    return min(float(text), at_most) if text.isascii() and text.isdigit() else 1.0
