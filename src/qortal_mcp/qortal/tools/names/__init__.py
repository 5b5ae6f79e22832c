"""Registered names: one by its name, and lists of them."""
