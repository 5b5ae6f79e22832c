"""The list of tools, in the order clients see, and the toolsets that switch them on and off."""

from ...server.tool import Tool
from .accounts import get_account_overview, get_balance, validate_address
from .node import get_node_status
from .qdn import search_qdn
from .trades import list_trade_offers

TOOLSETS: dict[str, tuple[Tool, ...]] = {
    "node": (get_node_status,),
    "accounts": (validate_address, get_account_overview, get_balance),
    "trades": (list_trade_offers,),
    "qdn": (search_qdn,),
}
# Toolsets that are on unless they are switched off.
DEFAULT_TOOLSETS = frozenset({"node", "accounts", "trades", "qdn"})

TOOLS: tuple[Tool, ...] = tuple(tool for tools in TOOLSETS.values() for tool in tools)

_WHOLE = {"default": DEFAULT_TOOLSETS, "all": frozenset(TOOLSETS)}


def select(spec: str = "default") -> tuple[Tool, ...]:
    """The tools of a selection: `all`, `node,qdn` (only these), or `+chat,-raw` (changes to the default).

    Raises: ValueError that names the valid toolsets.
    """
    words = [word.strip() for word in spec.split(",") if word.strip()]
    chosen = set(DEFAULT_TOOLSETS) if not words or words[0][0] in "+-" else set()
    for word in words:
        name = word.lstrip("+-")
        toolsets = _WHOLE.get(name) or ({name} if name in TOOLSETS else None)
        if toolsets is None:
            valid = ", ".join((*_WHOLE, *TOOLSETS))
            raise ValueError(f"there is no toolset {name!r}; valid ones are {valid}")
        if word[0] == "-":
            chosen -= toolsets
        else:
            chosen |= toolsets
    return tuple(tool for name, tools in TOOLSETS.items() if name in chosen for tool in tools)
