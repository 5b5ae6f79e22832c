"""What the head of an HTTP request says. Everything in it is read once."""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from ..protocol import errors, headers

# If one of these came twice, it would be unclear which one was checked.
_DECISIVE = (b"host", b"origin", b"authorization")


class Accepts(Struct, frozen=True):
    """Which of the two media types a client accepts."""

    json: bool
    events: bool


_JSON_ONLY = Accepts(json=True, events=False)


class Head(dict[bytes, bytes]):
    """The headers by name. If one is sent twice, the last one counts; where that could matter, somebody refuses it.

    Nobody changes it: requests with the same head share one.
    """

    __slots__ = ("accepts", "is_in_doubt", "mirrored", "wrong_types")

    def __init__(self, sent: Sequence[tuple[bytes, bytes]]) -> None:
        super().__init__(sent)
        # Whether one that decides who may come in was sent twice.
        self.is_in_doubt = len(self) != len(sent) and _repeats(sent)
        self.mirrored = headers.pick(sent)
        self.accepts = accepts(self.get(b"accept"))
        # Why the media types of a POST are not acceptable, as status, code and reason.
        self.wrong_types = self._judge_types()

    def _judge_types(self) -> tuple[int, int, str] | None:
        content_type = self.get(b"content-type", b"")
        if content_type != b"application/json":
            media_type = content_type.partition(b";")[0].strip().lower()
            if media_type != b"application/json":
                return 415, errors.INVALID_REQUEST, "Content-Type must be application/json"
        encoding = self.get(b"content-encoding")
        if encoding is not None and encoding.strip().lower() not in (b"", b"identity"):
            return 415, errors.INVALID_REQUEST, "Content-Encoding must be identity"
        if not (self.accepts.json or self.accepts.events):
            return 406, errors.INVALID_REQUEST, "Accept must allow application/json or text/event-stream"
        return None


def _repeats(sent: Sequence[tuple[bytes, bytes]]) -> bool:
    names = [name for name, _ in sent]
    return any(names.count(name) > 1 for name in _DECISIVE)


@lru_cache(maxsize=256)
def accepts(header: bytes | None) -> Accepts:
    """Read an Accept header. Without one, JSON; `*/*` accepts both."""
    if header is None:
        return _JSON_ONLY
    types = {part.partition(b";")[0].strip().lower() for part in header.split(b",") if not _is_refused(part)}
    return Accepts(
        json=bool(types & {b"application/json", b"application/*", b"*/*"}),
        events=bool(types & {b"text/event-stream", b"text/*", b"*/*"}),
    )


def _is_refused(part: bytes) -> bool:
    """Whether a type is listed with weight 0, which means "anything but this"."""
    for parameter in part.split(b";")[1:]:
        name, _, value = parameter.partition(b"=")
        if name.strip().lower() == b"q":
            return not value.strip().strip(b"0.")
    return False
