"""How a node is reached and read. The only code that talks to one, and it can only GET."""
