"""Show the author of any MCP server what is wrong on the wire, and which client breaks on it."""
