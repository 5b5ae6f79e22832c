"""What every command with settings does first: read them, set up logging, warn about old variables."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from ... import logs, settings
from ...settings import NO_FILE, ConfigOptions, LogOptions, Options, SettingsFile

log = logging.getLogger(__name__)

_LEVEL = f"{settings.PREFIX}LOG_LEVEL"
_ASKS_ONCE = {f"{settings.PREFIX}LOG_FORMAT": "text"}


def begin(
    groups: Sequence[type[Options]],
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    asks_once: bool = False,
    file: SettingsFile = NO_FILE,
) -> list[Any]:
    """The groups that a command takes, without those for the file and for logging, which are applied here.

    A command that `asks_once` reports what went wrong itself: log lines are for people there, and only for errors.

    Raises: WrongSetting.
    """
    settings.refuse_unknown_variables(environ)
    values = [
        settings.read(group, flags, environ, file)
        for group in groups
        if group not in (LogOptions, ConfigOptions)
    ]
    for_logs = {**_ASKS_ONCE, **environ} if asks_once and "log_format" not in file.values else environ
    logging_options = settings.read(LogOptions, flags, for_logs, file)
    logs.configure(logging_options.log_level, logging_options.log_format)
    if old := settings.old_variables(environ):
        # In the message itself: a field `NAME=text` would look like the value of the variable.
        listed = "; ".join(f"{name} ({instead})" for name, instead in old.items())
        log.warning("ignored variables of another server: %s", listed)
    is_told = "log_level" in flags or environ.get(_LEVEL) or "log_level" in file.values
    if asks_once and not is_told:
        logs.configure("error", logging_options.log_format)
    return values
