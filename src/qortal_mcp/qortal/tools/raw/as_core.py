"""Answers as Core gives them, for direct reads of its endpoints: parsed, made safe to show, and cut."""

import functools
from base64 import b64encode
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from ....protocol.decoding import decode
from ....server.input.arguments import Arguments
from ....server.tool_errors import ToolError, invalid_argument, refused, too_large
from ....text import printable, shortened
from ...endpoints import ENDPOINTS
from ...endpoints.record import Endpoint, few_enough
from ...limits import BLOB_CHARS, OPEN_SEARCH_ROWS, PAGE_ROWS, RAW_TEXT_CHARS, RAW_WHOLE_CHARS, ROWS_BYTES
from ...words.arguments import Limit, Offset
from ...words.blobs import base64_bytes, sized, summary
from ...words.services import find_service

TEMPLATES: Mapping[str, Endpoint[Any]] = {endpoint.template: endpoint for endpoint in ENDPOINTS}

_NEAREST = 5

_encode = msgspec.json.Encoder().encode

# Endpoints whose limit and offset do not count rows, so that pages leave some out: the tool that gets them all.
_INEXACT = {
    "/crosschain/tradeoffers": "list_trade_offers",
    "/crosschain/trades": "list_completed_trades",
    "/blocks/signer/{address}": "list_blocks",
    "/groups/members/{groupid}": "list_group_members",
    "/polls/apps/ratings": "list_app_ratings",
}


class Text(Struct, frozen=True):
    """A body that is not a JSON object or list."""

    value: str
    is_base64: bool = False


def find_endpoint(template: str) -> Endpoint[Any]:
    """Raises: ToolError that names the nearest templates."""
    written = template.strip().removesuffix("/")
    written = written if written.startswith("/") else f"/{written}"
    found = TEMPLATES.get(written)
    if found is None:
        raise invalid_argument(
            "Invalid endpoint.",
            f"Nearest: {', '.join(nearest(written))}. Parameters in braces go into values.",
        )
    if "service" in found.path:
        # A node asks its peers for content that it lacks: only those who switched that on may ask for it.
        raise refused("Use read_qdn for content, of the toolset qdn_content.")
    return found


def nearest(written: str) -> list[str]:
    """The templates that the caller may have meant, perhaps with the values already filled in."""
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
    """The parameters of an endpoint, as a tool's arguments. A list that Core returns whole is paged here."""
    endpoint = TEMPLATES[template]
    optional = {"limit": Limit, "offset": Offset, **endpoint.query}
    fields: list[Any] = [
        *((name, kind) for name, kind in endpoint.path.items()),
        *((name, kind | UnsetType, UNSET) for name, kind in optional.items()),
    ]
    return Arguments(msgspec.defstruct("Values", fields, frozen=True, forbid_unknown_fields=True))


def read_values(endpoint: Endpoint[Any], written: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values that were given, and notes about what was interpreted.

    Raises: ToolError.
    """
    reader = _arguments(endpoint.template)
    for name in endpoint.path:
        if name not in written:
            raise invalid_argument(f"Missing argument {name}.", f"values must contain {name}.")
    decoded, notes = reader.read(msgspec.Raw(msgspec.json.encode(written)))
    values = {name: value for name, value in structs.asdict(decoded).items() if value is not UNSET}
    service = find_service(str(values.get("service", "")))
    if service is not None and service.is_private:
        raise refused("Private services hold encrypted data and are not read here.")
    is_open = bool(endpoint.more_with) and not values.keys() & set(endpoint.more_with)
    if is_open and (limit := values.get("limit", 0)) > OPEN_SEARCH_ROWS:
        filters = " or ".join(endpoint.more_with)
        notes.append(
            f"limit {limit} was lowered to {OPEN_SEARCH_ROWS}, the most that Core returns without {filters}."
        )
        values["limit"] = OPEN_SEARCH_ROWS
    return values, notes


class Paged(Struct, frozen=True):
    """Which rows of a list are wanted, and which are requested from Core."""

    asked: dict[str, Any]
    limit: int
    offset: int
    # Whether Core skips the rows before those; if it returns the whole list, that is done here.
    by_core: bool

    @property
    def skipped(self) -> int:
        """Rows of Core's answer that come before those wanted."""
        return 0 if self.by_core else self.offset


def paged(endpoint: Endpoint[Any], values: Mapping[str, Any]) -> Paged:
    limit = values.get("limit", endpoint.defaults.get("limit", PAGE_ROWS))
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
    return [] if tool is None else [f"Core leaves out rows when this list is paged; {tool} returns them all."]


def as_sent(body: bytes) -> Any:
    """What Core sent: an object or a list, whose texts `shown` makes safe to show, or else a Text that is safe.

    Raises: ValueError or RecursionError if it cannot be read.
    """
    if body[:1] in (b"{", b"["):
        return decode(few_enough(body))
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _bytes(body)
    # The bytes of a program may happen to be valid text as well.
    return _bytes(body) if "\0" in text else Text(_whole(text))


def _whole(text: str) -> str:
    """As much of a text as an answer can hold; hidden characters take nine times as much room."""
    at_most = RAW_WHOLE_CHARS
    while len(msgspec.json.encode(shown := printable(shortened(text, at_most)))) > ROWS_BYTES:
        at_most //= 2
    return shown


def _bytes(body: bytes) -> Text:
    if len(body) > BLOB_CHARS:
        return Text(sized("binary data", len(body)))
    return Text(shortened(b64encode(body).decode(), RAW_WHOLE_CHARS), is_base64=True)


def shown(value: Any) -> Any:
    """The value with every text in it safe to show.

    Raises: ToolError if an answer cannot hold it, before all of it is looked at.
    """
    return _Shown().of(value)


def shown_rows(rows: list[Any], at_most: int) -> list[Any]:
    """As many rows, safe to show, as fit into so many bytes.

    Raises: ToolError if an answer cannot hold the first one.
    """
    kept: list[Any] = []
    room = at_most
    for row in rows:
        try:
            safe = shown(row)
        except ToolError:
            if kept:
                break
            raise too_large("One row alone is larger than an answer may be.") from None
        room -= len(_encode(safe)) + 1
        if room < 0 and kept:
            break
        kept.append(safe)
    if kept and len(_encode(kept[0])) > ROWS_BYTES:
        raise too_large("One row alone is larger than an answer may be.")
    return kept


class _Shown:
    """Cleans one value, and counts the characters so far: hidden ones are costly and take nine times as much room."""

    def __init__(self) -> None:
        self._chars = 0

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(each) for each in value]
        if isinstance(value, dict):
            if value.get("isEncrypted") is True and value.get("encoding") == "BASE64":
                value = {**value, "data": sized("encrypted data", base64_bytes(str(value.get("data", ""))))}
            return {self._text(name): self.of(each) for name, each in value.items()}
        return value

    def _text(self, value: str) -> str:
        text = summary(value) or printable(shortened(value, RAW_TEXT_CHARS))
        self._chars += len(text)
        if self._chars > ROWS_BYTES:
            raise too_large("A smaller limit may help.")
        return text
