"""The server behind: its connection, and what is known of it."""
