"""Checks of what a tool call returns."""
