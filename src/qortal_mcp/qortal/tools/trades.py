"""Trades of QORT against foreign coins."""

from .completed_trades import get_trade_ledger, get_trade_price, list_completed_trades
from .foreign_chains import get_foreign_chain
from .trade_offers import get_trade, list_trade_offers

__all__ = [
    "get_foreign_chain",
    "get_trade",
    "get_trade_ledger",
    "get_trade_price",
    "list_completed_trades",
    "list_trade_offers",
]
