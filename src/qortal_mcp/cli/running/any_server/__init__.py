"""One server, ours or another's, that a command of the terminal asks a few questions."""
