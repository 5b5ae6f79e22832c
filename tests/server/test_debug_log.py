"""What the debug log says of a message: never what might be a secret."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from qortal_mcp import Server, logs
from qortal_mcp.server.peer import Peer

WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"
SECRETS = {
    "seed-phrase": WORDS,
    "half-a-seed-phrase": WORDS[:40],
    "joined": WORDS.replace(" ", "/"),
    "half-of-it-joined": WORDS.replace(" ", "_")[:40],
    "key": "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
    "hex": "ab" * 32,
}


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    level = root.level
    stream = io.StringIO()
    logs.configure("debug", "json", stream)
    yield stream
    logs.configure("info", "json", io.StringIO())
    root.setLevel(level)


def receive(method: str, id_: object = 1) -> None:
    peer = Peer(lasting=True)
    server = Server("logged")
    for message in ({"id": id_, "method": method}, {"method": method}):
        server.receive(json.dumps({"jsonrpc": "2.0", **message}).encode(), peer)


def shown(stream: io.StringIO) -> list[str]:
    return [json.loads(line)["qortal_mcp.method"] for line in stream.getvalue().splitlines()]


@pytest.mark.promise(
    "Read-only and secrets", "No level of the log repeats a key or seed phrase, wherever it was sent."
)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_place_of_a_method_is_not_logged(secret: str, stream: io.StringIO) -> None:
    receive(SECRETS[secret])
    assert shown(stream) == ["(not shown)", "(not shown)"]
    assert "abandon" not in stream.getvalue()


@pytest.mark.promise(
    "Read-only and secrets", "No level of the log repeats a key or seed phrase, wherever it was sent."
)
@pytest.mark.parametrize("secret", ["seed-phrase", "joined", "key", "hex"])
def test_a_secret_in_place_of_an_id_is_not_logged(secret: str, stream: io.StringIO) -> None:
    receive("ping", SECRETS[secret])
    assert SECRETS[secret][:20] not in stream.getvalue()
    assert json.loads(stream.getvalue().splitlines()[0])["qortal_mcp.rpc_id"] == "(not repeated)"


@pytest.mark.parametrize(
    "method", ["tools/call", "notifications/resources/list_changed", "tools/no_such", "shutdown"]
)
def test_a_method_that_says_something_is_logged(method: str, stream: io.StringIO) -> None:
    receive(method)
    assert shown(stream)[-1] == method
