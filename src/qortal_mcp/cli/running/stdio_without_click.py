"""`stdio` without click, which would take a tenth of the allowed start time.

Handles only command lines that it understands completely and leaves everything else, mistakes and `--help` included, to click.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

from ...settings import PREFIX, LogOptions, NodeOptions, WatchOptions, WrongSetting, options_of
from .start import begin

GROUPS = (NodeOptions, WatchOptions, LogOptions)
_CONFIG = f"{PREFIX}CONFIG"


def serve_stdio(words: Sequence[str]) -> bool:
    """Serve; or return False if click has to handle it."""
    flags = read_flags(words)
    if flags is None or sys.stdout is None or os.environ.get(_CONFIG):
        return False
    from .stdio_server import serve

    try:
        chain, watching = begin(GROUPS, flags, os.environ)
        serve(chain, watching)
    except WrongSetting:
        return False
    return True


def read_flags(words: Sequence[str]) -> dict[str, Any] | None:
    """The flags by field, as click would give them; None if there is anything but well-formed flags."""
    known = {option.flag: option for group in GROUPS for option in options_of(group)}
    flags: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        flag, equals, value = word.partition("=")
        option = known.get(flag)
        if option is None or (option.is_switch and equals):
            return None
        if option.is_switch:
            flags[option.field] = True
            continue
        text = value if equals else next(left, None)
        if text is None:
            return None
        flags[option.field] = [*flags.get(option.field, ()), text] if option.repeatable else text
    return flags
