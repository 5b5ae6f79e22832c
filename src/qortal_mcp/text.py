"""Text that strangers wrote, made safe to show: hidden and controlling characters become visible.

Reversible: what is escaped can be read back, and two texts that differ only in hidden characters
stay different. Clean text comes back as the same object.
"""

import functools
import re

from .patterns import Pattern

# An emoji made of several characters. It stays as it is: joiners and selectors inside it hide nothing.
_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_TONE = "[\U0001f3fb-\U0001f3ff]?"
_KEPT = (
    f"{_PICTURE}{_TONE}\ufe0f?(?:\u200d{_PICTURE}{_TONE}\ufe0f?)+"
    f"|{_PICTURE}\ufe0f"
    "|[0-9#*]\ufe0f\u20e3"
    # Persian and its kin write a non-joiner between the letters of a word.
    "|[\u0620-\u06ff]\u200c(?=[\u0620-\u06ff])"
)
# Characters that control a terminal, hide text or reorder it. A backslash before "u{" is escaped too, so
# that a text that merely looks escaped cannot be mistaken for one that was.
_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls except tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc"
    "\U00013430-\U00013455\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ud800-\udfff"
)
_HIDDEN = Pattern(rf"[{_STEERING}]|\\u\{{")
_HIDDEN_IN_JSON = Pattern(f"[{_STEERING}]")
_KEPT_PART = Pattern(f"({_KEPT})")
# Every sequence that is kept has one of these in it.
_JOINERS = Pattern("[\u200c\u200d\ufe0f]")
# Only valid code points: the last one is 10FFFF.
_ESCAPED = Pattern(r"\\u\{(0?[0-9A-F]{1,5}|10[0-9A-F]{4})\}")


def printable(text: str) -> str:
    """The text with every hidden character written as `\\u{XXXX}`."""
    # Most text is a key, an address or a plain name, and is seen to be clean without a search.
    if text.isascii() and text.isprintable() and "\\u{" not in text:
        return text
    if not _HIDDEN.search(text):
        return text
    if not _JOINERS.search(text):
        return _escaped(text)
    parts = _KEPT_PART.split(text)
    parts[::2] = map(_escaped, parts[::2])
    return "".join(parts)


def visible(text: str) -> str:
    """Untrusted text with nothing hidden in it, whether or not it was made printable before. Not reversible."""
    return "\\u{".join(map(printable, text.split("\\u{")))


def printable_json(text: str) -> str:
    """JSON with every hidden character written as JSON escapes it: the same value, with nothing hidden in it."""
    if not _HIDDEN_IN_JSON.search(text):
        return text
    parts = _KEPT_PART.split(text)
    parts[::2] = (_HIDDEN_IN_JSON.sub(_json_escape, part) for part in parts[::2])
    return "".join(parts)


def _json_escape(hidden: re.Match[str]) -> str:
    units = hidden[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escaped(text: str) -> str:
    return text.replace("\\u{", "\\u{005C}u{").translate(_escapes())


@functools.cache
def _escapes() -> dict[int, str]:
    """How each hidden character is written."""
    ranges = re.findall("(.)(?:-(.))?", _STEERING, re.DOTALL)
    codes = (code for first, last in ranges for code in range(ord(first), ord(last or first) + 1))
    return {code: f"\\u{{{code:04X}}}" for code in codes}


def original(text: str) -> str:
    """What `printable` was given."""
    shown: str = _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text)
    return shown


def shortened(text: str, at_most: int) -> str:
    """The text cut to a length, with a marker that says how much is missing."""
    if len(text) <= at_most:
        return text
    return f"{text[:at_most]}… [{len(text) - at_most} more characters]"
