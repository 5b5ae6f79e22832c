"""A tool in ten lines, on any transport: stdio, or HTTP and WebSocket with --listen 127.0.0.1:8000."""

from qortal_mcp import Server, run, tool


@tool("Greeting")
def hello(name: str) -> str:
    """Greets a person by name. Use it when someone asks to be greeted."""
    return f"Hello, {name}!"


if __name__ == "__main__":
    run(Server("hello", "1.0", tools=[hello]))
