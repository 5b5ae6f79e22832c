"""What any MCP server says, for people: written by strangers, so bounded, and with nothing hidden in it."""
