"""The file of servers between its first reading and the watch on it."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

from tests.bridge.behind import until

from qortal_mcp.bridge.gathered.gathering import Gathering
from qortal_mcp.cli.running.bridge.bridging import SeveralServers
from qortal_mcp.cli.running.bridge.several_servers import Chosen
from qortal_mcp.client.limits import ClientLimits
from qortal_mcp.connect.settings_files import reading
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.settings.bridging import RepairOptions, ServerOptions


def write(file: Path, *names: str) -> None:
    file.write_text(json.dumps({"mcpServers": {name: {"command": "unused"} for name in names}}))


async def test_a_change_while_the_bridge_starts_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    write(file, "ann")
    chosen = Chosen(
        file=str(file),
        stamp=reading.stamp(str(file)),
        targets=(),
        server=ServerOptions(),
        repair=RepairOptions(),
        repairs=Repairs("safe"),
        limits=ClientLimits(),
    )
    behind = SeveralServers(chosen, chosen.read(), by_search=False)
    write(file, "ann", "bob")
    front = behind.front()
    assert isinstance(front, Gathering)
    async with AsyncExitStack() as stack:
        await behind.set_up(stack, front)
        await until(lambda: "bob" in front.members)
