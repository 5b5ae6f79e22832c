"""A visitor over Streamable HTTP."""

import asyncio
import itertools
import time
from collections.abc import Mapping
from typing import Any

from ...client.envelope import members, mirrored
from ...client.errors import ClientError, ConnectionLost, MalformedReply
from ...client.wires.http import HttpWire
from ...protocol import headers as mcp_headers
from ...protocol import lenient
from ...protocol.framing import Event
from ...protocol.headers import HeaderParam
from ...protocol.versions import LEGACY, MODERN, MODERN_ERA
from ..evidence import Ending, Headers, Heard, Http, Step, Transport
from ..matching import is_reply
from .visitor import Budget, Flooded, client_limits, encoded, modern_params, request

_HEADER_SINCE = "2025-06-18"


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
        self._pieces = 0
        self._bytes = 0

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

    async def send(
        self, name: str, data: bytes, *, expects: int | None = None, seconds: float | None = None
    ) -> Step:
        return await self.post(name, data, _merged(dict(self._usual("")), None), expects, seconds=seconds)

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
            heard += self._counted(_heard_in(reply.body, reply.events))
            if not is_whole and id_ is not None and not any(_answers(one.text, id_) for one in heard):
                end = "silent"
        except ConnectionLost as exc:
            remark = str(exc)
            end = "silent" if remark.startswith("no reply within") else "closed"
            is_whole = False
            self._lost = end == "closed" and "ClientConnector" in remark
        except MalformedReply as exc:
            remark = str(exc)
            heard += self._counted([Heard(too_long=True)])
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
        if self._is_flooded:
            raise Flooded(
                f"it said more than {self._limits.heard_pieces} things or {self._limits.heard_bytes} bytes in one visit"
            )
        return step

    def _counted(self, heard: list[Heard]) -> list[Heard]:
        self._pieces += len(heard)
        self._bytes += sum(len(one.data) + len(one.event) + len(one.event_id) for one in heard)
        return heard

    @property
    def _is_flooded(self) -> bool:
        return self._pieces > self._limits.heard_pieces or self._bytes > self._limits.heard_bytes

    async def _resumed(self, step: Step, id_: int | None) -> Step:
        """A stream that broke off before its reply is taken up again where its server offers that."""
        from msgspec import structs

        if id_ is None or step.http is None or step.http.media_type != "text/event-stream":
            return step
        heard, last = list(step.heard), _last_id(step)
        for _ in range(self._limits.resumptions):
            if last is None or self._is_flooded or any(_answers(one.text, id_) for one in heard):
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
            heard += self._counted(_heard_in(b"", reply.events))
            last = next((event.id for event in reversed(reply.events) if event.id is not None), None)
        return structs.replace(step, heard=tuple(heard)) if len(heard) > len(step.heard) else step

    def last_words(self) -> list[str]:
        return []

    async def close(self) -> None:
        await self._wire.close()


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
