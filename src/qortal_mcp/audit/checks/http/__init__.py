"""Checks of HTTP itself: statuses, sessions, streams, and who may ask."""
