"""The servers behind one front: the files of clients, their entries, and the variables in them."""
