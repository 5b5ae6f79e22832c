"""Core's own endpoints, for what no other tool covers."""
