"""The load generator: a separate process on its own core, which checks every reply."""
