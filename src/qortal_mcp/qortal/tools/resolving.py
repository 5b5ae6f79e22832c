"""What callers write and only a node can tell: `@alice` for the owner of a name, `7d` for a week before the newest block.

Both are replaced before a tool runs, so a tool sees addresses and times alone, and so does the call for its next page.
"""

from collections.abc import Callable, Coroutine, Iterable
from functools import wraps
from typing import Any, get_type_hints

from msgspec import UNSET, Struct, structs

from ...server.input.arguments import extra_of
from ...text import original, printable, shortened
from ..limits import TEXT_CHARS
from ..node.confirm.comparing import Confirmation, also_confirmed, notes_on
from ..node.failures import not_as_expected
from ..node.node import Node
from ..node.side_by_side import side_by_side
from ..words.arguments import is_named
from ..words.base58 import is_address
from ..words.times import ago_ms, iso
from .registered import find_name

# Core refuses zero.
_EARLIEST_MS = 1

Asking = Callable[..., Coroutine[Any, Any, Any]]


def resolving(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same tool, which also takes `@name` for each account and `7d` for each time."""
    hints = get_type_hints(function, include_extras=True)
    arguments = hints.get("args")
    if arguments is None or Node not in hints.values():
        return function
    extras = {field.name: extra_of(field.type) for field in structs.fields(arguments)}
    accounts = tuple(name for name, extra in extras.items() if extra.get("account"))
    times = tuple(name for name, extra in extras.items() if extra.get("time"))
    return _resolving(function, accounts, times) if accounts or times else function


def _resolving(function: Asking, accounts: tuple[str, ...], times: tuple[str, ...]) -> Asking:
    @wraps(function)
    async def call(args: Struct, node: Node, **others: Any) -> Any:
        names = {text for field in accounts for text in _texts(getattr(args, field)) if is_named(text)}
        ago = _ago(args, times) if times else {}
        if not names and not ago:
            return await function(args=args, node=node, **others)
        owners, notes, confirmations = await _owners(node, sorted(names))
        changed: dict[str, Any] = {
            field: _with_owners(getattr(args, field), owners) for field in accounts if owners
        }
        if ago:
            newest = (await node.tip()).timestamp
            changed |= {field: iso(max(_EARLIEST_MS, newest - ms)) for field, ms in ago.items()}
        answer = await function(args=structs.replace(args, **changed), node=node, **others)
        if confirmations:
            answer.asOf = also_confirmed(answer.asOf, confirmations)
        if notes:
            own = [] if answer.notes is UNSET else answer.notes
            answer.notes = list(dict.fromkeys([*notes, *own]))
        return answer

    return call


def _ago(args: Struct, times: tuple[str, ...]) -> dict[str, int]:
    return {
        field: ms
        for field in times
        for text in _texts(getattr(args, field))
        if (ms := ago_ms(text)) is not None
    }


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, list) else ()


def _with_owners(value: Any, owners: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [owners.get(text, text) for text in value]
    return owners.get(value, value)


async def _owners(node: Node, names: list[str]) -> tuple[dict[str, str], list[str], list[Confirmation]]:
    """The address behind each `@name`, notes on them, and what other nodes say. Raises: ToolError."""
    reading = node.reading()
    rows = await side_by_side(*(find_name(reading, original(name[1:])) for name in names))
    if not all(is_address(row.owner) for row in rows):
        # The caller wrote nothing wrong, and must not be told so.
        raise not_as_expected()
    notes = []
    for name, row in zip(names, rows, strict=True):
        shown, is_exact = printable(shortened(name, TEXT_CHARS)), row.name == printable(original(name[1:]))
        notes.append(
            f"{shown} is {row.owner}." if is_exact else f"{shown} is {row.owner}, who owns {row.name}."
        )
    notes += notes_on(reading.confirmations)
    return {name: row.owner for name, row in zip(names, rows, strict=True)}, notes, reading.confirmations
