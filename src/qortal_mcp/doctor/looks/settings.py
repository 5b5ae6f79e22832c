"""The settings: variables that nothing reads, and options that a command would refuse."""

from msgspec import Struct

from ... import settings
from ...from_settings import check_nodes, server_of
from ...qortal.manifest import listed
from ...qortal.node.node import Node
from ...settings import WrongSetting
from ..setup import Setup


class SettingsFacts(Struct, frozen=True, kw_only=True):
    # Variables and options that every command that needs them refuses, with its sentence.
    refused: tuple[str, ...]
    # Variables of the earlier server, and what to use instead.
    old: dict[str, str]
    tools: int


def look(setup: Setup) -> SettingsFacts:
    refused = list(settings.wrong_variables(setup.environ).values())
    tools = 0
    try:
        check_nodes(setup.chain)
    except WrongSetting as exc:
        refused.append(str(exc))
    try:
        tools = len(listed(server_of(setup.chain, Node.sample), "tools"))  # no node is asked for a list
    except WrongSetting as exc:
        refused.append(str(exc))
    return SettingsFacts(refused=tuple(refused), old=settings.old_variables(setup.environ), tools=tools)
