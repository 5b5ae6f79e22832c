"""Blocks: one, many, and who signed them."""
