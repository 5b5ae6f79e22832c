"""Several servers behind one front, each under its own name and behind a bridge of its own."""
