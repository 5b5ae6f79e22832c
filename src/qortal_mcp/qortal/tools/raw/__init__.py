"""Core's own addresses, for what no other tool covers."""
