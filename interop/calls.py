"""What is asked of the server, whoever asks: one good call per tool, and one bad call."""

from collections.abc import Mapping
from typing import Any

# An account of the sample chain with a balance, a name and trades.
_ACCOUNT = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"

# Arguments that every tool answers without an error. A tool that is not here is called with {}, and the run says so.
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "get_node_status": {},
    "get_account_overview": {"address": _ACCOUNT},
    "get_balance": {"address": _ACCOUNT},
    "validate_address": {"address": _ACCOUNT},
    "list_trade_offers": {"limit": 3},
    "search_qdn": {"service": "JSON"},
}

BAD_TOOL = "get_balance"
BAD_ARGUMENTS: Mapping[str, Any] = {"address": "12345"}
BAD_ANSWER = "Invalid Qortal address."

# The height of the sample chain, which never grows.
SAMPLE_HEIGHT = 596
