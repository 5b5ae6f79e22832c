"""This library beside FastMCP: the same small server on both, and the signatures that people write."""
