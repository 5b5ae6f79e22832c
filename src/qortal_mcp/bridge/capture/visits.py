"""From the records of one connection to the visits of a capture. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from ...audit.evidence import Ending, Heard, Http, Step, Transport, Visit
from ...audit.matching import is_reply
from ...audit.secrets import safe_url
from ...client import transcript
from ...client.transcript import Record
from ...protocol import lenient
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.versions import LEGACY

# Methods of an older dialect, which are the same steps.
_SAME = {"list_tools": "tools/list", "call_tool": "tools/call"}
# Which parameter says what a step is about.
_ABOUT = {
    "initialize": "protocolVersion",
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tools/list": "cursor",
    "prompts/list": "cursor",
    "resources/list": "cursor",
    "resources/templates/list": "cursor",
}
_HTTP_STEPS = {"GET": "get-stream", "DELETE": "delete-session"}


class Side(Struct, kw_only=True):
    """One connection of a bridge: to the server, or to a client."""

    name: str
    transport: Transport
    is_repaired: bool = False
    # Known beforehand where there is no handshake.
    revision: str = ""
    records: list[Record] = []

    def copied(self) -> Side:
        return structs.replace(self, records=list(self.records))


class _Open(Struct):
    """A step that is being put together."""

    step: Step
    at: float
    # The id of its request; MISSING for what is not answered.
    id: Any
    heard: list[Heard]
    last_at: float
    http: Http | None = None
    end: Ending | None = None
    remark: str = ""


_NONE: Any = object()
# Clocks differ a little.
_NEARLY = 0.99


class Patience(Struct, frozen=True):
    """How long a request waits for its answer, and what time it is."""

    seconds: float
    now: float


def visits_of(side: Side, target: str, hidden: frozenset[str], patience: Patience) -> Iterator[Visit]:
    """The visits of a connection; empty ones are left out."""
    if side.transport != "http" or side.is_repaired:
        parts = [(side.name, side.transport, side.records)]
    else:
        parts = list(_by_transport(side))
    for name, transport, records in parts:
        builder = _Builder(transport, target, hidden, patience)
        for record in records:
            builder.take(record)
        steps = builder.steps()
        if steps:
            yield Visit(
                name=name,
                transport=transport,
                revision=side.revision or builder.revision,
                is_repaired=side.is_repaired,
                steps=steps,
            )


def _by_transport(side: Side) -> Iterator[tuple[str, Transport, list[Record]]]:
    """A server that is asked by POST first may turn out to speak HTTP+SSE of 2024-11-05."""
    records = side.records
    first = next((one for one in records if one.event is not None and one.event.event == "endpoint"), None)
    if first is None:
        yield side.name, "http", records
        return
    opening = first.http.request if first.http is not None else None
    at = next((number for number, one in enumerate(records) if one.http is opening), 0)
    yield f"{side.name}, before HTTP+SSE", "http", records[:at]
    yield side.name, "sse", records[at:]


class _Builder:
    """Gives every piece that came to the step that it belongs to."""

    def __init__(self, transport: Transport, target: str, hidden: frozenset[str], patience: Patience) -> None:
        self._transport = transport
        self._target = target
        self._hidden = hidden
        self._patience = patience
        self._open: list[_Open] = []
        # Those that wait for an answer, by their place, the newest last; and by the id that it should have.
        self._waiting: dict[int, _Open] = {}
        self._by_id: dict[str, list[_Open]] = {}
        self._by_request: dict[int, _Open] = {}
        self._early: list[Heard] = []
        self.revision = ""

    @property
    def _is_http(self) -> bool:
        return self._transport == "http"

    def take(self, record: Record) -> None:
        if record.direction == "sent":
            self._sent(record)
        elif record.kind == "closed" and (record.http is None or not self._is_http):
            for one in list(self._waiting.values()):
                one.remark = record.data.decode("utf-8", "replace")
                self._settle(one, "closed")
        elif self._is_http and record.http is not None:
            self._replied(record, record.http)
        elif record.kind in ("message", "noise", "too_long"):
            self._heard(record)

    def _sent(self, record: Record) -> None:
        http = record.http
        if record.kind == "message":
            name, subject, id_ = _question(record.data)
        elif record.kind == "head" and self._is_http and http is not None and http.method in _HTTP_STEPS:
            name, subject, id_ = _HTTP_STEPS[http.method], "", _NONE
        else:
            return
        if name == "notifications/cancelled":
            self._cancelled(record)
        data = record.data.rstrip(b"\r\n")
        heard, self._early = self._early, []
        step = _Open(
            step=Step(name=name, subject=subject, **_written(data)),
            at=record.at,
            id=id_,
            heard=heard,
            last_at=record.at,
        )
        if self._is_http and http is not None:
            step.http = Http(
                method=http.method,
                path="" if (url := safe_url(http.url)) == self._target else url,
                sent=tuple(one for one in http.headers if one[0].lower() not in self._hidden),
                is_whole=False,
            )
            self._by_request[id(http)] = step
        self._open.append(step)
        if id_ is not _NONE:
            self._waiting[id(step)] = step
            self._by_id.setdefault(str(id_), []).append(step)

    def _settle(self, one: _Open, end: Ending) -> None:
        if one.end is None:
            one.end = end
            if self._waiting.pop(id(one), None) is not None:
                self._by_id[str(one.id)].remove(one)

    def _cancelled(self, record: Record) -> None:
        """Whoever asked does not wait any longer: because it took too long, or for reasons of its own."""
        values = lenient.read(record.data).values
        params = values[0].get("params") if len(values) == 1 and isinstance(values[0], dict) else None
        asked = self._asked(params.get("requestId")) if isinstance(params, dict) else None
        if asked is not None:
            self._settle(asked, self._unanswered(asked, record.at))

    def _unanswered(self, one: _Open, now: float) -> Ending:
        # What is still worked on is neither answered nor refused.
        is_late = one.id is not _NONE and now - one.at >= _NEARLY * self._patience.seconds
        return "silent" if is_late else "sent"

    def _replied(self, record: Record, http: transcript.Http) -> None:
        step = self._by_request.get(id(http.request))
        if step is None or step.http is None:
            return
        step.last_at = record.at
        if record.kind == "head":
            step.http = structs.replace(
                step.http, status=http.status, headers=http.headers, is_whole=step.step.name != "get-stream"
            )
            if http.status is not None and (http.status >= 400 or http.status in (202, 204)):
                self._settle(step, "answered")
        elif record.kind == "event" and record.event is not None:
            event = record.event
            if event.data is not None or event.id is not None:
                data = (event.data or "").encode("utf-8", "surrogateescape")
                self._keep(step, data, record, event=event.event, event_id=event.id or "")
        elif record.kind == "too_long":
            self._keep(step, b"", record, too_long=True)
        elif record.kind in ("message", "body") and record.event is None and not _is_stream(step.http):
            self._keep(step, record.data, record)

    def _heard(self, record: Record) -> None:
        data = record.data
        lines = (
            data.splitlines(keepends=True) if self._transport == "stdio" and b"\n" in data[:-1] else [data]
        )
        step = self._owner(data)
        for line in lines:
            more = {"too_long": record.kind == "too_long", "binary": record.binary}
            if step is None:
                self._early.append(Heard.of(line, **more))
            else:
                self._keep(step, line, record, whole=data, **more)

    def _keep(
        self, step: _Open, data: bytes, record: Record, whole: bytes | None = None, **more: object
    ) -> None:
        step.heard.append(Heard.of(data, at=round(max(0.0, record.at - step.at), 3), **more))
        step.last_at = record.at
        for value in _replies(data if whole is None else whole):
            asked = self._asked(value.get("id")) or (step if step.end is None else None)
            if asked is not None:
                self._settle(asked, "answered")
                if asked.step.name == "initialize":
                    self._agree(asked, data if whole is None else whole)

    def _agree(self, asked: _Open, data: bytes) -> None:
        results = [reply.get("result") for reply in _read_replies(data)]
        result = next((one for one in results if isinstance(one, dict)), None)
        if result is None:
            return
        version = result.get("protocolVersion")
        wanted = asked.step.subject
        # What is not a revision is judged by the one asked for, as an audit does.
        self.revision = version if version in LEGACY else wanted if wanted in LEGACY else ""

    def _owner(self, data: bytes) -> _Open | None:
        """The step that a piece answers, else the last one that waits, else the last."""
        for value in _replies(data):
            if (asked := self._asked(value.get("id"))) is not None:
                return asked
        waiting = next(reversed(self._waiting.values()), None)
        return waiting or (self._open[-1] if self._open else None)

    def _asked(self, id_: Any) -> _Open | None:
        if id_ is None or isinstance(id_, bool | list | dict):
            return None
        return next(iter(self._by_id.get(str(id_), ())), None)

    def steps(self) -> tuple[Step, ...]:
        return tuple(self._finished(one) for one in self._open)

    def _finished(self, one: _Open) -> Step:
        return structs.replace(
            one.step,
            heard=tuple(one.heard),
            http=one.http,
            seconds=round(max(0.0, one.last_at - one.at), 3),
            end=one.end or self._unanswered(one, self._patience.now),
            remark=one.remark,
        )


def _is_stream(http: Http) -> bool:
    """Whether the bytes of a reply are in its events."""
    return http.media_type == "text/event-stream"


def _written(data: bytes) -> dict[str, Any]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": data}


class _Known(Struct):
    """As much of a message as says which one it is. Most messages are well-formed, and this reads them fast."""

    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_decode = decoder(_Known)


def _question(data: bytes) -> tuple[str, str, Any]:
    """The name of a step, what it is about, and the id that its answer has."""
    values = lenient.read(data).values
    message = values[0] if len(values) == 1 else None
    method = message.get("method") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(method, str):
        return ("answer" if is_reply(message) else "raw message"), "", _NONE
    name = _SAME.get(method, method)
    params = message.get("params")
    about = params.get(_ABOUT.get(name, "")) if isinstance(params, dict) else None
    return name, about if isinstance(about, str) else "", message.get("id", _NONE)


def _replies(data: bytes) -> Iterator[dict[str, Any]]:
    """The answers in a piece; of well-formed ones only the id."""
    try:
        found = _decode(data)
    except UNREADABLE:
        yield from _read_replies(data)
        return
    if found.method is UNSET and (found.result is not UNSET or found.error is not UNSET):
        yield {} if found.id is UNSET else {"id": found.id}


def _read_replies(data: bytes) -> Iterator[dict[str, Any]]:
    for value in lenient.read(data).values:
        for part in value if isinstance(value, list) else [value]:
            if is_reply(part):
                yield part
