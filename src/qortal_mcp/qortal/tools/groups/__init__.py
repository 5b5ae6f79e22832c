"""Groups: which there are, who is in them, who comes and goes."""
