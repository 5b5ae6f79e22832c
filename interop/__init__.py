"""Proof that other people's programs work with this server: `scripts/interop`, or `python -m interop NAME...`."""
