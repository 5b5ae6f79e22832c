"""What each client of a front has with each server: handshakes, lists, and who is waited for."""
