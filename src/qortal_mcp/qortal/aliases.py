"""Names that an earlier Qortal MCP server used, and what they are called here. Tables only."""

from collections.abc import Mapping
from typing import Any

# Old method name -> method.
METHODS: Mapping[str, str] = {"list_tools": "tools/list", "call_tool": "tools/call"}

# Old tool name -> our tool.
TOOL_ALIASES: Mapping[str, str] = {
    "get_node_info": "get_node_status",
    "get_node_uptime": "get_node_status",
    "get_node_summary": "get_network_overview",
    "get_block_height": "get_node_status",
    "get_block_by_height": "get_block",
    "get_block_by_signature": "get_block",
    "get_block_height_by_signature": "get_block",
    "get_block_at_timestamp": "get_block",
    "get_transaction_by_signature": "get_transaction",
    "get_transaction_by_reference": "get_transaction",
    "list_transactions_by_block": "search_transactions",
    "list_transactions_by_address": "search_transactions",
    "list_transactions_by_creator": "search_transactions",
    "get_trade_detail": "get_trade",
    "get_asset_info": "get_asset",
    "get_asset_balances": "list_holders",
    "get_name_info": "get_name",
    "list_names": "search_names",
    "get_names_by_address": "search_names",
    "get_group_members": "list_group_members",
    "get_chat_message_by_signature": "get_chat_messages",
    "count_chat_messages": "get_chat_stats",
    "get_active_chats": "list_active_chats",
}

# Old tool name -> our tool, and the default arguments that make it behave like the old one.
TOOL_PRESETS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "get_first_block": ("get_block", {"position": "first"}),
    "get_last_block": ("get_block", {"position": "last"}),
    "list_block_range": ("list_blocks", {"newest_first": False}),
    "list_block_summaries": ("list_blocks", {"newest_first": False}),
    "get_primary_name": ("get_account_overview", {"include_assets": False}),
    "list_names_for_sale": ("search_names", {"for_sale": True}),
    "get_groups_by_owner": ("list_groups", {}),
    "get_groups_by_member": ("list_groups", {}),
    "get_group_invites_by_address": ("list_group_events", {"kind": "invites"}),
    "get_group_invites_by_group": ("list_group_events", {"kind": "invites"}),
    "get_group_join_requests": ("list_group_events", {"kind": "join_requests"}),
    "get_group_bans": ("list_group_events", {"kind": "bans"}),
    "list_hidden_trade_offers": ("list_trade_offers", {"hidden": True}),
}

_CHAIN = {"foreign_blockchain": "chain", "foreignBlockchain": "chain"}
_SINCE = {"minimum_timestamp": "since", "minimumTimestamp": "since"}
_GROUP = {"groupId": "group_id", "groupid": "group_id"}
_CHAT_REFERENCES = {"haschatreference": "has_chat_reference", "hasChatReference": "has_chat_reference"}
_CHAT = {
    **_CHAT_REFERENCES,
    "tx_group_id": "group_id",
    "txGroupId": "group_id",
    "chatreference": "chat_reference",
    "chatReference": "chat_reference",
}

# Tool, or old name with a preset -> old argument name -> our argument. Core's own spelling is accepted as well.
ARGUMENT_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "get_block": {"timestamp": "time"},
    "list_blocks": {
        "height": "from_height",
        "start": "from_height",
        "end": "before_height",
        "count": "limit",
        "reverse": "newest_first",
        "includeOnlineSignatures": "include_online_signatures",
    },
    "search_transactions": {
        "signature": "block",
        "public_key": "creator",
        "publicKey": "creator",
        "tx_types": "types",
        "txType": "types",
        "tx_group_id": "group_id",
        "txGroupId": "group_id",
        "start_block": "from_height",
        "startBlock": "from_height",
        "block_limit": "heights",
        "blockLimit": "heights",
        "confirmation_status": "status",
        "confirmationStatus": "status",
    },
    "find_payments": {
        "senderAddress": "sender",
        "recipientAddress": "recipient",
        "startBlock": "from_height",
        "confirmationStatus": "status",
    },
    "get_fee": {"txType": "type", "tx_type": "type"},
    "get_balance": {"assetId": "asset_id"},
    "get_account_overview": {
        "includeAssets": "include_assets",
        "assetIds": "asset_ids",
        "includeZero": "include_zero",
    },
    "search_names": {"address": "owner", "forSale": "for_sale"},
    "get_groups_by_owner": {"address": "owner"},
    "get_groups_by_member": {"address": "member"},
    "get_group": _GROUP,
    "list_group_members": {**_GROUP, "onlyAdmins": "only_admins"},
    "list_group_events": _GROUP,
    "get_poll": {"pollName": "name", "poll_name": "name"},
    "get_chat_messages": _CHAT,
    "list_active_chats": _CHAT_REFERENCES,
    "get_chat_stats": _CHAT,
    "list_assets": {"includeData": "include_data"},
    "get_asset": {"asset_id": "asset", "assetId": "asset", "asset_name": "asset", "assetName": "asset"},
    "list_holders": {
        "asset_id": "asset",
        "assetId": "asset",
        "asset_name": "asset",
        "assetIds": "asset_ids",
        "excludeZero": "exclude_zero",
    },
    "get_order_book": {"asset_id": "asset", "other_asset_id": "other"},
    "list_asset_trades": {"asset_id": "asset", "other_asset_id": "other"},
    "list_trade_offers": _CHAIN,
    "get_trade": {"at_address": "trade_address", "ataddress": "trade_address", "atAddress": "trade_address"},
    "list_completed_trades": {
        **_CHAIN,
        **_SINCE,
        "buyer_public_key": "buyer",
        "buyerPublicKey": "buyer",
        "seller_public_key": "seller",
        "sellerPublicKey": "seller",
    },
    "get_trade_price": {"blockchain": "chain", "max_trades": "trades", "maxtrades": "trades"},
    "get_trade_ledger": {**_SINCE, "address": "account", "public_key": "account", "publicKey": "account"},
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
