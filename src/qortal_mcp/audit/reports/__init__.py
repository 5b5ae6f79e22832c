"""A report in the formats that people and programs want. Each takes a `Report` and returns text; none judges."""
