"""Log messages: who may send them, and with which levels."""

from collections.abc import Iterator
from typing import Any

from ...protocol.messages import LOG_LEVEL, LOG_LEVELS
from ..judging.check import IN_LEGACY, IN_MODERN, MUST, SHOULD, Check, Defect, check, count_note
from ..subjects import MISSING, Asked, Said, Session

_LOGGING = "server/utilities/logging"
_MESSAGE = "notifications/message"


@check(
    "log-level-invalid",
    MUST,
    Said,
    clause=f"{_LOGGING}: log levels",
    expected=f"A level is one of {', '.join(LOG_LEVELS)}.",
    fix="Map the levels of your logging library: warn is warning, fatal is critical.",
)
def log_level_invalid(said: Said) -> Iterator[Defect]:
    """A log message with a level that does not exist."""
    if said.method != _MESSAGE or not isinstance(said.params, dict):
        return
    if said.params.get("level") not in LOG_LEVELS:
        yield Defect(path="params.level", evidence=said.data)


@check(
    "log-without-capability",
    MUST,
    Session,
    revisions=IN_LEGACY,
    clause=f"{_LOGGING}: capabilities",
    expected="A server that sends log messages declares the capability logging.",
    fix='Declare "logging": {} in the answer to initialize and serve logging/setLevel, or send no log messages.',
)
def log_without_capability(session: Session) -> Iterator[Defect]:
    """Log messages are sent without the capability logging."""
    declared = session.capabilities
    if not isinstance(declared, dict) or "logging" in declared:
        return
    logs = [said for said in session.said if said.method == _MESSAGE and not said.is_request]
    for said in logs[:1]:
        yield Defect(path=_MESSAGE, evidence=said.data, note=count_note(logs), at=(said.visit, said.step))


@check(
    "log-level-not-checked",
    SHOULD,
    Asked,
    only="bad-log-level",
    revisions=IN_LEGACY,
    clause=f"{_LOGGING}: error handling",
    expected="logging/setLevel with a level that does not exist is answered with the error -32602.",
    fix=f"Compare the level with the eight that exist: {', '.join(LOG_LEVELS)}.",
)
def log_level_not_checked(asked: Asked) -> Iterator[Defect]:
    """A log level that does not exist does not get -32602."""
    data = asked.reply.data if asked.reply is not None else b""
    if asked.result is not MISSING:
        yield Defect(path="result", evidence=data)
    elif not asked.is_refused and asked.code not in (
        None,
        -32601,
        -32602,
    ):  # -32601: reported by the check of capabilities
        yield Defect(path="error.code", evidence=data)


@check(
    "modern-log-unasked",
    MUST,
    Said,
    revisions=IN_MODERN,
    clause=f"2026-07-28 {_LOGGING}",
    expected="Log messages are sent only for a request whose _meta asks for a level.",
    fix=f"Send log messages only if the request's _meta has {LOG_LEVEL}.",
)
def modern_log_unasked(said: Said) -> Iterator[Defect]:
    """A log message for a request that did not ask for any."""
    if said.method == _MESSAGE and LOG_LEVEL.encode() not in said.step.sent:
        yield Defect(evidence=said.data)


CHECKS: tuple[Check[Any], ...] = (
    log_level_invalid,
    log_without_capability,
    log_level_not_checked,
    modern_log_unasked,
)
