"""Words and long runs of characters, as they are compared: `bob` is not part of `bobby`, nor of `bob-2`."""

import re
import unicodedata

# A point, a hyphen or an @ between two letters belongs to the word: alice-test, alice.third.
WORD = re.compile(r"\w+(?:[-.@]+\w+)*")
# Every address, key and signature is such a run.
LONG_RUN = re.compile(r"[0-9A-Za-z]{12,}")
HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]{32,}")
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`|)\]}»”\x00]+", re.IGNORECASE)
# Versions, and addresses of machines.
DOTTED = re.compile(r"(?<![\d.])\d{1,9}(?:\.\d{1,9}){2,8}(?![\d])(?!\.\d)")
# Longer words are not taken apart: that would take quadratic time.
MOST_PARTED = 100
_UP_TO_VERSION = re.compile(r".*?\d\.\d[\d.]*(?=-)")
_HYPHEN = re.compile(r"[-.@]+")


def folded(text: str) -> str:
    """The text for comparison without case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def words_of(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(folded(text)))


def parts_of(word: str) -> list[str]:
    """Parts of a word that are known on their own: of qortal-6.1.8-bb6b1bf, the version and the commit."""
    if len(word) > MOST_PARTED:
        return []
    parts = [
        part for part in _HYPHEN.split(word) if len(part) >= 7 and not part.isdigit() and not part.isalpha()
    ]
    if version := _UP_TO_VERSION.match(word):
        parts.append(version[0])
    return parts


def trimmed_url(url: str) -> str:
    return url.rstrip(".,;:!?*_…").removesuffix("/")


def bare_hex(run: str) -> str:
    """The case of hexadecimal digits says nothing, nor does 0x before them."""
    return run.lower().removeprefix("0x")
