"""A running server as a browser meets it: the addresses of its page and of the views of the page."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

from tests.door import Door, open_door


class Console:
    """The page of a running `qortal-mcp serve`."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.origin = f"http://127.0.0.1:{door.port}"

    def at(self, *parts: str | int, **query: str | int) -> str:
        """The address of a view: `at("account", ALICE)` is `…/#/account/Q…`; without parts, of the page."""
        if not parts:
            return f"{self.origin}/"
        asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        route = "/".join(quote(str(part), safe="") for part in parts)
        return f"{self.origin}/#/{route}{'?' if asked else ''}{asked}"


@contextmanager
def open_console(*options: str, environment: Mapping[str, str] | None = None) -> Iterator[Console]:
    """Start `qortal-mcp serve` with these options on a free port; end it afterwards."""
    with open_door(*options, environment=dict(environment or {})) as door:
        yield Console(door)
