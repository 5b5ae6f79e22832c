"""Names that an earlier Qortal MCP server used, and what they are called here. Tables only."""

from collections.abc import Mapping
from typing import Any

from ..server.dispatch import OldForms

OLD_FORMS = OldForms(methods={"list_tools": "tools/list", "call_tool": "tools/call"})

# Old tool name -> tool of ours.
TOOL_ALIASES: Mapping[str, str] = {}

# Old tool name -> tool of ours, and the arguments that make it the old one unless they are given.
TOOL_PRESETS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "list_hidden_trade_offers": ("list_trade_offers", {"hidden": True}),
}

# Tool -> old argument name -> argument of ours. Core's own spelling is taken as well.
ARGUMENT_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "get_balance": {"assetId": "asset_id"},
    "get_account_overview": {
        "includeAssets": "include_assets",
        "assetIds": "asset_ids",
        "includeZero": "include_zero",
    },
    "list_trade_offers": {"foreign_blockchain": "chain", "foreignBlockchain": "chain"},
    "search_qdn": {
        "confirmation_status": "status",
        "confirmationStatus": "status",
        "start_block": "from_height",
        "startBlock": "from_height",
        "block_limit": "heights",
        "blockLimit": "heights",
        "txGroupId": "tx_group_id",
    },
}
