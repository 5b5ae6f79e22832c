"""Bytes in any pieces: what the client relies on when it splits and reads them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.client import Options
from qortal_mcp.client.link import Link
from qortal_mcp.protocol import jsonrpc
from qortal_mcp.protocol.framing import Event, EventSplitter, LineSplitter, TooLong


@given(st.binary(), st.lists(st.integers(1, 7)))
def test_exact_lines_lose_no_byte_however_they_are_cut(data: bytes, sizes: list[int]) -> None:
    splitter = LineSplitter(exact=True)
    found: list[bytes | TooLong] = []
    rest = data
    for size in sizes:
        found += splitter.feed(rest[:size])
        rest = rest[size:]
    found += splitter.feed(rest) + splitter.close()
    lines = [line for line in found if isinstance(line, bytes)]
    assert b"".join(lines) == data
    assert all(line.endswith(b"\n") for line in lines[:-1])


def test_an_exact_line_beyond_the_limit_is_reported_once_and_the_next_one_is_read() -> None:
    splitter = LineSplitter(5, exact=True)
    assert splitter.feed(b"123456789") == [TooLong(5, b"12345")]
    assert splitter.feed(b"more\r\n \nok\n") == [b" \n", b"ok\n"]


ENDINGS = [b"\n", b"\r\n", b"\r"]
# A carriage return before a newline is one line end, not two.
PAIRS = [(first, second) for first in ENDINGS for second in ENDINGS if (first, second) != (b"\r", b"\n")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_events_end_with_any_mixture_of_line_ends_in_any_pieces(
    first: bytes, second: bytes, size: int
) -> None:
    data = b"data: a" + first + second + b"data: b" + first + second
    splitter = EventSplitter()
    events: list[Event | TooLong] = []
    for start in range(0, len(data), size):
        events += splitter.feed(data[start : start + size])
    assert events == [Event("a"), Event("b")]


def test_a_long_line_in_small_pieces_is_bounded() -> None:
    splitter = EventSplitter(limit=1000)
    said = [found for _ in range(5000) for found in splitter.feed(b"x")]
    assert said
    assert all(isinstance(found, TooLong) for found in said)


NO_ID = [
    pytest.param('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}', True, id="null"),
    pytest.param('{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}', True, id="absent"),
    pytest.param('{"jsonrpc":"2.0","id":null,"result":{}}', False, id="result"),
    pytest.param('{"jsonrpc":"2.0","id":null,"method":"x"}', False, id="request"),
    pytest.param('{"jsonrpc":"1.0","id":null,"error":{}}', False, id="wrong-version"),
    pytest.param('{"jsonrpc":"2.0","id":null,"error":{},"result":{}}', False, id="both"),
]


@pytest.mark.parametrize(("text", "is_error"), NO_ID)
def test_an_error_may_come_without_an_id_and_nothing_else_may(text: str, is_error: bool) -> None:
    message = jsonrpc.read(text.encode())
    assert isinstance(message, jsonrpc.Response if is_error else jsonrpc.Invalid)
    if isinstance(message, jsonrpc.Response):
        assert (message.id, message.result) == (None, None)
        assert message.error is not None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
ENVELOPES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers(0, 3) | VALUES,
        "method": st.sampled_from(["notifications/progress", "notifications/cancelled", "x"]) | VALUES,
        "params": VALUES,
        "result": VALUES,
        "error": st.fixed_dictionaries({"code": VALUES, "message": VALUES}) | VALUES,
    },
)


@pytest.mark.promise("Library", "Nothing that a server says can break the client.")
@given(st.lists(st.binary() | ENVELOPES.map(lambda value: json.dumps(value).encode()), max_size=5))
async def test_nothing_a_server_says_can_break_the_reader(said: list[bytes]) -> None:
    link = Link(Options(on_notification=lambda _: None))
    link.speak("2026-07-28", modern=True)
    for data in said:
        assert link.arrived(data) is False
        link.arrived(data, via=1, status=500)
    await link.close()
