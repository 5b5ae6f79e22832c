"""How Core behaves for every request: parameters, checks, order of rows, forms of answers."""
