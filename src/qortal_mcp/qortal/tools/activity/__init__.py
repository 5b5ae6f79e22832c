"""Sums over time: what changed, what an account earned and paid, how busy the chain was."""
