"""Headers that repeat what the body says: the Base64 form, picking, and where arguments are found."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from qortal_mcp.protocol import headers
from qortal_mcp.protocol.headers import HeaderParam, Mirrored

ENCODED = [
    ("", ""),
    ("plain", "plain"),
    ("with space", "with space"),
    (" leading", "=?base64?IGxlYWRpbmc=?="),
    ("trailing ", "=?base64?dHJhaWxpbmcg?="),
    ("ø", "=?base64?w7g=?="),
    ("line\nbreak", "=?base64?bGluZQpicmVhaw==?="),
    ("tab\t", "=?base64?dGFiCQ==?="),
    ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ("=?base64?open", "=?base64?open"),
    ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
]


@pytest.mark.parametrize(("text", "header"), ENCODED)
def test_a_text_has_one_form_as_a_header(text: str, header: str) -> None:
    assert headers.encode(text) == header
    assert headers.decode(header) == text


BROKEN = [
    "=?base64?eA=?=",
    "=?base64?eA?=",
    "=?base64?e A==?=",
    "=?base64?!!!!?=",
    "=?base64?eB==?=",
    "=?base64?/w==?=",
]


@pytest.mark.parametrize("header", [*BROKEN, "ø", "a\x00b", "a\tb"])
def test_a_broken_form_has_no_value(header: str) -> None:
    assert headers.decode(header) is None


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(deadline=None, derandomize=True, database=None)
def test_any_text_passes_through_a_header(text: str) -> None:
    header = headers.encode(text)
    assert header.isascii()
    assert header == header.strip()
    assert headers.decode(header) == text


def test_mcp_headers_are_picked_trimmed_and_doubles_named() -> None:
    found = headers.pick(
        [
            (b"host", b"x"),
            (b"mcp-method", b" a\t"),
            (b"mcp-name", b"n"),
            (b"mcp-name", b"n"),
            (b"mcp-session-id", b"1"),
            (b"mcp-session-id", b"2"),
        ]
    )
    assert found.values == {"mcp-method": "a", "mcp-name": "n", "mcp-session-id": "2"}
    assert found.repeated == {"mcp-name"}
    assert found.version is None


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_annotated_arguments_are_found_also_inside_objects() -> None:
    found = headers.header_params(
        schema(
            a={"type": "string", "x-mcp-header": "A"},
            b=schema(c={"type": "boolean", "x-mcp-header": "C"}),
            d={"type": "array", "items": {"type": "string", "x-mcp-header": "no"}},
        )
    )
    assert found == (HeaderParam("A", ("a",), "string"), HeaderParam("C", ("b", "c"), "boolean"))


BAD_SCHEMAS = [
    schema(a={"type": "number", "x-mcp-header": "A"}),
    schema(a={"type": ["string", "null"], "x-mcp-header": "A"}),
    schema(a={"x-mcp-header": "A"}),
    schema(a={"type": "string", "x-mcp-header": ""}),
    schema(a={"type": "string", "x-mcp-header": "a b"}),
    schema(a={"type": "string", "x-mcp-header": 5}),
    schema(a={"type": "string", "x-mcp-header": "X"}, b={"type": "string", "x-mcp-header": "x"}),
]


@pytest.mark.parametrize("bad", BAD_SCHEMAS)
def test_an_annotation_that_would_make_clients_drop_the_tool_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="x-mcp-header"):
        headers.header_params(bad)


NUMBER = HeaderParam("N", ("n",), "integer")
SAME = [
    ("5", b"5", True),
    ("5.0", b"5", True),
    ("-5", b"-5", True),
    ("5", b"5.0", True),
    ("05", b"5", True),
    ("5 ", b"5", False),
    ("5e0", b"5", False),
    ("0x5", b"5", False),
    ("1_0", b"10", False),
    ("inf", b"5", False),
    ("9007199254740993", b"9007199254740993", False),
    ("1", b"true", False),
    ("5", b'"5"', False),
    ("", b"5", False),
]


@pytest.mark.parametrize(("header", "value", "agree"), SAME)
def test_numbers_are_compared_as_numbers(header: str, value: bytes, agree: bool) -> None:
    sent = Mirrored({"mcp-param-n": header})
    found = headers.param_mismatch((NUMBER,), Raw(b'{"n":%b}' % value), sent)
    assert (found is None) == agree


@pytest.mark.parametrize(
    ("header", "value", "agree"), [("true", b"true", True), ("True", b"true", False), ("1", b"true", False)]
)
def test_booleans_are_compared_as_words(header: str, value: bytes, agree: bool) -> None:
    flag = HeaderParam("F", ("o", "f"), "boolean")
    found = headers.param_mismatch((flag,), Raw(b'{"o":{"f":%b}}' % value), Mirrored({"mcp-param-f": header}))
    assert (found is None) == agree


def test_an_argument_that_is_null_or_missing_has_no_header() -> None:
    for arguments in (b"{}", b'{"n":null}', b'{"n":{}}'):
        expected = arguments == b'{"n":{}}'
        assert (headers.param_mismatch((NUMBER,), Raw(arguments), Mirrored({})) is not None) == expected
