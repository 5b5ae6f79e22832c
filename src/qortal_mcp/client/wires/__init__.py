"""The wires a client can use: HTTP, HTTP+SSE, WebSocket, a child process, memory."""
