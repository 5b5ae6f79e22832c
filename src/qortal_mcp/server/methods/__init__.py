"""What each method does. A handler returns the finished result, or a function to run if it takes time."""

from collections.abc import Callable

from .call import Running, ServerCall
from .lifecycle import discover, initialize, ping, set_level
from .lists import lister
from .prompts import complete, get_prompt
from .resources import listen, read_resource, subscribe, unsubscribe
from .tools import call_tool

__all__ = ["METHOD_TABLE", "Running", "ServerCall"]

METHOD_TABLE: dict[str, Callable[[ServerCall], bytes | Running]] = {
    "initialize": initialize,
    "ping": ping,
    "server/discover": discover,
    "subscriptions/listen": listen,
    "tools/list": lister("tools"),
    "tools/call": call_tool,
    "resources/list": lister("resources"),
    "resources/templates/list": lister("resourceTemplates"),
    "resources/read": read_resource,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "prompts/list": lister("prompts"),
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "logging/setLevel": set_level,
}
