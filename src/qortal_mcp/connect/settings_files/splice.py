"""One change at one place of a file."""

from msgspec import Struct


class Splice(Struct, frozen=True):
    """The bytes from `start` to `end` become `text`."""

    start: int
    end: int
    text: bytes

    def applied(self, data: bytes) -> bytes:
        return data[: self.start] + self.text + data[self.end :]

    def moved(self, by: int) -> "Splice":
        return Splice(self.start + by, self.end + by, self.text)


def in_text(text: str, start: int, end: int, new: str) -> Splice:
    """A change that was found in the text, as one of its bytes."""
    before = len(text[:start].encode())
    return Splice(before, before + len(text[start:end].encode()), new.encode())


def line_end(data: bytes) -> str:
    """How lines end in this file."""
    at = data.find(b"\n")
    return "\r\n" if at > 0 and data[at - 1 : at] == b"\r" else "\n"
