"""The sample chain with some families of its data replaced, and a server on it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import Chain, sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .told_node import ToldNode


class ChangedChain(Chain):
    def __init__(self, **families: Any) -> None:
        self._families = families

    def __getitem__(self, family: str) -> Any:
        return self._families[family] if family in self._families else sample_chain()[family]


@asynccontextmanager
async def asking(chain: Chain, told: dict[str, Any] | None = None) -> AsyncIterator[tuple[Call, ToldNode]]:
    """A way to call all tools on a chain, some paths of which are answered as told, and what its node was asked."""

    def tell(target: str) -> Any:
        return next((said for path, said in (told or {}).items() if path in target), answer(target, chain))

    source = ToldNode(tell)
    node = Node([source])
    yield caller(make_server(node, toolsets="all")), source
    await node.close()
