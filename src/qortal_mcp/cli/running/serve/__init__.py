"""What runs `serve`: its socket, its signals, its workers."""
