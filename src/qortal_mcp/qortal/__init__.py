"""The read-only Qortal server: what may be asked of a node, and the tools that ask it."""
