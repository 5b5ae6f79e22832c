"""What a source says about where a result comes from: only what can be that."""

from typing import Any

import pytest
from tests.agent.tool_servers import Shop, over_http, toolbox
from tests.client.fakes import modern, result

from qortal_mcp.agent.calls import Calls
from qortal_mcp.agent.limits import DEFAULT
from qortal_mcp.agent.model.messages import WantedCall
from qortal_mcp.agent.prompt.framing import Frame
from qortal_mcp.agent.prompt.room import Space
from qortal_mcp.agent.secrets import Secrets


@pytest.mark.parametrize(
    ("as_of", "node", "height"),
    [
        ({"node": "here", "height": 7}, "here", 7),
        ({"node": "\x1b[2J", "height": True}, "\\u{001B}[2J", None),
        ({"node": 5, "height": "7"}, "", None),
        ([], "", None),
    ],
)
async def test_a_source_repeats_only_what_has_the_right_form(
    as_of: Any, node: str, height: int | None
) -> None:
    shop = Shop("a")
    shop.answer = lambda message: result(
        message, {"resultType": "complete", "content": [], "structuredContent": {"asOf": as_of}}
    )
    async with over_http(modern(shop)) as url, toolbox(url) as box:
        calls = Calls(box, Frame("k7Qp2Zx9"), DEFAULT, Secrets(), lambda event: None)
        wanted = [WantedCall(id="1", name="a", arguments="{}")]
        await calls.make(wanted, 1, Space(1_000, 1_000), written=False)
    [source] = calls.sources
    assert (source.node, source.height) == (node, height)
