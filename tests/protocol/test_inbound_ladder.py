"""The series of checks: the first thing that is wrong is reported."""

from typing import Any

import msgspec
import pytest

from qortal_mcp.protocol import cursors, errors, versions
from qortal_mcp.protocol.headers import Mirrored
from qortal_mcp.protocol.inbound import Arrival, Rejection, Route, judge
from qortal_mcp.protocol.jsonrpc import Request
from qortal_mcp.protocol.messages import CLIENT_CAPABILITIES, PROTOCOL_VERSION

MODERN = "2026-07-28"
NEW = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}


def request(method: str, meta: Any = None, **params: Any) -> Request:
    if meta is not None:
        params["_meta"] = meta
    return Request(1, method, msgspec.Raw(msgspec.json.encode(params)) if params else None)


def over_http(version: str | None, method: str = "tools/list", **more: str) -> Arrival:
    values = {"mcp-method": method, **{name.replace("_", "-"): value for name, value in more.items()}}
    if version is not None:
        values["mcp-protocol-version"] = version
    return Arrival(http=Mirrored(values))


STDIO, SHAKEN = Arrival(lasting=True), Arrival(lasting=True, handshake="2025-06-18")

LADDER: list[Any] = [
    # Modern requests: the envelope, then the headers, then the version, then the method.
    (request("tools/list", {PROTOCOL_VERSION: "v9"}), over_http("v1"), errors.INVALID_PARAMS, 400),
    (request("tools/list", {**NEW, PROTOCOL_VERSION: "v9"}), over_http(MODERN), errors.HEADER_MISMATCH, 400),
    (
        request("tools/list", {**NEW, PROTOCOL_VERSION: "v9"}),
        over_http("v9"),
        errors.UNSUPPORTED_VERSION,
        400,
    ),
    (
        request("nope", {**NEW, PROTOCOL_VERSION: "v9"}),
        over_http("v9", "nope"),
        errors.UNSUPPORTED_VERSION,
        400,
    ),
    (request("nope", NEW), over_http(MODERN, "nope"), errors.METHOD_NOT_FOUND, 404),
    (request("initialize", NEW), over_http(MODERN, "initialize"), errors.METHOD_NOT_FOUND, 404),
    (request("tools/list", NEW), over_http(None), errors.HEADER_MISMATCH, 400),
    (request("tools/call", NEW, name="a"), over_http(MODERN, "tools/call"), errors.HEADER_MISMATCH, 400),
    (request("tools/call", NEW), over_http(MODERN, "tools/call"), None, MODERN),
    (request("tools/call", NEW, name="a"), over_http(MODERN, "tools/call", mcp_name="a"), None, MODERN),
    (request("tools/list", {**NEW, "progressToken": 1.5}), STDIO, errors.INVALID_PARAMS, 400),
    (request("tools/list", NEW), STDIO, None, MODERN),
    (request("tools/list", NEW), SHAKEN, None, MODERN),
    # Legacy requests.
    (request("tools/list"), STDIO, errors.INVALID_PARAMS, 200),
    (request("nope"), STDIO, errors.METHOD_NOT_FOUND, 200),
    (request("server/discover"), STDIO, errors.METHOD_NOT_FOUND, 200),
    (request("ping"), STDIO, None, versions.ASSUMED),
    (request("tools/list"), SHAKEN, None, "2025-06-18"),
    (request("tools/list", {"progressToken": []}), SHAKEN, errors.INVALID_PARAMS, 200),
    (request("tools/list", {"other": 1}), SHAKEN, None, "2025-06-18"),
    (request("tools/list"), over_http(None), None, versions.ASSUMED),
    (request("tools/list"), over_http("2025-11-25"), None, "2025-11-25"),
    (request("tools/list"), over_http("v9"), errors.INVALID_PARAMS, 400),
    (request("tools/list"), over_http(MODERN), errors.INVALID_PARAMS, 400),
    (request("initialize"), over_http(MODERN), None, versions.ASSUMED),
    (Request(1, "tools/list", msgspec.Raw(b"[]")), SHAKEN, errors.INVALID_PARAMS, 200),
    (Request(1, "tools/list", msgspec.Raw(b'{"_meta":5}')), over_http(MODERN), errors.INVALID_PARAMS, 400),
]


@pytest.mark.parametrize(("message", "arrival", "code", "outcome"), LADDER)
def test_a_request_is_told_the_first_thing_that_is_wrong(
    message: Request, arrival: Arrival, code: int | None, outcome: Any
) -> None:
    found = judge(message, arrival)
    if code is None:
        assert isinstance(found, Route)
        assert found.revision == outcome
        assert found.modern == (outcome == MODERN)
    else:
        assert isinstance(found, Rejection)
        assert (found.error.code, found.status) == (code, outcome)


def test_every_method_is_served_and_no_other() -> None:
    from qortal_mcp.server.methods import METHOD_TABLE

    assert set(METHOD_TABLE) == set(versions.METHODS)


@pytest.mark.parametrize("revision", versions.REVISIONS)
def test_methods_are_those_of_the_official_tables(revision: str) -> None:
    import mcp_types.methods as official

    theirs = {method for method, version in official.CLIENT_REQUESTS if version == revision}
    assert {name for name, method in versions.METHODS.items() if method.exists_in(revision)} == theirs


def test_a_handshake_answers_what_it_knows_or_the_newest() -> None:
    assert [versions.negotiate(v) for v in versions.LEGACY] == list(versions.LEGACY)
    assert {versions.negotiate(v) for v in ("", MODERN, "x", "2025-11-26")} == {"2025-11-25"}


def test_a_cursor_reads_back_only_where_it_was_written() -> None:
    for offset in (2, 4, 6):
        assert cursors.read(cursors.write(offset), 2, 8) == offset
    for text, page, total in (
        (cursors.write(0), 2, 8),
        (cursors.write(3), 2, 8),
        (cursors.write(8), 2, 8),
        (cursors.write(2) + "=", 2, 8),
        (cursors.write(2)[:-1], 2, 8),
        ("", 2, 8),
        ("cGFnZTowMg", 2, 8),
        ("\u00e9", 2, 8),
        ("A" * 10_000, 2, 8),
    ):
        with pytest.raises(errors.ProtocolError):
            cursors.read(text, page, total)
