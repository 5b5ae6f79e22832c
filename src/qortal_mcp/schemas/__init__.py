"""JSON Schemas of servers that are not trusted: what they cost, whether they are valid, what they ask for."""
