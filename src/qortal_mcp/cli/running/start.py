"""What every command with settings does first: read them, set up logging, warn about old variables."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ... import logs, settings
from ...settings import LogOptions, Options

log = logging.getLogger(__name__)


def begin(groups: Sequence[type[Options]], flags: Mapping[str, Any]) -> list[Any]:
    """The groups that a command takes, without the one for logging, which is applied here.

    Raises: WrongSetting.
    """
    settings.refuse_unknown_variables(os.environ)
    values = [settings.read(group, flags, os.environ) for group in groups if group is not LogOptions]
    logging_options = settings.read(LogOptions, flags, os.environ)
    logs.configure(logging_options.log_level, logging_options.log_format)
    if old := settings.old_variables(os.environ):
        # In the message itself: a field `NAME=text` would look like the value of the variable.
        listed = "; ".join(f"{name} ({instead})" for name, instead in old.items())
        log.warning("ignored variables of another server: %s", listed)
    return values
