"""Takes a model's reasoning out of its text while the text streams, so that only the answer is shown."""

import re

# Reasoning stands between such tags. An opening one counts at the start of a line only: an answer may mention one.
_TAG = re.compile(r"<(/?)(think|thinking)>|\[(/?)THINK\]", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "[think]", "</think>", "</thinking>", "[/think]")
_LONGEST = max(map(len, _TAGS))


class Thinking:
    """What is fed in pieces comes out without its reasoning; `text` is the answer so far.

    Some templates write the opening tag themselves, and the model only the closing one. What came before such a
    tag is reasoning too. It may have been shown by then, but is no part of `text`. `is_never_opened` says that a
    model does so: with `waits`, nothing of its next reply is shown before the tag.
    """

    def __init__(self, at_most: int, *, waits: bool = False) -> None:
        self._at_most = at_most
        self._waits = waits
        # What came before the first tag, while it is waited for.
        self._waiting: list[str] = []
        self.is_never_opened = False
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
        if self._waits:
            end = self._held + piece
            if _TAG.search(end) is None:
                self._waiting.append(piece)
                self._held = end[-_LONGEST:]
                return ""
            piece = self._waited() + piece
        was_shown = bool(self._size)
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
                shown = [self._forget(was_shown=was_shown)]
                at = tag.end()
        held = _beginning_of_tag(text, at)
        if not self._is_inside:
            shown.append(self._keep(text[at:held]))
        self._held = text[held:]
        return "".join(shown)

    def close(self) -> str:
        """The rest. Reasoning that was never closed stays reasoning."""
        if self._waits:
            return self.feed(self._waited()) + self.close()
        rest, self._held = self._held, ""
        return "" if self._is_inside else self._keep(rest)

    def _waited(self) -> str:
        waited = "".join(self._waiting)
        self._waits, self._waiting, self._held = False, [], ""
        return waited

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

    def _forget(self, *, was_shown: bool) -> str:
        """What was kept so far was reasoning."""
        self.is_never_opened = True
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
