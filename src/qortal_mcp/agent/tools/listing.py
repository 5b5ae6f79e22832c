"""The list of a server's tools, page by page, read with the repairs."""

import logging
from collections.abc import Callable

from msgspec import Raw, Struct

from ...client.client import Client
from ...client.errors import MalformedReply, RequestTimeout, ServerError
from ...client.limits import ClientLimits
from ...client.pending import Reply
from ...protocol import errors
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...repairs.chosen import Repairs
from ...repairs.subjects import Asked
from .offer import Tool, tools_on

log = logging.getLogger(__name__)

LIST = "tools/list"
# Tools are listed for models: what they refuse is rewritten. What would lose something that they accept is not:
# types, null among them; the output schema, by which results are read; and an empty cursor, which is one in the modern era.
_LISTS = Repairs(
    "all",
    without=(
        "cursor-empty-string",
        "output-schema-removed",
        "output-schema-root-not-object",
        "schema-type-union",
        "tool-description-missing",
    ),
)


class Connection(Struct, frozen=True, kw_only=True):
    """What was found out when a connection was opened."""

    client: Client
    # How the server calls the methods that it calls differently.
    names: dict[str, str]

    @property
    def is_modern(self) -> bool:
        return self.client.terms.is_modern

    def asked(self, method: str) -> Asked:
        terms = self.client.terms
        return Asked(revision=terms.revision, is_modern=terms.is_modern, method=method)

    def named(self, method: str) -> str:
        return self.names.get(method, method)

    @property
    def declares_changes(self) -> bool:
        declared = self.client.terms.capabilities.get("tools")
        return isinstance(declared, dict) and declared.get("listChanged") is True


async def list_tools(
    connection: Connection, limits: ClientLimits, mask: Callable[[str], str]
) -> tuple[Tool, ...]:
    """All tools. An error after the first page costs the rest of the list.

    Raises: ClientError.
    """
    # By the server's own name: of two tools that share it, nobody can tell which one is called.
    tools: dict[str, Tool] = {}
    taken: set[str] = set()
    cursors: set[str] = set()
    params: dict[str, str] = {}
    size = 0
    for _ in range(limits.list_pages):
        try:
            reply = await connection.client.request(connection.named(LIST), params)
            found, cursor = _page(reply, connection, taken)
        except (ServerError, MalformedReply, RequestTimeout) as exc:
            if not cursors:
                raise
            log.info("the list of tools ends early", extra={"qortal_mcp.reason": mask(str(exc))})
            break
        for tool in found:
            tools.setdefault(tool.own_name, tool)
        size += len(reply.raw)
        is_last = cursor is None or (cursor == "" and not connection.is_modern) or cursor in cursors
        if is_last or len(tools) > limits.list_items or size > limits.list_bytes:
            break
        assert cursor is not None, "it is not the last page"
        cursors.add(cursor)
        params = {"cursor": cursor}
    return tuple(tools.values())


def _page(reply: Reply, connection: Connection, taken: set[str]) -> tuple[list[Tool], str | None]:
    """The tools of a page, and where the next one starts. Raises: ServerError, MalformedReply."""
    asked = connection.asked(LIST)
    outcome = _LISTS.other(reply.result, None, asked)
    if outcome.result is None:
        raise _as_error(outcome.error or Raw(b"{}"))
    try:
        page = _LISTS.page(outcome.result, "tools", asked, taken)
    except UNREADABLE as exc:
        raise MalformedReply(f"the list of tools cannot be read: {exc}") from None
    if not isinstance(page.value, dict) or not isinstance(page.value.get("tools"), list):
        raise MalformedReply("the list of tools is not a list")
    cursor = page.value.get("nextCursor")
    return tools_on(page), cursor if isinstance(cursor, str) else None


def _as_error(raw: Raw) -> ServerError:
    """An error that came as a result."""
    found = values.read(raw)
    told = found if isinstance(found, dict) else {}
    code = told.get("code")
    error = errors.ErrorObject(
        code if isinstance(code, int) else errors.INTERNAL_ERROR, str(told.get("message", ""))
    )
    return ServerError(error, (), None, raw)
