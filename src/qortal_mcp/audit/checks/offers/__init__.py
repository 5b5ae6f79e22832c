"""Checks of what a server lists: lists, tools and their schemas."""
