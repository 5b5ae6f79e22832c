"""Keeps what goes through a bridge, before and after repair, as evidence that `audit` can judge."""
