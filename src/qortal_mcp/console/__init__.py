"""The page at `/`: its files, and the routes that only it uses. Everything else it reads through MCP, like any client."""
