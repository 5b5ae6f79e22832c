"""Bytes to messages: every kind of input becomes one of four kinds, and nothing raises."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qortal_mcp.protocol import errors, jsonrpc
from qortal_mcp.protocol.jsonrpc import Invalid, Notification, Request, Response

PARSE, INVALID = errors.PARSE_ERROR, errors.INVALID_REQUEST

GOOD = [
    pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"m"}', Request(1, "m", None), id="request"),
    pytest.param(b'{"jsonrpc":"2.0","id":0,"method":"m"}', Request(0, "m", None), id="id-zero"),
    pytest.param(b'{"jsonrpc":"2.0","id":"","method":"m"}', Request("", "m", None), id="id-empty"),
    pytest.param(b'{"jsonrpc":"2.0","id":"1","method":"m"}', Request("1", "m", None), id="id-text"),
    pytest.param(
        b'{"jsonrpc":"2.0","id":18446744073709551615,"method":""}',
        Request(2**64 - 1, "", None),
        id="id-large",
    ),
    pytest.param(b'\n {"method":"m","id":-5,"jsonrpc":"2.0"}\t', Request(-5, "m", None), id="any-order"),
    pytest.param(b'{"jsonrpc":"2.0","method":"m","x":[{}]}', Notification("m", None), id="notification"),
    pytest.param(b'{"method":"m"}', Notification("", None), id="notification-without-version"),
    pytest.param(b'{"jsonrpc":[],"method":"m"}', Notification("", None), id="notification-odd-version"),
    pytest.param(b'{"jsonrpc":"2.0","error":{},"id":null}', None, id="error-without-id"),
]


@pytest.mark.parametrize(("data", "message"), GOOD)
def test_a_message_is_read(data: bytes, message: jsonrpc.Message | None) -> None:
    found = jsonrpc.read(data)
    if message is None:
        assert isinstance(found, Response)
        assert found.id is None
    else:
        assert found == message


def test_parameters_and_results_stay_as_they_were_written() -> None:
    request = jsonrpc.read(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{ "a" : 1.0 }}')
    assert isinstance(request, Request)
    assert request.params is not None
    assert bytes(request.params) == b'{ "a" : 1.0 }'
    response = jsonrpc.read(b'{"jsonrpc":"2.0","id":"x","result":[1, 2]}')
    assert isinstance(response, Response)
    assert response.result is not None
    assert (response.id, bytes(response.result), response.error) == ("x", b"[1, 2]", None)


BAD = [
    pytest.param(b"", PARSE, None, id="nothing"),
    pytest.param(b"{", PARSE, None, id="not-json"),
    pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE, None, id="not-utf8"),
    pytest.param(b"1 2", PARSE, None, id="two-values"),
    pytest.param(b"NaN", PARSE, None, id="nan"),
    pytest.param(b"[]", INVALID, None, id="array"),
    pytest.param(b'"x"', INVALID, None, id="text"),
    pytest.param(b'{"jsonrpc":"2.0","id":true,"method":"m"}', INVALID, None, id="bool-id"),
    pytest.param(b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', INVALID, None, id="fraction-id"),
    pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"m"}', INVALID, None, id="null-id"),
    pytest.param(b'{"jsonrpc":"2.0","id":{},"method":"m"}', INVALID, None, id="object-id"),
    pytest.param(b'{"jsonrpc":"1.0","id":4,"method":"m"}', INVALID, 4, id="old-version"),
    pytest.param(b'{"id":4,"method":"m"}', INVALID, 4, id="no-version"),
    pytest.param(b'{"jsonrpc":"2.0","id":4,"method":[]}', INVALID, 4, id="odd-method"),
    pytest.param(b'{"jsonrpc":"2.0","id":4}', INVALID, 4, id="nothing-but-an-id"),
    pytest.param(b'{"jsonrpc":"2.0","id":4,"result":1,"error":{}}', INVALID, 4, id="result-and-error"),
    pytest.param(b'{"jsonrpc":"2.0","id":4,"method":"m","error":{}}', INVALID, 4, id="request-and-error"),
    pytest.param(
        b'{"jsonrpc":"2.0","id":4,"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}", INVALID, 4, id="deep"
    ),
    pytest.param(b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b',"id":"\\"}"}', INVALID, '"}', id="deep-first"),
    pytest.param(
        b'{"a":{"id":1,"b":' + b"[" * 50_000 + b"]" * 50_000 + b"}}", INVALID, None, id="deep-inner-id"
    ),
]


@pytest.mark.parametrize(("data", "code", "id_"), BAD)
def test_an_invalid_message_has_a_code_and_its_readable_id(data: bytes, code: int, id_: object) -> None:
    found = jsonrpc.read(data)
    assert isinstance(found, Invalid)
    assert (found.code, found.id, bool(found.reason)) == (code, id_, True)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@settings(deadline=None, max_examples=300, derandomize=True, database=None)
def test_any_bytes_are_a_message_or_invalid(data: bytes) -> None:
    assert isinstance(jsonrpc.read(data), Request | Notification | Response | Invalid)
    assert isinstance(jsonrpc.read_batch(data, 5), list | Invalid)


@given(
    st.integers(-(2**63), 2**64 - 1) | st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"])),
)
@settings(deadline=None, derandomize=True, database=None)
def test_what_is_written_reads_back(id_: int | str, method: str) -> None:
    assert jsonrpc.read(jsonrpc.request(id_, method, b"{}")) == Request(id_, method, msgspec.Raw(b"{}"))
    assert json.loads(jsonrpc.result_reply(id_, b"[]")) == {"jsonrpc": "2.0", "id": id_, "result": []}
    assert jsonrpc.read(jsonrpc.notification(method)) == Notification(method, None)
    error = json.loads(jsonrpc.error_reply(None, errors.ErrorObject(1, "no", {"a": None})))
    assert error == {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no", "data": {"a": None}}}


def test_a_batch_is_read_item_by_item() -> None:
    data = b'[{"jsonrpc":"2.0","id":1,"method":"m"},5,{"jsonrpc":"2.0","method":"n"}]'
    items = jsonrpc.read_batch(data, 3)
    assert isinstance(items, list)
    assert [type(item) for item in items] == [Request, Invalid, Notification]
    assert isinstance(jsonrpc.read_batch(data, 2), Invalid)
    assert isinstance(jsonrpc.read_batch(b"[]", 2), Invalid)
    assert jsonrpc.is_array(b" \r\n[")
    assert not jsonrpc.is_array(b'"["')
