"""The load generator: a process of its own on a core of its own, which checks every reply."""
