"""What comes out: a message, or the report of something that was dropped."""

from msgspec import Struct

from ...protocol import jsonrpc
from ...text import printable, shortened
from ..repair import Change

_SHOWN_CHARS = 200


class Message(Struct, frozen=True):
    """One message of a server in right form, on one line. Without data: something was dropped, `changes` say why.

    An answer that comes too late is dropped without a reason: nothing is wrong with it.
    """

    data: bytes
    changes: tuple[Change, ...] = ()
    # The message as it was read already. Of something that was dropped: the request that it was meant for.
    parsed: jsonrpc.Message | None = None


def dropped(code: str, data: bytes) -> Message:
    return Message(b"", (Change(code=code, before=_shown(data)),))


def _shown(data: bytes) -> str:
    return shortened(printable(data[: 4 * _SHOWN_CHARS].decode("utf-8", "replace")), _SHOWN_CHARS)
