"""Move bytes between clients and a server: HTTP, WebSocket, stdio, memory. No transport knows a method."""
