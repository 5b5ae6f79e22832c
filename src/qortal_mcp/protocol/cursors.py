"""Opaque cursors of the list methods: where the next page starts, and nothing else that a client could use."""

import base64
import binascii

from . import errors

_PREFIX = b"page:"


def write(offset: int) -> str:
    return base64.urlsafe_b64encode(_PREFIX + b"%d" % offset).decode().rstrip("=")


def read(cursor: str, page_items: int, total: int) -> int:
    """The offset a cursor of ours stands for.

    Raises: ProtocolError for any text that we did not write for this list.
    """
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    digits = raw.removeprefix(_PREFIX)
    if raw.startswith(_PREFIX) and digits.isdigit() and len(digits) < 10:
        offset = int(digits)
        if 0 < offset < total and offset % page_items == 0 and write(offset) == cursor:
            return offset
    raise errors.ProtocolError(errors.INVALID_PARAMS, "Invalid cursor")
