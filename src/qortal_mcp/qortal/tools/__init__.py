"""The list of tools, in the order clients see, and the toolsets that switch them on and off.

Tools are named here and loaded when they are needed: a client waits for the list at every start, and the list is
made from `definitions.json` (written by scripts/docs).
"""

import os
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

from ...server.offers.tool import Tool

# Suggestions less similar than this are not shown.
_LIKENESS = 0.75
_DEFINITIONS = os.path.join(os.path.dirname(__file__), "definitions.json")


class Toolset(Struct, frozen=True):
    """Tools that are switched on and off together: the functions, under the module of this folder that holds them."""

    modules: dict[str, tuple[str, ...]]
    is_default: bool = True

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(name for names in self.modules.values() for name in names)


TOOLSETS: dict[str, Toolset] = {
    "node": Toolset({"node": ("get_node_status", "get_network_overview")}),
    "accounts": Toolset(
        {
            "accounts.accounts": ("validate_address", "get_account_overview", "get_balance"),
            "accounts.minting": ("get_minting_profile", "list_reward_shares"),
        }
    ),
    "names": Toolset({"names.names": ("get_name",), "names.search": ("search_names",)}),
    "blocks": Toolset({"blocks.blocks": ("get_block", "list_blocks", "list_block_signers")}),
    "transactions": Toolset(
        {"transactions.transactions": ("get_transaction", "search_transactions", "find_payments", "get_fee")}
    ),
    "activity": Toolset(
        {
            "activity.changes": ("get_changes",),
            "activity.cash_flow": ("get_cash_flow",),
            "activity.chain_activity": ("get_chain_activity",),
        }
    ),
    "trades": Toolset(
        {
            "trades.offers": ("list_trade_offers", "get_trade"),
            "trades.completed": ("list_completed_trades", "get_trade_price"),
            "trades.price_history": ("get_price_history",),
            "trades.ledger": ("get_trade_ledger",),
            "trades.foreign_chains": ("get_foreign_chain",),
        }
    ),
    "assets": Toolset(
        {
            "assets.assets": ("list_assets", "get_asset", "list_holders"),
            "assets.market": ("get_order_book", "list_asset_trades"),
            "assets.orders": ("list_asset_orders",),
        },
        is_default=False,
    ),
    "groups": Toolset(
        {
            "groups.groups": ("list_groups", "get_group", "list_group_members"),
            "groups.events": ("list_group_events",),
        }
    ),
    "chat": Toolset(
        {
            "chat.messages": ("get_chat_messages",),
            "chat.activity": ("list_active_chats", "get_chat_stats"),
            "chat.digest": ("get_chat_digest",),
        },
        is_default=False,
    ),
    "qdn": Toolset({"qdn.search": ("search_qdn",), "qdn.resources": ("get_qdn_resource",)}),
    "qdn_content": Toolset({"qdn.content": ("read_qdn",)}, is_default=False),
    "polls": Toolset({"polls.polls": ("list_polls", "get_poll"), "polls.ratings": ("list_app_ratings",)}),
    "contracts": Toolset({"contracts": ("get_contract", "list_contracts")}, is_default=False),
    "raw": Toolset({"raw.raw": ("read_core",)}),
}


def select(spec: str = "default") -> tuple[str, ...]:
    """The toolsets of a selection: `all`, `node,qdn` (only these), or `+chat,-raw` (changes to the default).

    Raises: ValueError that names the valid toolsets, or says what cannot be combined.
    """
    default = {name for name, toolset in TOOLSETS.items() if toolset.is_default}
    whole = {"default": default, "all": set(TOOLSETS)}
    words = [word.strip() for word in spec.split(",") if word.strip()]
    is_change = bool(words) and words[0][0] in "+-"
    if is_change and any(word[0] not in "+-" for word in words):
        raise ValueError("give either a list, such as node,qdn, or changes with a sign, such as +chat,-raw")
    chosen = set(default) if is_change or not words else set()
    for word in words:
        name = word.lstrip("+-")
        toolsets = whole.get(name) or ({name} if name in TOOLSETS else None)
        if toolsets is None:
            raise ValueError(_no_toolset(name, (*whole, *TOOLSETS)))
        chosen = chosen - toolsets if word[0] == "-" else chosen | toolsets
    return tuple(name for name in TOOLSETS if name in chosen)


def _no_toolset(name: str, valid: tuple[str, ...]) -> str:
    import difflib  # slow to import, and only needed for a mistake

    near = difflib.get_close_matches(name, valid, n=1, cutoff=_LIKENESS)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"there is no toolset {name!r}{meant}; valid ones are {', '.join(valid)}"


def load(toolsets: tuple[str, ...]) -> tuple[Tool, ...]:
    """The tools of these toolsets, in order."""
    return tuple(
        getattr(import_module(f"{__name__}.{module}"), tool)
        for name in toolsets
        for module, tools in TOOLSETS[name].modules.items()
        for tool in tools
    )


def load_one(tool: str, toolsets: tuple[str, ...]) -> Tool | None:
    """A tool of these toolsets by its name, and nothing else."""
    for name in toolsets:
        for module, tools in TOOLSETS[name].modules.items():
            if tool in tools:
                found: Tool = getattr(import_module(f"{__name__}.{module}"), tool)
                return found
    return None


def definitions(toolsets: tuple[str, ...]) -> list[dict[str, Any]]:
    """What these tools say of themselves, without loading them."""
    with open(_DEFINITIONS, "rb") as file:
        known = msgspec.json.decode(file.read(), type=dict[str, dict[str, Any]])
    wanted = [tool for name in toolsets for tool in TOOLSETS[name].tools]
    if known.keys() >= set(wanted):
        return [known[tool] for tool in wanted]
    # Somebody is writing a tool at this moment; the file follows with scripts/docs.
    found: list[dict[str, Any]] = msgspec.to_builtins([tool.definition for tool in load(toolsets)])
    return found
