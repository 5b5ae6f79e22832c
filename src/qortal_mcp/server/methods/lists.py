"""The lists of what this server offers."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import UNSET

from ...protocol import messages
from ..offers.catalogue import Kind
from .call import Call

_decode_list = msgspec.json.Decoder(messages.ListParams).decode


def lister(kind: Kind) -> Callable[[Call], bytes]:
    def handler(call: Call) -> bytes:
        cursor = call.params(_decode_list).cursor
        body = call.server.catalogue.page(kind, call.route.revision, None if cursor is UNSET else cursor)
        return call.shape.complete(body, cache=call.server.options.cache)

    return handler
