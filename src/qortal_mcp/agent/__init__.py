"""Asks a model, calls the tools that it wants, and shows where each number of its answer comes from."""
