"""From a request to an answer: finds the endpoint, and the function that answers it."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from ..node.source import RawReply
from .answers import (
    addresses,
    admin,
    blocks,
    chat,
    contracts,
    groups,
    names,
    network,
    polls,
    reports,
    transactions,
)
from .answers.assets import assets, orders
from .answers.qdn import publications as arbitrary
from .answers.trades import open as crosschain
from .chain import Chain, sample_chain
from .core.parameters import Parameters
from .core.replies import Refusal, Routes, page

ROUTES: Routes = {
    template: route
    for family in (
        addresses,
        admin,
        arbitrary,
        assets,
        blocks,
        chat,
        contracts,
        crosschain,
        groups,
        names,
        network,
        orders,
        polls,
        reports,
        transactions,
    )
    for template, route in family.ROUTES.items()
}

# The size of the web server's buffer for request headers.
_LONGEST_TARGET = 8192
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")


def answer(target: str, chain: Chain | None = None) -> RawReply:
    """What Core would answer to a GET of this path and query, as written in the request."""
    path, _, query = target.partition("?")
    try:
        if len(target) > _LONGEST_TARGET:
            raise page(414)
        route, values = _find(_segments(path))
        return route(sample_chain() if chain is None else chain, Parameters(query), **values)
    except Refusal as refusal:
        return refusal.reply


def _segments(path: str) -> list[str]:
    """The parts of a path, unquoted after the split: an escaped slash stays data."""
    if "//" in path or _BAD_ESCAPE.search(path):
        raise page(400)
    segments = []
    for written in path.removeprefix("/").removesuffix("/").split("/"):
        text = unquote_to_bytes(written.partition(";")[0]).decode(errors="replace")
        if text in (".", "..") and "%" in written:
            raise page(400)
        segments.append(text)
    return segments


def _find(segments: list[str]) -> tuple[Callable[..., RawReply], dict[str, str]]:
    for pattern, route in _PATTERNS:
        values: dict[str, str] = {}
        if len(pattern) == len(segments) and all(map(_fits, pattern, segments)):
            values = {
                part[1:-1]: text for part, text in zip(pattern, segments, strict=True) if part[0] == "{"
            }
            return route, values
    raise page(404)


def _fits(part: str, text: str) -> bool:
    return bool(text) if part[0] == "{" else part == text


def _literal_first(row: tuple[list[str], Any]) -> list[bool]:
    return [part[0] == "{" for part in row[0]]


_PATTERNS = sorted(
    ((template.strip("/").split("/"), route) for template, route in ROUTES.items()), key=_literal_first
)
