"""How the arguments of a call are read, and what is refused in them."""
