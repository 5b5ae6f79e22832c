"""What every command with settings does first: read them, set up logging, warn about old variables."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ... import logs, settings
from ...settings import LogOptions, Options

log = logging.getLogger(__name__)

_LEVEL = f"{settings.PREFIX}LOG_LEVEL"
_ASKS_ONCE = {f"{settings.PREFIX}LOG_FORMAT": "text"}


def begin(groups: Sequence[type[Options]], flags: Mapping[str, Any], *, asks_once: bool = False) -> list[Any]:
    """The groups that a command takes, without the one for logging, which is applied here.

    A command that `asks_once` reports what went wrong itself: log lines are for people there, and only for errors.

    Raises: WrongSetting.
    """
    settings.refuse_unknown_variables(os.environ)
    values = [settings.read(group, flags, os.environ) for group in groups if group is not LogOptions]
    logging_options = settings.read(
        LogOptions, flags, {**_ASKS_ONCE, **os.environ} if asks_once else os.environ
    )
    logs.configure(logging_options.log_level, logging_options.log_format)
    if old := settings.old_variables(os.environ):
        # In the message itself: a field `NAME=text` would look like the value of the variable.
        listed = "; ".join(f"{name} ({instead})" for name, instead in old.items())
        log.warning("ignored variables of another server: %s", listed)
    if asks_once and "log_level" not in flags and not os.environ.get(_LEVEL):
        logs.configure("error", logging_options.log_format)
    return values
