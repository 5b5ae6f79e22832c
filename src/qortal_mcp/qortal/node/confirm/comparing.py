"""Whether nodes give the same answer, and what is said about it. Pure: nobody is asked here."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from ....text import shortened
from ...endpoints.record import Endpoint, Request, Same
from ..as_of import AsOf, Tip

# More than this about one answer helps nobody.
_MOST_NOTES = 3
_MOST_MEMBERS = 4
_WHAT_CHARS = 120

_encode = msgspec.json.Encoder(order="deterministic").encode

ALL_OWN = "This is the node's own view, which no other node can confirm."
PARTLY_OWN = "Part of this is the node's own view, which no other node can confirm."


class Nothing(Enum):
    """What a node answers that has no such thing."""

    NOTHING = "nothing"


NOTHING = Nothing.NOTHING


class Said(Struct, frozen=True):
    """What a node answered, and its newest block then."""

    node: str
    value: Any
    tip: Tip | None
    # Whether that was its newest block before the request as well as after the answer, on one chain with the other.
    is_certain: bool = False


class Differs(Struct, frozen=True):
    """Two nodes contradict each other."""

    node: str
    other: str
    what: str


class Unheard(Struct, frozen=True):
    """A node neither confirms nor contradicts."""

    node: str
    why: str


Doubt = Differs | Unheard


class Confirmation(Struct, frozen=True):
    """What other nodes said to one answer."""

    # How many nodes should agree, the one that answered included.
    wanted: int
    # Those that do, the one that answered first. Nobody, if it cannot be compared.
    agreed: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()

    @property
    def is_complete(self) -> bool:
        return len(self.agreed) >= self.wanted

    @property
    def is_compared(self) -> bool:
        return bool(self.agreed)


class Question(Struct, frozen=True):
    """What is asked of several nodes."""

    endpoint: Endpoint[Any]
    request: Request
    same: Same

    def verdict(self, first: Said, other: Said) -> Doubt | bool:
        """True if they agree; False if that cannot be said of what was read at different blocks."""
        are_equal = is_same(first.value, other.value, self.endpoint.own_members)
        if self.same is Same.ALWAYS:
            return are_equal or self._difference(first, other)
        is_comparable = _same_block(first, other) or self.is_within(first, other)
        if are_equal and is_comparable:
            return True
        if is_comparable and first.is_certain and other.is_certain:
            return self._difference(first, other)
        return False

    def is_within(self, first: Said, other: Said) -> bool:
        """Whether it is only about blocks that both nodes have, and later ones change nothing about these."""
        if first.tip is None or other.tip is None or NOTHING in (first.value, other.value):
            return False
        endpoint, height = self.endpoint, self.request.last_block
        if endpoint.height_of is not None:
            height = endpoint.height_of(first.value)
        if height is None or height > min(first.tip.height, other.tip.height):
            return False
        return endpoint.is_final(first.value) and endpoint.is_final(other.value)

    def _difference(self, first: Said, other: Said) -> Doubt:
        if self.same is Same.ALWAYS and other.value is NOTHING:
            return Unheard(other.node, "does not have it")
        what = shortened(self.request.target.partition("?")[0], _WHAT_CHARS)
        members = differing_members(first.value, other.value)
        return Differs(other.node, first.node, f"{what} ({', '.join(members)})" if members else what)


def _same_block(first: Said, other: Said) -> bool:
    return first.tip is not None and other.tip is not None and first.tip.block == other.tip.block


def is_same(one: Any, other: Any, own_members: frozenset[str] = frozenset()) -> bool:
    """Whether two answers say the same. Rows in another order, and members that are the node's own, do not matter."""
    if one is NOTHING or other is NOTHING:
        return one is other
    return bool(one == other) or _encode(_common(one, own_members)) == _encode(_common(other, own_members))


def _common(value: Any, own_members: frozenset[str]) -> Any:
    return _ordered(msgspec.to_builtins(value, str_keys=True), own_members)


def _ordered(value: Any, own_members: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _ordered(member, own_members) for name, member in value.items() if name not in own_members
        }
    if isinstance(value, list):
        return sorted((_ordered(each, own_members) for each in value), key=_encode)
    return value


def differing_members(one: Any, other: Any) -> list[str]:
    """The names of some members that differ, for two objects."""
    if not (isinstance(one, Struct) and type(one) is type(other)):
        return []
    names = [
        field.encode_name
        for field in structs.fields(one)
        if not is_same(getattr(one, field.name), getattr(other, field.name))
    ]
    return [*names[:_MOST_MEMBERS], "…"] if len(names) > _MOST_MEMBERS else names


def confirmed_by(parts: Sequence[Confirmation]) -> list[str]:
    """The nodes that gave all of an answer; none if only one did, or if a part is the node's own."""
    return _common_nodes(parts) if all(part.is_compared for part in parts) else []


def _common_nodes(parts: Sequence[Confirmation]) -> list[str]:
    common = [node for node in parts[0].agreed if all(node in part.agreed for part in parts)] if parts else []
    return common if len(common) > 1 else []


def also_confirmed(as_of: AsOf, parts: Sequence[Confirmation]) -> AsOf:
    """The same provenance, if these parts belong to the answer as well."""
    if as_of.confirmedBy is UNSET:
        return as_of
    others = confirmed_by(parts)
    common = [node for node in as_of.confirmedBy if node in others]
    return structs.replace(as_of, confirmedBy=common if len(common) > 1 else [])


def notes_on(parts: Sequence[Confirmation]) -> list[str]:
    """What a reader of an answer must know about its confirmation."""
    compared = [part for part in parts if part.is_compared]
    agreed = _common_nodes(compared)
    notes = _contradictions(compared)
    unheard = _unheard(compared)
    if unheard and len(agreed) < compared[0].wanted:
        whose = "; ".join(f"{node} {why}" for node, why in unheard.items())
        notes.append(f"Confirmed by only {max(1, len(agreed))} of {compared[0].wanted} nodes: {whose}.")
    if not compared and parts:
        notes.append(ALL_OWN)
    elif len(compared) < len(parts):
        rest = f" The rest is the same on {' and '.join(agreed)}." if agreed else ""
        notes.append(PARTLY_OWN + rest)
    return notes


def _contradictions(parts: Sequence[Confirmation]) -> list[str]:
    found = dict.fromkeys(doubt for part in parts for doubt in part.doubts if isinstance(doubt, Differs))
    notes = [f"Nodes disagree: {each.node} differs from {each.other} on {each.what}." for each in found]
    if len(notes) > _MOST_NOTES:
        more = len(notes) - _MOST_NOTES
        return [
            *notes[:_MOST_NOTES],
            f"Nodes disagree on {more} more {'answer' if more == 1 else 'answers'}.",
        ]
    return notes


def _unheard(parts: Sequence[Confirmation]) -> Mapping[str, str]:
    """Why nodes did not confirm, one reason each, of parts that too few confirmed."""
    return {
        doubt.node: doubt.why
        for part in parts
        if not part.is_complete
        for doubt in reversed(part.doubts)
        if isinstance(doubt, Unheard)
    }
