"""Messages in the output of a program that prints other things too, however its bytes arrive."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.cases import SERVERS
from tests.audit.stub import Connection, encoded
from tests.cost import is_linear

from qortal_mcp.protocol.framing import TooLong
from qortal_mcp.protocol.jsonrpc import RequestId
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.repairs.framing import FRAMING, LooseLines, Piece

SAFE, ALL = Repairs("safe"), Repairs("all")
A = b'{"jsonrpc":"2.0","id":1,"result":{"a":1.50}}'
B = b'{"jsonrpc":"2.0","id":2,"result":{"text":"[ {"}}'
PRETTY = b'{\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {\n    "a": "}]"\n  }\n}'
BATCH = b"[\n" + A + b",\n" + B + b"\n]"


def framed(data: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


# What a program prints, the messages in it, and the codes at `all`.
OUTPUTS = [
    pytest.param(A + b"\n" + B + b"\n", [A, B], [], id="lines"),
    pytest.param(A + b"\n" + B, [A, B], [], id="without-the-last-line-feed"),
    pytest.param(A + b"\r\n" + B + b"\r\n", [A, B], ["line-ending-crlf"] * 2, id="crlf"),
    pytest.param(b"\n" + A + b"\n \t\n", [A], ["blank-line"] * 2, id="blank-lines"),
    pytest.param(b"Starting ...\n" + A + b"\nbye", [A], ["stdout-pollution"] * 2, id="banner"),
    pytest.param(b"[INFO] ready\n{'a': 1}\n{oops\n" + A + b"\n", [A], ["stdout-pollution"] * 3, id="logs"),
    pytest.param(b"\xff\xfe\x00\n" + A + b"\n", [A], ["stdout-pollution"], id="bytes"),
    pytest.param(b"Loading... " + A + b"\n", [A], ["stdout-pollution"], id="text-before-a-message"),
    pytest.param(b'Loading {"a":1}\n' + A + b"\n", [A], ["stdout-pollution"], id="text-with-json"),
    pytest.param(b"\xef\xbb\xbf" + A + b"\n", [b"\xef\xbb\xbf" + A], [], id="bom"),
    pytest.param(A + B + b"\n", [A + B], [], id="two-in-a-line"),
    pytest.param(PRETTY + b"\n" + B + b"\n", [PRETTY, B], ["message-multi-line"], id="pretty"),
    pytest.param(PRETTY + PRETTY + b"\n", [PRETTY + PRETTY], ["message-multi-line"], id="pretty-and-joined"),
    pytest.param(PRETTY + b"\n\n" + PRETTY, [PRETTY, PRETTY], ["message-multi-line", "blank-line", "message-multi-line"], id="pretty-twice"),
    pytest.param(PRETTY.replace(b"\n", b"\r\n") + b"\r\n", [PRETTY.replace(b"\n", b"\r\n")], ["message-multi-line", "line-ending-crlf"], id="pretty-crlf"),
    pytest.param(BATCH + b"\n" + A + b"\n", [BATCH, A], ["message-multi-line"], id="pretty-batch"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"a":"x\ny \\"}\nz"}}\n', [b'{"jsonrpc":"2.0","id":1,"result":{"a":"x\ny \\"}\nz"}}'], ["message-multi-line"], id="line-feeds-in-a-string"),
    pytest.param(b"{\n" + A + b"\n" + B + b"\n", [A, B], ["stdout-pollution"], id="a-brace-that-is-never-closed"),
    pytest.param(b'{"half": "of\n' + A + b"\n", [A], ["stdout-pollution"], id="half-a-message"),
    pytest.param(b'{"half":\n', [], ["stdout-pollution"], id="half-a-message-at-the-end"),
    pytest.param(framed(A) + framed(B), [A, B], ["lsp-framing"] * 2, id="content-length"),
    pytest.param(framed(PRETTY) + framed(A), [PRETTY, A], ["lsp-framing"] * 2, id="content-length-of-several-lines"),
    pytest.param(b"content-length:%d\nContent-Type: x; charset=utf-8\n\n" % len(A) + A + b"\n" + B + b"\n", [A, B], ["lsp-framing", "blank-line"], id="more-headers"),
    pytest.param(b"Content-Length: 5\n" + A + b"\n", [A], ["stdout-pollution"], id="a-header-alone"),
    pytest.param(b"Content-Length: 900\n\nlog\n" + A + b"\n", [A], ["stdout-pollution"] * 2, id="a-header-of-nothing"),
    pytest.param(b"Content-Length: 99999999\n\n" + A + b"\n", [A], ["stdout-pollution", "blank-line"], id="a-header-beyond-the-limit"),
    pytest.param(b"Content-Length: 9\n\n" + A + b"\n" + B + b"\n", [A, B], ["stdout-pollution"], id="a-header-that-counts-wrongly"),
    pytest.param(b"", [], [], id="nothing"),
]  # fmt: skip


def split(splitter: LooseLines, data: bytes, size: int) -> list[Piece | TooLong]:
    found = [piece for at in range(0, len(data), size) for piece in splitter.feed(data[at : at + size])]
    return found + splitter.close()


@pytest.mark.parametrize(("data", "expected", "codes"), OUTPUTS)
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
def test_messages_are_found_however_they_arrive(
    data: bytes, expected: list[bytes], codes: list[str], size: int
) -> None:
    found = split(ALL.lines(1000), data, size)
    assert all(isinstance(piece, Piece) for piece in found)
    pieces = [piece for piece in found if isinstance(piece, Piece)]
    assert [piece.data for piece in pieces if piece.data] == expected
    assert [change.code for piece in pieces for change in piece.changes] == codes
    assert b"".join(piece.raw for piece in pieces) == data, "every byte is accounted for"


@given(
    st.lists(
        st.sampled_from([A, PRETTY, b"\n", b"{", b'"', b"}", b"\\", b"Content-Length: 3\n", b"x", framed(B)])
    )
)
@settings(deadline=None, derandomize=True, database=None)
def test_any_pieces_give_the_same_as_the_whole(parts: list[bytes]) -> None:
    for limit in (10, 1000):
        whole = split(ALL.lines(limit), b"".join(parts), 1_000_000)
        splitter = ALL.lines(limit)
        found = [piece for part in parts for piece in splitter.feed(part)] + splitter.close()
        assert found == whole


LONG = [
    pytest.param(b"{" + b"a" * 200 + b"\n", id="line"),
    pytest.param(b"{\n" + b" " * 60 + b"\n" + b" " * 60 + b"\n", id="several-lines"),
]


@pytest.mark.parametrize("data", LONG)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_is_too_long_is_dropped_and_reported_once(data: bytes, size: int) -> None:
    found = split(SAFE.lines(100), data + A + b"\n", size)
    assert [piece for piece in found if isinstance(piece, TooLong)] == [TooLong(100, data[:100])]
    assert found[-1] == Piece(A + b"\n", A)


HOSTILE = [
    pytest.param(b"", b"{", b"", id="braces"),
    pytest.param(b"", b"{\n", b"", id="braces-on-lines"),
    pytest.param(b"", b'{"\n', b"", id="strings"),
    pytest.param(b'{"a":[\n', b'{"a":1}\n', b"", id="objects"),
    pytest.param(b'{"', b'\\"', b"\n", id="escapes"),
    pytest.param(b"", b"Content-Length: 7\n", b"", id="headers"),
    pytest.param(b"", b"Content-Length: 9\n\n", b"", id="frames"),
    pytest.param(b"", b'x{"', b"\n", id="text"),
    pytest.param(b"", b"\n", b"", id="blank"),
]


@pytest.mark.parametrize(("start", "piece", "end"), HOSTILE)
@pytest.mark.parametrize("size", [100, 64 * 1024])
def test_anything_takes_linear_time(start: bytes, piece: bytes, end: bytes, size: int) -> None:
    def read(data: bytes) -> None:
        assert split(SAFE.lines(16 * 1024 * 1024), data, size)

    assert is_linear(lambda length: start + piece * (length // len(piece)) + end, read, 300_000)


# A program's output, and the messages that are found with and without the code.
SWITCHES = [
    pytest.param("stdout-pollution", b"text " + A + b"\n", [A], [b"text " + A], id="pollution"),
    pytest.param("blank-line", b" \n", [], [], id="blank"),
    pytest.param("line-ending-crlf", A + b"\r\n", [A], [A], id="crlf"),
    pytest.param("message-multi-line", b'{"id":1,\n"result":1}\n', [b'{"id":1,\n"result":1}'], [b'{"id":1,'], id="multi-line"),
    pytest.param("lsp-framing", framed(PRETTY), [PRETTY], [PRETTY], id="content-length"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "data", "on", "off"), SWITCHES)
def test_each_kind_of_leniency_can_be_switched_off(
    code: str, data: bytes, on: list[bytes], off: list[bytes]
) -> None:
    def seen(splitter: LooseLines) -> tuple[list[bytes], set[str]]:
        pieces = [piece for piece in split(splitter, data, 5) if isinstance(piece, Piece)]
        codes = {change.code for piece in pieces for change in piece.changes}
        return [piece.data for piece in pieces if piece.data], codes

    assert seen(ALL.lines(1000)) == (on, {code})
    found, codes = seen(Repairs("all", without=[code]).lines(1000))
    assert found == off
    assert code not in codes


def test_every_kind_of_leniency_has_a_switch_that_is_tested() -> None:
    assert {one.code for one in FRAMING} == {str(row.values[0]) for row in SWITCHES}


def printed(name: str) -> bytes:
    """What a broken server of the audit prints while it is asked for its handshake and a call."""
    server = SERVERS[name]
    connection = Connection(server)
    output = server.banner
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t"}},
    ):
        for reply in connection.receive(json.dumps(message).encode()):
            output += server.frame(encoded(reply))
    return output


# The codes at safe, from lines and messages together; at all there is one more.
CORPUS = [
    ("right", set(), set()),
    ("banner", {"stdout-pollution"}, set()),
    ("banner-json", {"stdout-pollution"}, set()),
    ("banner-call", {"stdout-pollution"}, set()),
    ("crlf", set(), {"line-ending-crlf"}),
    ("bom", {"bom"}, set()),
    ("blank-line", {"blank-line"}, set()),
    ("pretty-init", {"message-multi-line"}, set()),
    ("pretty-call", {"message-multi-line"}, set()),
    ("content-length", {"lsp-framing"}, set()),
    ("two-in-line", {"message-joined"}, set()),
    ("stderr-noise", set(), set()),
]


def understood(repairs: Repairs, output: bytes) -> tuple[list[Any], set[str]]:
    waiting: dict[RequestId, str] = {1: "initialize", 2: "tools/call"}
    messages, codes = [], set()
    for piece in split(repairs.lines(100_000), output, 64):
        assert isinstance(piece, Piece)
        codes |= {change.code for change in piece.changes}
        for one in repairs.messages(piece.data, waiting, latest=2) if piece.data else ():
            codes |= {change.code for change in one.changes}
            if one.data:
                messages.append(json.loads(one.data))
    return [message for message in messages if "result" in message], codes


@pytest.mark.parametrize(("name", "at_safe", "more"), CORPUS, ids=[row[0] for row in CORPUS])
def test_the_output_of_each_broken_server_is_understood(name: str, at_safe: set[str], more: set[str]) -> None:
    right, _ = understood(SAFE, printed("right"))
    assert len(right) == 2
    assert understood(SAFE, printed(name)) == (right, at_safe)
    assert understood(ALL, printed(name)) == (right, at_safe | more)
