"""Takes a model's reasoning out of its text while the text streams, so that only the answer is shown."""

import re

# Reasoning stands between such tags. An opening one counts at the start of a line only: an answer may mention one.
_TAG = re.compile(r"<(/?)(think|thinking)>|\[(/?)THINK\]", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "[think]", "</think>", "</thinking>", "[/think]")
_LONGEST = max(map(len, _TAGS))


class Thinking:
    """What is fed in pieces comes out without its reasoning; `text` is the answer so far.

    Some templates write the opening tag themselves, and the model only the closing one. What came before such a
    tag is reasoning too. It may have been shown by then, but is no part of `text`.
    """

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._kept: list[str] = []
        self._size = 0
        # The end of what was fed: the beginning of a tag, perhaps.
        self._held = ""
        self._is_inside = False
        self._was_inside = False
        self._is_line_blank = True

    @property
    def text(self) -> str:
        return "".join(self._kept)

    @property
    def is_full(self) -> bool:
        return self._size >= self._at_most

    def feed(self, piece: str) -> str:
        """The part of the text that can be shown now."""
        text = self._held + piece
        shown: list[str] = []
        at = 0
        for tag in _TAG.finditer(text):
            if self._is_inside:
                if _closes(tag):
                    self._is_inside = False
                    at = tag.end()
                continue
            shown.append(self._keep(text[at : tag.start()]))
            at = tag.start()
            if not _closes(tag) and self._is_line_blank:
                self._is_inside = self._was_inside = True
            elif _closes(tag) and not self._was_inside:
                shown.append(self._forget())
                at = tag.end()
        held = _beginning_of_tag(text, at)
        if not self._is_inside:
            shown.append(self._keep(text[at:held]))
        self._held = text[held:]
        return "".join(shown)

    def close(self) -> str:
        """The rest. Reasoning that was never closed stays reasoning."""
        rest, self._held = self._held, ""
        return "" if self._is_inside else self._keep(rest)

    def _keep(self, text: str) -> str:
        if not self._size:
            text = text.lstrip()
        text = text[: self._at_most - self._size]
        if text:
            line = text[text.rfind("\n") + 1 :]
            self._is_line_blank = not line.strip() and ("\n" in text or self._is_line_blank)
            self._kept.append(text)
            self._size += len(text)
        return text

    def _forget(self) -> str:
        """What was kept so far was reasoning."""
        was_shown = bool(self._size)
        self._kept.clear()
        self._size = 0
        self._was_inside = True
        self._is_line_blank = True
        return "\n\n" if was_shown else ""


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[3])


def _beginning_of_tag(text: str, start: int) -> int:
    """Where a tag begins that has not arrived in full; the end of the text if there is none."""
    for at in range(max(start, len(text) - _LONGEST + 1), len(text)):
        rest = text[at:].lower()
        if any(tag.startswith(rest) and tag != rest for tag in _TAGS):
            return at
    return len(text)
