"""Checks of what a tool call gives back."""
