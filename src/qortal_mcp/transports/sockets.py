"""Where a server listens: the numeric address of a host, the socket, the address that clients use. Needs no uvicorn."""

import socket

BACKLOG = 2048


def numeric(host: str, port: int) -> str:
    """The numeric address of a host to listen on; if a name has several, IPv4 before IPv6.

    Raises: OSError or UnicodeError if the name cannot be resolved.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return str(min(found, key=lambda one: one[0] is not socket.AF_INET)[4][0])


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one.

    Raises: OSError.
    """
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # With the protocol named, asyncio turns off Nagle's algorithm, which would hold back the body of each reply.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((name, port))
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


def url_of(sock: socket.socket, path: str = "/mcp") -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"
