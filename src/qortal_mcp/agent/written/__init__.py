"""Calls that a model writes as text instead of making them: their forms, and whether one is only a quote."""
