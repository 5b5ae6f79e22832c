"""What the load generator is told to do, and what it reports when it is done. Both are sent as one line of JSON."""

from typing import Literal

from msgspec import Struct

# Placeholder, in a header or in the body, for a value that differs in each request.
VARYING = "@@VARYING@@"


class Job(Struct, frozen=True, kw_only=True):
    """Requests of one kind, a bounded number of them."""

    wire: Literal["http", "websocket"] = "http"
    port: int
    path: str = "/mcp"
    headers: dict[str, str]
    body: str
    requests: int
    connections: int = 16
    varying: Literal["nothing", "address", "session"] = "nothing"
    # Connections wait for each other, and then all send the same request at once.
    in_step: bool = False
    # Texts that every reply must contain. If possible, every reply must also equal the first, byte for byte.
    marks: list[str]
    is_same: bool = True
    seed: int = 0
    at_most_seconds: float = 60.0


class Outcome(Struct, frozen=True, kw_only=True):
    requests: int
    seconds: float
    first_reply: str
