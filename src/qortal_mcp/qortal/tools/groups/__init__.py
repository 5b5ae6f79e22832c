"""Groups: which exist, who is in them, who comes and goes."""
