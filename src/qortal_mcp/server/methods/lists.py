"""The lists of what this server offers."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from ...protocol import messages
from ...protocol.decoding import decoder
from ..offers.catalogue import Kind
from .call import ServerCall

_decode_list = decoder(messages.ListParams)


def lister(kind: Kind) -> Callable[[ServerCall], bytes]:
    def handler(call: ServerCall) -> bytes:
        cursor = call.params(_decode_list).cursor
        body = call.server.catalogue.page(kind, call.route.revision, None if cursor is UNSET else cursor)
        return call.shape.complete(body, cache=call.server.options.cache_hint)

    return handler
