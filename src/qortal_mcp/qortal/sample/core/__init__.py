"""How Core behaves whatever is asked: parameters, checks, order of rows, forms of answers."""
