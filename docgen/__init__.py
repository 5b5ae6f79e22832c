"""Writes the documents that are made from code. `scripts/docs` writes, `scripts/docs --check` only compares."""
