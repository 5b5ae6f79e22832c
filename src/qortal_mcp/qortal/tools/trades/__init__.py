"""Trades of QORT against foreign coins: offers, completed trades, prices, the foreign chains."""
