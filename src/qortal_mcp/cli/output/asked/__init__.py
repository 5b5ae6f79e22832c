"""What `ask` shows."""
