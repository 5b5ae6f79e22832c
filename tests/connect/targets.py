"""Servers that clients are told of in these tests."""

import pytest

from qortal_mcp.connect.client import Client, Target
from qortal_mcp.connect.clients import CLIENTS

COMMAND = ("/opt/qortal/bin/qortal-mcp", "stdio", "--sample")
URL = "http://127.0.0.1:8000/mcp"
PLAIN = Target(COMMAND, URL)
WITH_TOKEN = Target(COMMAND, URL, needs_token=True)
# A path that breaks whatever is not quoted: blanks, both quotes, a backslash, a dollar, letters beyond ASCII, a control character.
ODD = Target((r"""/home/Zoë "Z" O'Neil/a\b $HOME/😀/`x`""" + "\x7f\t/qortal-mcp", "stdio"), URL)

# Every way of every client.
SETUPS = [
    pytest.param(client, setup, id=f"{client.name}-{kind}")
    for client in CLIENTS
    for kind, setup in (("stdio", client.stdio), ("http", client.http))
    if setup is not None
]


def named(client: Client) -> str:
    """The id of a parameter."""
    return client.name
