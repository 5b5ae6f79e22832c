"""Assets: what was issued on the chain besides QORT, who holds it, how it is traded."""
