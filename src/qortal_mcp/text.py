"""Text that strangers wrote, made safe to show: hidden and controlling characters become visible.

Reversible: what is escaped can be read back, and two texts that differ only in hidden characters
stay different. Clean text comes back as the same object.
"""

import re

# Characters that steer a terminal, hide text or reorder it. A backslash before "u{" is escaped too, so
# that a text that merely looks escaped cannot be mistaken for one that was.
_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ud800-\udfff"
    "]"
    r"|\\(?=u\{)"
)
_ESCAPED = re.compile(r"\\u\{([0-9A-F]{1,6})\}")


def printable(text: str) -> str:
    """The text with every hidden character written as `\\u{XXXX}`."""
    return _HIDDEN.sub(_escape, text) if _HIDDEN.search(text) else text


def _escape(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match.group()):04X}}}"


def original(text: str) -> str:
    """What `printable` was given."""
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)


def shortened(text: str, at_most: int) -> str:
    """The text cut to a length, with a mark that says how much is gone."""
    if len(text) <= at_most:
        return text
    return f"{text[:at_most]}… [{len(text) - at_most} more characters]"
