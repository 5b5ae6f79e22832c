"""What a model is told about the servers behind a front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text import shortened
from .finding import search
from .member import Unusable

if TYPE_CHECKING:
    from .gathering import Gathering

_NAMED = "Several servers are gathered here. Names of tools and prompts begin with their server, as in {0}__name; addresses of resources too, as in {1}+uri."
_SEARCHED = f"Several servers are gathered here. Their tools are not listed: find one with {search.FIND}, see its arguments with {search.DESCRIBE}, and call it with {search.CALL_READ_ONLY} or {search.CALL}."


def instructions_for(gathering: Gathering) -> str:
    """Each server by its name, with its own instructions as far as they are known and fit."""
    members = list(gathering.members.values())
    if not members:
        return "There is no server behind this one now."
    first = members[0]
    parts = [_SEARCHED if gathering.by_search else _NAMED.format(first.name, first.label)]
    for member in members:
        if member.instructions:
            parts.append(f"{member.name}: {member.instructions}")
        elif isinstance(member.source, Unusable) or not member.is_up:
            parts.append(f"{member.name}: does not answer now.")
        else:
            parts.append(f"{member.name}")
    return shortened("\n\n".join(parts), gathering.bounds.instructions_chars)
