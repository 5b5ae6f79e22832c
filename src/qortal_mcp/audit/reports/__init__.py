"""A report in the forms people and programs want. Each takes a `Report` and gives text; none judges."""
