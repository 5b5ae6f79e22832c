"""Trades of QORT for foreign coins: offers, completed trades, prices, the foreign chains."""
