"""What a server says unasked."""

from collections.abc import Iterator
from typing import Any

from ..protocol.messages import LOG_LEVELS
from . import nulls
from .repair import ABSENT, SAFE, Change, Repair, repair
from .subjects import Notice

_MESSAGE = "notifications/message"
# The optional members of each. null may mean something in methods that are not known.
_OPTIONAL = {
    _MESSAGE: ("logger", "_meta"),
    "notifications/progress": ("total", "message", "_meta"),
    "notifications/cancelled": ("reason", "_meta"),
    "notifications/resources/updated": ("title", "_meta"),
    "notifications/resources/list_changed": ("_meta",),
    "notifications/tools/list_changed": ("_meta",),
    "notifications/prompts/list_changed": ("_meta",),
    "roots/list": ("_meta",),
    "ping": ("_meta",),
    "elicitation/create": ("mode", "task", "_meta"),
    "sampling/createMessage": (
        "modelPreferences",
        "systemPrompt",
        "includeContext",
        "temperature",
        "stopSequences",
        "metadata",
        "tools",
        "toolChoice",
        "task",
        "_meta",
    ),
}
# What logging libraries call them.
_MEANT = {
    "trace": "debug",
    "verbose": "debug",
    "information": "info",
    "log": "info",
    "warn": "warning",
    "err": "error",
    "severe": "error",
    "fatal": "critical",
    "crit": "critical",
    "panic": "emergency",
    "emerg": "emergency",
}


@repair("params-null", SAFE, Notice, makes="The member is left out.")
def params_null(notice: Notice) -> Iterator[Change]:
    """A message of the server whose params are not an object."""
    if notice.params is not ABSENT and not isinstance(notice.params, dict):
        before, notice.params = notice.params, ABSENT
        yield Change(path="params", before=before)


@repair("optional-null", SAFE, Notice, makes="The member is left out.")
def notice_null(notice: Notice) -> Iterator[Change]:
    """null where a member of a notification or request should be left out."""
    yield from nulls.dropped(notice.params, _OPTIONAL.get(notice.method, ()), "params")


@repair(
    "log-level-invalid",
    SAFE,
    Notice,
    makes="The level that is meant: warn is warning, fatal is critical; warning if it is not known.",
)
def log_level_invalid(notice: Notice) -> Iterator[Change]:
    """A log message with a level that does not exist."""
    if notice.method != _MESSAGE or not isinstance(notice.params, dict):
        return
    level = notice.params.get("level")
    if level not in LOG_LEVELS:
        word = level.strip().lower() if isinstance(level, str) else ""
        notice.params["level"] = word if word in LOG_LEVELS else _MEANT.get(word, "warning")
        yield Change(path="params.level", before=level, after=notice.params["level"])


NOTICES: tuple[Repair[Any], ...] = (params_null, notice_null, log_level_invalid)
