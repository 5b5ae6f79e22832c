"""What every client asks of the server: one good call per tool, and one bad call."""

from collections.abc import Mapping
from typing import Any

# An account of the sample chain with a balance, a name and trades.
_ACCOUNT = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"

# Arguments that every tool answers without an error. A tool that is not listed is called with {}, and the output says so.
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "get_node_status": {},
    "get_network_overview": {},
    "get_block": {"position": "last"},
    "list_blocks": {"limit": 3},
    "list_block_signers": {},
    "get_transaction": {
        "signature": "4yfhViFnBA1cxvktzaiPAKXBoH7HHMn6A4qzbKLEfRPdy4h8z99qq7AorQY99SAwU2V8Jchh9g28MuAMLLRBee6D"
    },
    "search_transactions": {"address": _ACCOUNT, "limit": 3},
    "find_payments": {"sender": _ACCOUNT, "limit": 3},
    "get_fee": {"type": "PAYMENT"},
    "get_account_overview": {"address": _ACCOUNT},
    "get_balance": {"address": _ACCOUNT},
    "validate_address": {"address": _ACCOUNT},
    "get_minting_profile": {"address": _ACCOUNT},
    "list_reward_shares": {"involving": _ACCOUNT},
    "get_name": {"name": "alice-test"},
    "search_names": {"query": "alice"},
    "list_groups": {"owner": _ACCOUNT},
    "get_group": {"group_id": 3},
    "list_group_members": {"group_id": 3},
    "list_group_events": {"kind": "bans", "group_id": 3},
    "list_polls": {},
    "get_poll": {"name": "Best fruit?"},
    "list_app_ratings": {},
    "list_trade_offers": {"limit": 3},
    "get_trade": {"trade_address": "AG2JdKPoC9L3584iGF2Sn6sfMeEgbygue1"},
    "list_completed_trades": {"chain": "LTC", "limit": 3},
    "get_trade_price": {"chain": "LTC"},
    "get_trade_ledger": {"account": _ACCOUNT, "limit": 3},
    "get_foreign_chain": {"chain": "LTC"},
    "search_qdn": {"service": "JSON"},
    "get_qdn_resource": {"service": "BLOG_POST", "name": "alice-test", "identifier": "post-second"},
    "read_core": {"endpoint": "/addresses/publickey/{address}", "values": {"address": _ACCOUNT}},
}

BAD_TOOL = "get_balance"
BAD_ARGUMENTS: Mapping[str, Any] = {"address": "12345"}
BAD_ANSWER = "Invalid Qortal address."

# The height of the sample chain, which never grows.
SAMPLE_HEIGHT = 596
