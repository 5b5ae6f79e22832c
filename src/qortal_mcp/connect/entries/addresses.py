"""What an address of a server and the name of a header may look like."""

from urllib.parse import urlsplit

_HEADER_NAME = frozenset("!#$%&'*+.^_`|~-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def has_scheme(url: str) -> bool:
    return url.partition("://")[0].lower() in ("http", "https", "ws", "wss")


def is_address(url: str) -> bool:
    """Whether a server can be reached there, as far as the address shows."""
    try:
        parts = urlsplit(url)
        return has_scheme(url) and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        return False


def is_header_name(text: str) -> bool:
    return bool(text) and set(text) <= _HEADER_NAME
