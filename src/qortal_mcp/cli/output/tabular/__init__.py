"""Rows as tables, charts and CSV."""
