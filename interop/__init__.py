"""Proof that programs written by others work with this server: `scripts/interop`, or `python -m interop NAME...`."""
