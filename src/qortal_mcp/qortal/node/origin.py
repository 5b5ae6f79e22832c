"""The address of a node, as an operator writes it and as answers show it."""

from urllib.parse import urlsplit


def origin_of(url: str) -> str:
    """The origin of a node's address. A user name or password in it is left out: none is ever sent.

    Raises: ValueError, with a reason for a person to read.
    """
    if any(not 33 <= ord(letter) <= 126 for letter in url):
        raise ValueError("a node's address must be printable ASCII without spaces")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("a node's address must look like http://127.0.0.1:12391")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("a node's address must not have a path: only scheme, host and port")
    try:
        port = parts.port
    except ValueError:
        raise ValueError("a node's port must be a number up to 65535") from None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    if not all(letter.isalnum() or letter in "-._:[]" for letter in host):
        raise ValueError("a node's host must be a name or an IP address")
    return f"{parts.scheme}://{host}" + ("" if port is None else f":{port}")
