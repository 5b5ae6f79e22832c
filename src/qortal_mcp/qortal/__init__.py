"""The read-only Qortal server: what may be requested from a node, and the tools that request it."""
