"""Failures that only a bridge knows, beside those of the client."""

from ..client.errors import ClientError, ConnectionLost


class Unreachable(ConnectionLost):
    """There is no connection to the server, and none could be made in time. `reason` says why, as far as known."""

    def __init__(self, name: str, reason: str = "", words: str = "") -> None:
        super().__init__(name)
        # Printable already, and the last lines of a program may be longer than what else is shown of strangers.
        self.args = (words or f"cannot reach {name}",)
        self.reason = reason


class Lost(ConnectionLost):
    """The connection ended while an answer was waited for. `tail`: what the program wrote last."""

    def __init__(self, message: str, evidence: tuple[bytes, ...], tail: str) -> None:
        super().__init__(message, evidence)
        self.tail = tail


class SessionLost(ConnectionLost):
    """The server forgot the session in which this was asked."""


class RequestTooLong(ClientError):
    """The server cannot take a message of this size."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"The request has {size} bytes; the server takes at most {most} (--request-bytes).")
