"""The address of a shared store, from the URL that an operator gives."""

from urllib.parse import unquote, urlsplit

from msgspec import Struct

_PORT = 6379
# The schemes, and whether they mean TLS.
_SCHEMES = {"redis": False, "valkey": False, "rediss": True, "valkeys": True}
_MOST_DATABASES = 1_000_000


class Address(Struct, frozen=True, kw_only=True):
    """A host and port, or the path of a socket."""

    host: str = ""
    port: int = _PORT
    path: str = ""
    database: int = 0
    tls: bool = False

    @property
    def shown(self) -> str:
        """How the log and `doctor` name it."""
        if self.path:
            return self.path
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_of(url: str) -> Address:
    """Raises: ValueError, with a sentence that names no part of the URL."""
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError(
            "must not contain a user name or password: give the password in a file or a variable"
        )
    if parts.query or parts.fragment:
        raise ValueError("takes no options after ? or #")
    if parts.scheme == "unix":
        if parts.netloc or not parts.path.strip("/"):
            raise ValueError("needs the path of a socket, such as unix:///run/valkey/valkey.sock")
        return Address(path=unquote(parts.path))
    if parts.scheme not in _SCHEMES:
        raise ValueError("must start with redis://, rediss://, valkey://, valkeys:// or unix://")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("needs a port from 0 to 65535") from None
    if not host:
        raise ValueError("needs a host, such as redis://127.0.0.1:6379")
    database = parts.path.strip("/") or "0"
    if not (database.isascii() and database.isdigit()) or int(database[:9]) > _MOST_DATABASES:
        raise ValueError("may end with the number of a database, such as /1, and with nothing else")
    return Address(host=host, port=port or _PORT, database=int(database[:9]), tls=_SCHEMES[parts.scheme])
