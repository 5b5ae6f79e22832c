"""How answers of several nodes are compared, with `--confirm`."""
