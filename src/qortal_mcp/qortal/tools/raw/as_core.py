"""Answers as Core gives them, for whoever asks one of its addresses directly: read, made safe to show, and cut."""

import functools
from base64 import b64encode
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from ....server.arguments import Arguments
from ....server.tool_errors import invalid_argument, refused
from ....text import printable, shortened
from ...endpoints import ENDPOINTS
from ...endpoints.record import Endpoint
from ...limits import RAW_TEXT_CHARS, RAW_WHOLE_CHARS, ROWS_BYTES
from ...words.arguments import Limit, Offset
from ...words.services import find_service

TEMPLATES: Mapping[str, Endpoint[Any]] = {endpoint.template: endpoint for endpoint in ENDPOINTS}

_PAGE = 20
_NEAREST = 5

# Where limit and offset do not count rows, so that pages leave some out: the tool that gets them all.
_INEXACT = {
    "/crosschain/tradeoffers": "list_trade_offers",
    "/crosschain/trades": "list_completed_trades",
    "/blocks/signer/{address}": "list_blocks",
    "/groups/members/{groupid}": "list_group_members",
    "/polls/apps/ratings": "list_app_ratings",
}


class Text(Struct, frozen=True):
    """A body that is no JSON."""

    value: str
    is_base64: bool = False


def find_endpoint(template: str) -> Endpoint[Any]:
    """Raises: ToolError that names the nearest ones."""
    written = template.strip().removesuffix("/")
    written = written if written.startswith("/") else f"/{written}"
    found = TEMPLATES.get(written)
    if found is None:
        raise invalid_argument(
            "Invalid endpoint.",
            f"Nearest: {', '.join(nearest(written))}. What stands in braces goes into values.",
        )
    if "service" in found.path:
        # Core fetches what it does not have yet; asking for it must not make a node do anything.
        raise refused("Content is read with read_qdn, which looks first whether the node has it.")
    return found


def nearest(written: str) -> list[str]:
    """The templates that somebody may have meant, perhaps with the values already filled in."""
    fitting = [template for template in TEMPLATES if _fits(template, written)]
    alike = get_close_matches(written, TEMPLATES, n=_NEAREST, cutoff=0.0)
    return list(dict.fromkeys((*fitting, *alike)))[:_NEAREST]


def _fits(template: str, path: str) -> bool:
    parts, segments = template.split("/"), path.partition("?")[0].split("/")
    return len(parts) == len(segments) and all(
        part == segment or part.startswith("{") for part, segment in zip(parts, segments, strict=True)
    )


@functools.cache
def _arguments(template: str) -> Arguments:
    """What an address takes, as the arguments of a tool. A list that Core gives whole is paged here."""
    endpoint = TEMPLATES[template]
    optional = {"limit": Limit, "offset": Offset, **endpoint.query}
    fields: list[Any] = [
        *((name, kind) for name, kind in endpoint.path.items()),
        *((name, kind | UnsetType, UNSET) for name, kind in optional.items()),
    ]
    return Arguments(msgspec.defstruct("Values", fields, frozen=True, forbid_unknown_fields=True))


def read_values(endpoint: Endpoint[Any], written: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values that were given, and notes about what was understood differently.

    Raises: ToolError.
    """
    reader = _arguments(endpoint.template)
    for name in endpoint.path:
        if name not in written:
            raise invalid_argument(reader.arguments[name].sentence, f"values must hold {name}.")
    decoded, notes = reader.read(msgspec.Raw(msgspec.json.encode(written)))
    values = {name: value for name, value in structs.asdict(decoded).items() if value is not UNSET}
    service = find_service(str(values.get("service", "")))
    if service is not None and service.is_private:
        raise refused("Private services hold what people encrypted for each other.")
    return values, notes


class Paged(Struct, frozen=True):
    """Which rows of a list are wanted, and what Core is asked for."""

    asked: dict[str, Any]
    limit: int
    offset: int
    # Whether Core skips the rows before those; where it gives the whole list, that is done here.
    by_core: bool

    @property
    def skipped(self) -> int:
        """Rows of Core's answer that come before those wanted."""
        return 0 if self.by_core else self.offset


def paged(endpoint: Endpoint[Any], values: Mapping[str, Any]) -> Paged:
    limit = values.get("limit", endpoint.defaults.get("limit", _PAGE))
    offset = values.get("offset", 0)
    asked = {name: value for name, value in values.items() if name in endpoint.path or name in endpoint.query}
    if "limit" in endpoint.query and "offset" in endpoint.query:
        return Paged({**asked, "limit": limit, "offset": offset}, limit, offset, by_core=True)
    if "limit" in endpoint.query:
        asked["limit"] = _most(endpoint.query["limit"])
    return Paged(asked, limit, offset, by_core=False)


def _most(kind: Any) -> int:
    """The largest value of a bounded number."""
    return int(next(meta.le for meta in kind.__metadata__ if meta.le is not None))


def paging_note(endpoint: Endpoint[Any]) -> list[str]:
    tool = _INEXACT.get(endpoint.template)
    return [] if tool is None else [f"Core leaves out rows when this list is paged; {tool} gives them all."]


def as_sent(body: bytes) -> Any:
    """What Core sent: an object or a list, or else a Text. Every text in it can be shown.

    Raises: ValueError or RecursionError where it cannot be read.
    """
    if body[:1] in (b"{", b"["):
        return _shown(msgspec.json.decode(body))
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _bytes(body)
    # A program's bytes may happen to be text as well.
    return _bytes(body) if "\0" in text else Text(_whole(text))


def _whole(text: str) -> str:
    """As much of a text as an answer can hold; hidden characters take nine times their room."""
    at_most = RAW_WHOLE_CHARS
    while len(msgspec.json.encode(shown := printable(shortened(text, at_most)))) > ROWS_BYTES:
        at_most //= 2
    return shown


def _bytes(body: bytes) -> Text:
    return Text(shortened(b64encode(body).decode(), RAW_WHOLE_CHARS), is_base64=True)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return printable(shortened(value, RAW_TEXT_CHARS))
    if isinstance(value, list):
        return [_shown(each) for each in value]
    if isinstance(value, dict):
        return {_shown(name): _shown(each) for name, each in value.items()}
    return value
