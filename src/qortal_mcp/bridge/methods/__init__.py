"""What the bridge does with each method. Most are passed on; their answers are repaired on the way back."""

from __future__ import annotations

from collections.abc import Callable

from ...server.methods.call import Running
from .answering import BridgeCall
from .opening import discover, initialize, ping
from .passing import pass_on
from .subscribing import listen, set_level, subscribe, unsubscribe
from .tools import call_tool, list_tools

__all__ = ["TABLE", "pass_on"]

# Methods that are not here are passed on.
TABLE: dict[str, Callable[[BridgeCall], bytes | Running]] = {
    "initialize": initialize,
    "ping": ping,
    "server/discover": discover,
    "subscriptions/listen": listen,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "logging/setLevel": set_level,
}
