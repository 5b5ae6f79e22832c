"""How a command runs: settings, logs, sockets, and how it ends."""
