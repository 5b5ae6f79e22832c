"""What is changed in a message on its way from one of several servers to a client, and what is left as it came."""

import pytest
from msgspec import Raw

from qortal_mcp.bridge.gathered.forwarding import server_error
from qortal_mcp.bridge.gathered.rewriting import read_result, said, with_address, with_addresses, with_note
from qortal_mcp.protocol import errors, jsonrpc
from qortal_mcp.protocol.decoding import decode

UPDATED = "notifications/resources/updated"
ODD = [b'"resource"', b'["resource"]', b'{"resource"', b'{"content":"resource"}', b'{"a":{"resource":1}}']


@pytest.mark.parametrize("body", ODD)
def test_what_holds_no_address_is_passed_on_byte_for_byte(body: bytes) -> None:
    assert with_addresses(Raw(body), "max") == body
    assert read_result(Raw(body), "max") == body


def test_addresses_in_content_and_messages_are_offered_ones() -> None:
    body = b"""{"content": [{"type": "resource_link", "uri": "a:b"}, {"type": "resource", "resource": {"uri": "c:d"}},
        {"type": "resource", "resource": 5}, {"type": "resource_link", "uri": 5}, 5],
        "messages": [{"content": {"type": "resource_link", "uri": "e:f"}}, 5]}"""
    found = decode(with_addresses(Raw(body), "max"))
    assert found["content"][:2] == [
        {"type": "resource_link", "uri": "max+a:b"},
        {"type": "resource", "resource": {"uri": "max+c:d"}},
    ]
    assert found["content"][2:] == [
        {"type": "resource", "resource": 5},
        {"type": "resource_link", "uri": 5},
        5,
    ]
    assert found["messages"][0]["content"]["uri"] == "max+e:f"


def test_contents_that_were_read_have_offered_addresses() -> None:
    found = decode(read_result(Raw(b'{"contents":[{"uri":"a:b","text":"t"},5,{"uri":5}]}'), "max"))
    assert found == {"contents": [{"uri": "max+a:b", "text": "t"}, 5, {"uri": 5}]}


@pytest.mark.parametrize("params", [b"[1]", b"5", None])
def test_odd_notices_are_passed_on_as_they_are(params: bytes | None) -> None:
    message = jsonrpc.notification(UPDATED, params)
    assert said(message, "max", "max") == message


def test_logs_say_whose_they_are() -> None:
    for given, told in (("a", "max/a"), ("", "max"), (5, "max")):
        params = (
            b'{"level":"info","data":1,"logger":%b}' % str(given if given == 5 else f'"{given}"').encode()
        )
        message = said(jsonrpc.notification("notifications/message", params), "max", "max")
        assert decode(message)["params"]["logger"] == told
    other = jsonrpc.notification("notifications/other", b'{"a":"notifications/message"}')
    assert said(other, "max", "max") == other


def test_items_of_a_server_that_is_away_say_so() -> None:
    assert with_note({"name": "a"}, "max")["description"] == "(max does not answer now.)"
    assert with_note({"name": "a", "description": "Does."}, "max")["description"].endswith(" Does.")
    assert with_address({"uri": 5}, "resources", "max") == {"uri": 5}
    assert with_address({"name": "a"}, "prompts", "max") == {"name": "a"}


@pytest.mark.parametrize("raw", [b"5", b"{", b'{"code":"x","message":"m"}', b'{"code":1}'])
def test_an_error_that_cannot_be_read_is_one_all_the_same(raw: bytes) -> None:
    assert server_error(Raw(raw)).error.code == errors.INTERNAL_ERROR
