"""The entries in the files of clients: the files themselves, what an entry says, and the variables in it."""
