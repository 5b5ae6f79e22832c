"""docs/endpoints.md: everything that can be asked of a node, from the allow-list itself."""

import itertools
from typing import Any

from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.endpoints.record import SETTLED_BLOCKS, UNTIL_NEXT_BLOCK, Endpoint

from .markdown import code, table

_HEAD = """\
# What is asked of a node

These addresses, with GET, and nothing else: whatever is not on this page cannot be reached through the server.
"""


def page() -> str:
    parts = [_HEAD]
    for area, endpoints in itertools.groupby(sorted(ENDPOINTS, key=lambda e: e.template), key=_area):
        parts += [f"## /{area}\n", table(_COLUMNS, [_row(endpoint) for endpoint in endpoints])]
    return "\n".join(parts)


_COLUMNS = ("address", "parameters", "gives", "kept", "since Core")


def _row(endpoint: Endpoint[Any]) -> list[str]:
    return [
        code(endpoint.template),
        ", ".join(code(name) for name in endpoint.query),
        endpoint.returns,
        _kept(endpoint),
        endpoint.since,
    ]


def _area(endpoint: Endpoint[Any]) -> str:
    return endpoint.template.strip("/").partition("/")[0]


def _kept(endpoint: Endpoint[Any]) -> str:
    keep = endpoint.keep
    usual = "until the next block" if keep.until_next_block else f"{keep.seconds:g} s"
    if keep.until_next_block and keep.seconds < UNTIL_NEXT_BLOCK.seconds:
        usual = f"{keep.seconds:g} s, or until the next block"
    return usual if endpoint.height_of is None else f"{usual}; for ever {SETTLED_BLOCKS:,} blocks deep"
