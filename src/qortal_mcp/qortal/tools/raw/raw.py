"""Core's own endpoints, for what no other tool covers."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import too_large
from ...limits import ROWS_BYTES
from ...node.node import Node
from ..answers import Answer, Page
from ..read_only import tool
from .as_core import Paged, Text, as_sent, find_endpoint, paged, paging_note, read_values, shown, shown_rows

_BASE64 = "value is binary data, in Base64."

_encode = msgspec.json.Encoder().encode


class CoreRead(Struct, frozen=True, forbid_unknown_fields=True):
    endpoint: Annotated[
        str,
        Meta(min_length=1, max_length=200, description="Path template, such as /blocks/byheight/{height}."),
    ]
    values: Annotated[
        dict[str, Any],
        Meta(
            description="Path and query parameters by name.",
            extra={"hint": 'It takes an object, such as {"height": 5}.', "own_look": True},
        ),
    ] = {}


class CoreAnswer(Answer):
    endpoint: str
    result: Annotated[dict[str, Any] | UnsetType, Meta(description="If Core returns an object.")] = UNSET
    rows: Annotated[
        list[Any] | UnsetType,
        # The schema of `Any` is empty, and msgspec leaves it out.
        Meta(
            description="If Core returns a list.",
            extra_json_schema={"items": {"description": "As Core sent it."}},
        ),
    ] = UNSET
    value: Annotated[str | UnsetType, Meta(description="If Core returns plain text.")] = UNSET
    page: Page | UnsetType = UNSET


@tool("Read Core")
async def read_core(args: CoreRead, node: Node) -> CoreAnswer:
    """Read the Qortal Core API directly, for what no other tool covers; answers come as Core gives them. An unknown
    endpoint returns the nearest ones."""
    endpoint = find_endpoint(args.endpoint)
    values, notes = read_values(endpoint, args.values)
    wanted = paged(endpoint, values)
    reading = node.reading()
    sent = await reading.get_as(as_sent, endpoint, **wanted.asked)
    answer = CoreAnswer(endpoint.template, asOf=reading.as_of)
    if isinstance(sent, list):
        answer.rows = _rows(sent, wanted)
        is_last = wanted.skipped + len(answer.rows) == len(sent)
        answer.page = _page(endpoint.template, values, wanted, len(answer.rows), is_last)
    elif isinstance(sent, Text):
        answer.value = sent.value
        notes += [_BASE64] if sent.is_base64 else []
    else:
        every = sent.get(endpoint.rows_in)
        if isinstance(every, list):
            sent = shown({**sent, endpoint.rows_in: []})
            rows = _rows(every, wanted, ROWS_BYTES - len(_encode(sent)))
            is_last = wanted.skipped + len(rows) >= len(every)
            answer.page = _page(endpoint.template, values, wanted, len(rows), is_last)
            sent[endpoint.rows_in] = rows
        else:
            sent = shown(sent)
        if len(_encode(sent)) > ROWS_BYTES:
            raise too_large("A smaller limit may help.")
        answer.result = sent
        lengths = [len(member) for member in sent.values() if isinstance(member, list)]
        if wanted.by_core and lengths:
            answer.page = _page(endpoint.template, values, wanted, max(lengths), True)
    notes += paging_note(endpoint)
    answer.notes = reading.notes(*notes)
    return answer


def _rows(sent: list[Any], wanted: Paged, at_most: int = ROWS_BYTES) -> list[Any]:
    return shown_rows(sent[wanted.skipped : wanted.skipped + wanted.limit], at_most)


def _page(template: str, values: dict[str, Any], wanted: Paged, returned: int, is_last: bool) -> Page:
    # A list that Core pages may continue after a full page; if it returns the whole list, the end is known.
    if not returned or (is_last and not (wanted.by_core and returned >= wanted.limit)):
        return Page(returned)
    following = {**values, "limit": wanted.limit, "offset": wanted.offset + returned}
    return Page(returned, {"endpoint": template, "values": following})
