"""The HTTP application of a server whose requests are traced."""

from ..transports.http import HttpApp, Receive, Scope, Send
from .requests import http_parent

_LONGEST = 128


class TracedHttpApp(HttpApp):
    """Remembers what an HTTP request says that it is part of: each needs a context of its own, and so a task."""

    begin = None  # type: ignore[assignment]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = next((value for name, value in scope["headers"] if name == b"traceparent"), b"")
            http_parent.set(sent.decode("latin-1") if len(sent) <= _LONGEST else "")
        await super().__call__(scope, receive, send)
