"""How often callers may ask: counted by one process, by the workers of a machine, or by machines that share a store."""
