"""Proof that other people's programs work with this server and the bridge: `scripts/interop`, or `python -m interop NAME...`."""
