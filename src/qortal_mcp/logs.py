"""How log lines look and where they go: always standard error, because on stdio standard output is the wire.

The only place that configures logging. All other code logs a constant event and puts values into fields
that start with `qortal_mcp.`; the id of the current request is added here.
"""

import logging
import os
import sys
import time
from contextvars import ContextVar
from typing import Any, Literal, TextIO

import msgspec

from .limits import DEFAULT
from .text import shortened, visible

PREFIX = "qortal_mcp."

# The id of the HTTP request that is being served; the same as in its X-Request-ID.
request_id: ContextVar[str] = ContextVar("request_id", default="")

# Which of several processes that serve together this is; 0: there is only one.
_worker = 0


def name_worker(number: int) -> None:
    """From now on every line says which worker wrote it."""
    global _worker
    _worker = number


def id_prefix() -> str:
    """How the ids of requests begin, in no two processes alike."""
    random = os.urandom(4).hex()
    return f"{_worker}.{random}" if _worker else random


# An event is one of our constants or a library's sentence; a traceback of 200 frames is a loop.
_EVENT_CHARS = 1000
_TRACEBACK_CHARS = 20_000

# Libraries that log too much: addresses of nodes, every request again, greetings.
_QUIET = {
    "aiohttp": logging.WARNING,
    "asyncio": logging.WARNING,
    "uvicorn": logging.WARNING,
    "uvicorn.error": logging.ERROR,
    "uvicorn.access": logging.CRITICAL,
    "websockets": logging.WARNING,
}

_EXPECTED = ("ASGI callable returned without completing", "Invalid UTF-8 sequence received")

_encode = msgspec.json.Encoder().encode


class _Formatter(logging.Formatter):
    """What both forms share: the time, the fields, the traceback."""

    def moment(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return f"{seconds}.{int(record.msecs):03d}Z"

    def event(self, record: logging.LogRecord) -> str:
        return shortened(visible(record.getMessage()), _EVENT_CHARS)

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        found = {name: _bounded(value) for name, value in vars(record).items() if name.startswith(PREFIX)}
        if id_ := request_id.get():
            found = {"request_id": _bounded(id_), **found}
        if _worker:
            found = {"worker": _worker, **found}
        return found

    def traceback(self, record: logging.LogRecord) -> str:
        if not record.exc_info or record.exc_info[0] is None:
            return ""
        text = visible(self.formatException(record.exc_info))
        # The end says what went wrong.
        return text if len(text) <= _TRACEBACK_CHARS else "…" + text[-_TRACEBACK_CHARS:]


class JsonLines(_Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": self.event(record),
            **self.fields(record),
        }
        if traceback := self.traceback(record):
            line["traceback"] = traceback
        return _encode(line).decode()


class Text(_Formatter):
    """For people: fields without their prefix after the event, a traceback indented below it."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(
            f" {name.removeprefix(PREFIX)}={_one_line(value)}" for name, value in self.fields(record).items()
        )
        line = f"{self.moment(record)} {record.levelname.lower():7} {_one_line(self.event(record))}{fields}"
        if traceback := self.traceback(record):
            line += "".join(f"\n    {part}" for part in traceback.splitlines())
        return line


def _bounded(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    return shortened(visible(str(value)), DEFAULT.log_value_chars)


def _one_line(value: object) -> str:
    """A newline in a value must not start what looks like one of our lines."""
    return str(value).replace("\n", r"\u{000A}")


class _Unsurprised(logging.Filter):
    """Leaves out what uvicorn logs as an error but is not: clients that left, were refused, or sent invalid text."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith(_EXPECTED)


_UNSURPRISED = _Unsurprised()


class _Stderr(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:
        """If standard error is closed, nobody needs to hear about it."""


def configure(level: str, form: Literal["auto", "json", "text"], stream: TextIO | None = None) -> None:
    """Send every log line to standard error in this form. Calling it again replaces the earlier choice."""
    target = sys.stderr if stream is None else stream
    handler = _Stderr(target)
    # There is no standard error at all if the process was started with it closed.
    on_terminal = target is not None and target.isatty()
    handler.setFormatter(Text() if form == "text" or (form == "auto" and on_terminal) else JsonLines())
    root = logging.getLogger()
    for earlier in [h for h in root.handlers if isinstance(h, _Stderr)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(least)
    logging.getLogger("uvicorn.error").addFilter(_UNSURPRISED)
