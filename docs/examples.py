"""Example calls on the sample chain, for tools that cannot be called without arguments, and shorter lists."""

from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = {
    "validate_address": {"address": "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"},
    "get_account_overview": {"address": "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"},
    "get_balance": {"address": "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"},
    "list_trade_offers": {"chain": "LTC", "limit": 1},
    "search_qdn": {"name": "alice-test", "limit": 1},
}
