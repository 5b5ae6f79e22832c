"""Lines and events: the same whether they come whole, byte by byte, or with a tail."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cost import is_linear

from qortal_mcp.protocol.framing import KEEP_ALIVE, Event, EventSplitter, LineSplitter, TooLong, sse_event

LINES = [
    pytest.param(b"a\nb\n", [b"a", b"b"], [], id="two"),
    pytest.param(b"a\r\nb\r\n", [b"a", b"b"], [], id="crlf"),
    pytest.param(b"\n \t\n\r\n", [], [], id="blank"),
    pytest.param(b"  a \nb", [b"a"], [b"b"], id="tail"),
    pytest.param(b"", [], [], id="nothing"),
    pytest.param(b"x" * 10 + b"\n", [b"x" * 10], [], id="at-the-limit"),
    pytest.param(b"x" * 11 + b"\nok\n", [TooLong(10, b"x" * 10), b"ok"], [], id="too-long"),
    pytest.param(b"x" * 50, [TooLong(10, b"x" * 10)], [], id="too-long-tail"),
    pytest.param(
        b"x" * 11 + b"\n" + b"y" * 11 + b"\n",
        [TooLong(10, b"x" * 10), TooLong(10, b"y" * 10)],
        [],
        id="too-long-twice",
    ),
]


@pytest.mark.parametrize(("data", "lines", "tail"), LINES)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_lines_do_not_depend_on_how_they_arrive(
    data: bytes, lines: list[bytes | TooLong], tail: list[bytes], size: int
) -> None:
    splitter = LineSplitter(10)
    found = [line for at in range(0, len(data), size) for line in splitter.feed(data[at : at + size])]
    assert found == lines
    assert splitter.close() == tail


def test_exact_lines_keep_their_endings() -> None:
    splitter = LineSplitter(100, exact=True)
    assert splitter.feed(b" a \r\n\nb") == [b" a \r\n", b"\n"]
    assert splitter.close() == [b"b"]


@given(st.lists(st.binary(max_size=30)), st.integers(1, 7))
@settings(deadline=None, derandomize=True, database=None)
def test_any_pieces_give_the_same_lines_as_the_whole(pieces: list[bytes], limit: int) -> None:
    whole, split = LineSplitter(limit), LineSplitter(limit)
    expected = whole.feed(b"".join(pieces)) + whole.close()
    found = [line for piece in pieces for line in split.feed(piece)] + split.close()
    assert found == expected
    assert all(isinstance(line, TooLong) or len(line) <= limit for line in found)


EVENTS = [
    pytest.param(b"data: x\n\n", [Event("x")], id="data"),
    pytest.param(b"data:x\ndata: y\n\n", [Event("x\ny")], id="two-data-lines"),
    pytest.param(b"event: end\nid: 5\nretry: 10\ndata: x\n\n", [Event("x", "end", "5", 10)], id="all-fields"),
    pytest.param(b"data: x\r\n\r\ndata: y\r\r", [Event("x"), Event("y")], id="other-endings"),
    pytest.param(b": comment\n\ndata: x\n\n", [Event("x")], id="comment"),
    pytest.param(b"\xef\xbb\xbfdata: x\n\n", [Event("x")], id="bom"),
    pytest.param(b"id: 1\ndata:\n\n", [Event("", id="1")], id="priming"),
    pytest.param(b"id: 1\n\n", [Event(None, id="1")], id="no-data"),
    pytest.param(b"id: a\0b\ndata: x\n\n", [Event("x")], id="nul-in-id"),
    pytest.param(b"retry: soon\ndata: x\n\n", [Event("x")], id="retry-no-number"),
    pytest.param(b"nonsense\ndata: x\n\n", [Event("x")], id="unknown-field"),
    pytest.param(b"data: x\n", [], id="unfinished"),
    pytest.param("data: ø\n\n".encode(), [Event("ø")], id="utf8"),
    pytest.param(b"\n\n\n", [], id="blank"),
]


@pytest.mark.parametrize(("data", "events"), EVENTS)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_do_not_depend_on_how_they_arrive(data: bytes, events: list[Event], size: int) -> None:
    splitter = EventSplitter()
    found = [event for at in range(0, len(data), size) for event in splitter.feed(data[at : at + size])]
    assert found == events


def test_an_event_over_the_limit_is_reported_once_and_the_next_one_is_read() -> None:
    splitter = EventSplitter(20)
    assert TooLong(20) in splitter.feed(b"data: " + b"x" * 100)
    splitter = EventSplitter(20)
    found = splitter.feed(b"data: " + b"x" * 15 + b"\ndata: " + b"y" * 15 + b"\n\ndata: ok\n\n")
    assert found[0] == TooLong(20)
    assert found[-1] == Event("ok")


@given(
    st.lists(st.sampled_from([b"data: a", b"id: 7", b"\n", b"\r", b"\r\n", b":", b"x", b"\xff"])), st.data()
)
@settings(deadline=None, derandomize=True, database=None)
def test_any_stream_gives_the_same_events_whole_and_in_pieces(
    tokens: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(tokens)
    cut = data.draw(st.integers(0, len(stream)))
    whole, split = EventSplitter(), EventSplitter()
    assert split.feed(stream[:cut]) + split.feed(stream[cut:]) == whole.feed(stream)


@pytest.mark.parametrize("splitter", [LineSplitter, EventSplitter])
def test_a_line_byte_by_byte_takes_linear_time(splitter: type[LineSplitter] | type[EventSplitter]) -> None:
    def read(size: int) -> None:
        reader = splitter(1 << 20)
        for _ in range(size):
            reader.feed(b"x")

    assert is_linear(int, read, 200_000)


def test_events_are_written_on_one_line() -> None:
    assert sse_event(b"{}") == b"event: message\ndata: {}\n\n"
    assert sse_event(b"{}", "a-1") == b"id: a-1\nevent: message\ndata: {}\n\n"
    assert sse_event(b"", "a-0", 100) == b"id: a-0\nretry: 100\ndata: \n\n"
    assert EventSplitter().feed(KEEP_ALIVE) == []
    (event,) = EventSplitter().feed(sse_event(b"{}", "a-1", 5))
    assert event == Event("{}", "message", "a-1", 5)
