"""Trades of the sample chain: open, completed, and the coins they are made in."""
