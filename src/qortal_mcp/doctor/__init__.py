"""Is this installation in order, and if not, what is the next step? Looks gather facts, checks judge them, pure."""
