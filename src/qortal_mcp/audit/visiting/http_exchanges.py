"""Requests of one visit over HTTP: each becomes a step, with its status, its headers and every event of its stream."""

import asyncio
import itertools
import time
from collections.abc import Callable

from msgspec import Struct, structs

from ...client.errors import ClientError, ConnectionLost, MalformedReply
from ...client.wires.http import HttpWire
from ...client.wires.routes import DIRECT, Route
from ...protocol import lenient
from ...protocol.framing import Event
from ..evidence import Ending, Headers, Heard, Http, Step
from ..matching import is_reply
from ..steps import StepName
from .budget import Budget, Volume, client_limits

_ACCEPTS_EVENTS = ("accept", "text/event-stream")


class Question(Struct, frozen=True, kw_only=True):
    """One HTTP request."""

    name: StepName
    subject: str = ""
    method: str = "POST"
    data: bytes | None = None
    headers: Headers = ()
    # The id of the reply that is waited for.
    id: int | str | None = None
    seconds: float | None = None
    # Another address than that of the visit.
    url: str | None = None
    # The headers of a GET that takes up a broken stream again.
    resuming: Headers = ()


class _Outcome(Struct, kw_only=True):
    heard: list[Heard] = []
    status: int | None = None
    headers: Headers = ()
    is_whole: bool = True
    end: Ending = "answered"
    remark: str = ""


class HttpExchanges:
    """Sends questions to one address."""

    def __init__(
        self,
        url: str,
        headers: Headers,
        budget: Budget,
        volume: Volume,
        keep: Callable[[Step], Step],
        route: Route = DIRECT,
    ) -> None:
        self.url = url
        self.is_lost = False
        self._headers = headers
        self._budget = budget
        self._limits = budget.limits
        self._volume = volume
        self._keep = keep
        self._route = route
        self._wire = self._wire_to(url)

    def _wire_to(self, url: str) -> HttpWire:
        return HttpWire(url, headers=self._headers, limits=client_limits(self._limits), route=self._route)

    async def move(self, url: str) -> None:
        """Go on at another address."""
        await self._wire.close()
        self.url = url
        self._wire = self._wire_to(url)

    async def close(self) -> None:
        await self._wire.close()

    async def post(self, question: Question) -> Step:
        """One POST; where the server asks for patience, several. Each becomes a step."""
        for attempt in itertools.count(1):
            step = await self.exchange(question)
            wait = _asked_wait(step, self._limits.retry_seconds)
            if wait is None or attempt >= self._limits.retries:
                return step
            await asyncio.sleep(wait)
        raise AssertionError("attempts are counted up to a limit")

    async def get(self, name: StepName, headers: Headers = (), url: str | None = None) -> Step:
        return await self.exchange(
            Question(
                name=name,
                method="GET",
                headers=(_ACCEPTS_EVENTS, *headers),
                seconds=self._limits.get_seconds,
                url=url,
            )
        )

    async def exchange(self, question: Question) -> Step:
        """Raises: Stopped, Flooded."""
        self._budget.take()
        began = time.monotonic()
        outcome = await self._outcome(question)
        step = Step(
            name=question.name,
            subject=question.subject,
            text=(question.data or b"").decode("utf-8", "replace"),
            heard=tuple(outcome.heard),
            http=Http(
                method=question.method,
                path=question.url or "",
                sent=question.headers,
                status=outcome.status,
                headers=outcome.headers,
                is_whole=outcome.is_whole,
            ),
            seconds=round(time.monotonic() - began, 3),
            end=outcome.end,
            remark=outcome.remark,
        )
        return self._keep(await self._resumed(step, question))

    async def _outcome(self, question: Question) -> _Outcome:
        id_, method = question.id, question.method
        wire = self._wire if question.url is None else self._wire_to(question.url)
        found = _Outcome()
        try:
            reply = await wire.exchange(
                question.data,
                question.headers,
                method=method,
                usual_headers=question.data is not None,
                timeout=self._limits.request_seconds if question.seconds is None else question.seconds,
                is_answer=lambda event: id_ is not None and _answers(event.data or "", id_),
                # A stream that was opened by GET stays open: its head is all that is wanted.
                stream_head_only=method == "GET",
            )
            found.status, found.headers, found.is_whole = reply.status, reply.headers, reply.is_whole
            found.heard = self._counted(_heard_in(reply.body, reply.events))
            if not found.is_whole and id_ is not None and not _has_answer(found.heard, id_):
                found.end = "silent"
        except ConnectionLost as exc:
            found.remark = str(exc)
            found.end = "silent" if found.remark.startswith("no reply within") else "closed"
            found.is_whole = False
            self.is_lost = found.end == "closed" and "ClientConnector" in found.remark
        except MalformedReply as exc:
            found.remark = str(exc)
            found.heard = self._counted([Heard(too_long=True)])
        finally:
            if wire is not self._wire:
                await wire.close()
        if id_ is None and method == "POST" and found.end == "answered":
            found.end = "sent"
        return found

    def _counted(self, heard: list[Heard]) -> list[Heard]:
        for one in heard:
            self._volume.add(len(one.data) + len(one.event) + len(one.event_id))
        return heard

    async def _resumed(self, step: Step, question: Question) -> Step:
        """A stream that broke off before its reply is taken up again where its server offers that."""
        id_ = question.id
        if id_ is None or step.http is None or step.http.media_type != "text/event-stream":
            return step
        heard = list(step.heard)
        last = next((one.event_id for one in reversed(heard) if one.event_id), None)
        for _ in range(self._limits.resumptions):
            if last is None or self._volume.is_too_much or _has_answer(heard, id_):
                break
            await asyncio.sleep(0.1)
            try:
                reply = await self._wire.exchange(
                    None,
                    (_ACCEPTS_EVENTS, ("last-event-id", last), *question.resuming),
                    method="GET",
                    usual_headers=False,
                    timeout=self._limits.request_seconds,
                    is_answer=lambda event: _answers(event.data or "", id_),
                )
            except ClientError:
                break
            heard += self._counted(_heard_in(b"", reply.events))
            last = next((event.id for event in reversed(reply.events) if event.id is not None), None)
        return structs.replace(step, heard=tuple(heard)) if len(heard) > len(step.heard) else step


def _has_answer(heard: list[Heard], id_: int | str) -> bool:
    return any(_answers(one.text, id_) for one in heard)


def _answers(text: str, id_: int | str) -> bool:
    return any(
        is_reply(part)
        and (part.get("id") == id_ or not isinstance(part.get("id"), int) or isinstance(id_, str))
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


def _asked_wait(step: Step, at_most: float) -> float | None:
    if step.http is None or step.http.status != 429:
        return None
    text = step.http.header("retry-after") or "1"
    return min(float(text), at_most) if text.isascii() and text.isdigit() else 1.0
