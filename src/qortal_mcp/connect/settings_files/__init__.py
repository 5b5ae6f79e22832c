"""The settings files of clients: read within limits, changed at one place, and written whole or not at all."""
