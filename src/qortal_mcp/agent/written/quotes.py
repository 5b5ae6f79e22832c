"""Whether a call that a model wrote stands in what a tool returned: a model that quotes must not make a call by that.

Texts are compared as letters, digits and underscores alone, after escapes of every kind were undone.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from ...text import original

# JSON in JSON in JSON has several backslashes.
_CODE = re.compile(r"(?<!\\)\\++u(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{4}))")
_CONTROL = re.compile(r"(?<!\\)\\++[nrtbf]")
_SILENT = re.compile(r"\W+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
# Real calls have some ten arguments. To compare fewer errs on the side of caution.
_MOST_PARTS = 200
# A whole alphabet that nothing shows, and that models read.
_TAGS = {code: chr(code - 0xE0000) for code in range(0xE0020, 0xE007F)}


class Quotes:
    """What tools returned, ready to have calls looked up in it."""

    def __init__(self, results: Sequence[str]) -> None:
        self._results = results
        # Made when the first call is looked up: most messages contain none.
        self._forms: list[set[str]] | None = None

    def hold(self, name: str, arguments: dict[str, Any], text: str) -> bool:
        """Whether one result has the text of a call, or its name and all of its arguments, in any order and spelling."""
        if self._forms is None:
            self._forms = [_forms(result) for result in self._results]
        calls = _forms(text)
        parts = [name, *islice(_leaves(arguments), _MOST_PARTS)]
        return any(
            any(call in form for call in calls) or _has_all(parts, form, result)
            for result, forms in zip(self._results, self._forms, strict=True)
            for form in forms
        )


def _has_all(parts: Sequence[str], form: str, result: str) -> bool:
    missing = [part for part in parts if _bare(part) not in form]
    if not missing:
        return True
    if not all(_NUMBER.fullmatch(part) for part in missing):
        return False
    # The same number may be written in another way.
    numbers = {float(found[0]) for found in _NUMBER.finditer(result)}
    return all(float(part) in numbers for part in missing)


def _forms(text: str) -> set[str]:
    """As it is, and with its escapes undone: a backslash may be either part of an escape or of the text."""
    forms = {_bare(text)}
    if "\\" in text or "&" in text:
        undone = _CONTROL.sub(" ", _CODE.sub(_character, original(html.unescape(text))))
        forms |= {_bare(undone), _bare(_CODE.sub(_character, text))}
    return forms


def _character(code: re.Match[str]) -> str:
    number = int(code[1] or code[2], 16)
    return chr(number) if number <= 0x10FFFF else ""


def _bare(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_TAGS))
    return _SILENT.sub("", text.casefold())


def _leaves(arguments: dict[str, Any]) -> Iterator[str]:
    """The names and values of all arguments, as texts."""
    left: list[Any] = [arguments]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            yield from part
            left += part.values()
        elif isinstance(part, list):
            left += part
        # True, False and null are too common to say anything.
        elif part is not None and not isinstance(part, bool):
            yield str(part)
