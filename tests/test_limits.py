"""Shares of limits: whatever several processes may use, together it is what one may."""

import pytest

from qortal_mcp.limits import DEFAULT, OF_A_PROCESS, share_of
from qortal_mcp.qortal.limits import DEFAULT as OF_NODES
from qortal_mcp.qortal.limits import share_of_node
from qortal_mcp.settings.serving import MOST_WORKERS


@pytest.mark.promise(
    "Operations", "With `--workers` the limits of all workers add up to those of one process."
)
@pytest.mark.parametrize("of", range(1, MOST_WORKERS + 1))
def test_the_shares_add_up_to_the_whole(of: int) -> None:
    shares = [share_of(DEFAULT, OF_A_PROCESS, number, of) for number in range(1, of + 1)]
    for name in OF_A_PROCESS:
        assert sum(getattr(share, name) for share in shares) == getattr(DEFAULT, name)
    nodes = [share_of_node(OF_NODES, number, of) for number in range(1, of + 1)]
    for name in ("requests", "waiting_requests", "cache_bytes"):
        assert sum(getattr(share, name) for share in nodes) == getattr(OF_NODES, name)
    assert all(share.cached_reply_bytes <= share.cache_bytes for share in nodes)
