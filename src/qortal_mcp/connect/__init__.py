"""How clients are told of this server: one table of clients, and the texts a person copies, rendered from it."""
