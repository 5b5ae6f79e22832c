"""Members of 2026-07-28 in a result for a client of an older revision."""

from collections.abc import Iterator
from typing import Any

from ..repair import ALL, SAFE, Change, Repair, repair
from ..subjects import CallResult
from .reading import MODERN_MEMBERS, asks_for_input, text_block

_CANNOT_ASK = "The tool asks for input in a way that this client does not know."


@repair("modern-member-on-legacy", SAFE, CallResult, makes="A result with isError that says so.")
def input_required(call: CallResult) -> Iterator[Change]:
    """A result that asks for input, for a client that cannot go on from there."""
    before = call.value
    if not call.asked.is_modern and asks_for_input(before) and not isinstance(before.get("content"), list):
        call.value = {"content": [text_block(_CANNOT_ASK)], "isError": True}
        yield Change(path="result", before=before, after=call.value, keep=True)


@repair("modern-member-on-legacy", ALL, CallResult, makes="They are left out.")
def modern_members(call: CallResult) -> Iterator[Change]:
    """Members of 2026-07-28 in a reply of an older revision."""
    if call.asked.is_modern or not isinstance(call.value, dict):
        return
    for name in MODERN_MEMBERS:
        if name in call.value:
            yield Change(path=name, before=call.value.pop(name))


MODERN: tuple[Repair[Any], ...] = (input_required, modern_members)
