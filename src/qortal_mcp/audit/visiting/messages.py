"""The messages that an audit sends, and the answer to one as forgiving as can be."""

import json
import re
from collections.abc import Mapping
from typing import Any

from ... import __version__
from ...protocol import lenient, messages
from ...protocol.versions import MODERN_ERA
from ...text import printable
from ..evidence import Step, Visit
from ..matching import is_reply, pieces_of

INFO = {"name": "qortal-mcp-audit", "version": __version__}


def encoded(message: Any) -> bytes:
    try:
        return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half a character, from the name of a tool or a cursor: only an escape can say it.
        return json.dumps(message, separators=(",", ":")).encode()


def request(id_: int | str, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, **_body(method, params)}


def notification(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", **_body(method, params)}


def _body(method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"method": method} if params is None else {"method": method, "params": dict(params)}


def modern_params(params: Mapping[str, Any] | None, revision: str = MODERN_ERA) -> dict[str, Any]:
    """Parameters as 2026-07-28 wants them: with `_meta` that says who asks."""
    meta = {
        messages.PROTOCOL_VERSION: revision,
        messages.CLIENT_CAPABILITIES: {},
        messages.CLIENT_INFO: INFO,
    }
    return {**(params or {}), "_meta": meta}


def answer_in(step: Step) -> dict[str, Any] | None:
    """The reply to a step, as forgiving as can be: what a visit goes on with, not what is judged."""
    nearly = None
    question = lenient.read(step.sent).values
    wanted = question[0].get("id") if question and isinstance(question[0], dict) else None
    # Lines that are a message only together are joined, whatever the transport.
    pieces = pieces_of(Visit(name="", transport="stdio"), Step(name="", heard=step.heard))
    for value in (value for piece in pieces for value in piece.values):
        for part in value if isinstance(value, list) else [value]:
            if is_reply(part):
                if part.get("id") == wanted:
                    return dict(part)
                nearly = nearly or part
    return nearly


def result_in(step: Step) -> Any:
    """The result of a step; None where it has none."""
    reply = answer_in(step)
    return None if reply is None else reply.get("result")


# Of the words with which a server refuses; a page of HTML says little more.
_MOST_WORDS = 200


def said_in(step: Step) -> str:
    """The words of a refusal, short and printable, to be added to a sentence; empty where there are none."""
    body = b"".join(heard.data for heard in step.heard)
    values = lenient.read(body).values
    value = values[0] if len(values) == 1 else None
    for name in ("error", "message", "detail", "error_description"):
        inner = value.get(name) if isinstance(value, dict) else None
        value = inner if isinstance(inner, str | dict) else value
    text = value if isinstance(value, str) else body.decode("utf-8", "replace")
    words = " ".join(printable(_TAGS.sub(" ", text)).split())
    return f'; it says "{words[:_MOST_WORDS]}"' if words else ""


_TAGS = re.compile(r"<[^<>]{0,200}>")
