"""The cases that the earlier server's audits asked for, through the HTTP door of the real server."""

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.door import Door, open_door

from qortal_mcp import __version__
from qortal_mcp.protocol.versions import LEGACY, MODERN

UNSEEN = "QXnFSB5NoCx7ugyANq3ed6kjTU2EoboWaR"
ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
SIX_TOOLS = {
    "get_node_status": {},
    "get_account_overview": {"address": ALICE},
    "get_balance": {"address": ALICE},
    "validate_address": {"address": ALICE},
    "list_trade_offers": {},
    "search_qdn": {"service": "JSON"},
}


def initialize_params(version: str = "2025-03-26") -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample", "--log-level", "debug") as running:
        yield running


@pytest.fixture(scope="module")
def door_without_node() -> Iterator[Door]:
    """A server whose node refuses every connection."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with open_door("--node", f"http://127.0.0.1:{port}") as running:
        yield running


def modern(door: Door, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": MODERN_META, **(params or {})}}
    sent = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, **headers}
    return door.send(json.dumps(body).encode(), headers=sent)


@pytest.mark.promise(
    "Handshake",
    "`initialize` is answered with the version, the server's name, its capabilities and instructions, and nothing else.",
)
@pytest.mark.promise("Handshake", "The server says that its tool list never changes (`listChanged: false`).")
@pytest.mark.promise(
    "Command line",
    "Name and version are the same in the package, the handshake, the manifest and `--version`.",
)
def test_initialize_answers_with_version_info_and_capabilities_and_nothing_unexpected(door: Door) -> None:
    result = door.rpc("initialize", initialize_params())["result"]
    assert set(result) <= {"protocolVersion", "serverInfo", "capabilities", "instructions"}
    assert result["serverInfo"]["name"] == "qortal-mcp-server"
    assert result["serverInfo"]["version"] == __version__
    assert result["capabilities"]["tools"]["listChanged"] is False


@pytest.mark.promise(
    "Handshake",
    "Unknown members, missing capabilities or a missing client name never make `initialize` fail.",
)
def test_initialize_tolerates_extra_members_and_missing_capabilities(door: Door) -> None:
    extra = {**initialize_params(), "foo": 1, "clientInfo": {"name": "t", "version": "0", "foo": [1]}}
    assert "result" in door.rpc("initialize", extra)
    assert "result" in door.rpc("initialize", {"protocolVersion": "2025-06-18"})


@pytest.mark.promise("Handshake", "A supported version is answered with itself.")
@pytest.mark.parametrize("version", LEGACY)
def test_initialize_answers_a_supported_version_with_itself(door: Door, version: str) -> None:
    assert door.rpc("initialize", initialize_params(version))["result"]["protocolVersion"] == version


@pytest.mark.promise(
    "Handshake",
    "Any other version in `initialize` is answered with 2025-11-25, the newest version that has a handshake.",
)
@pytest.mark.parametrize("version", ["1999-01-01", "banana", "2026-07-28", ""])
def test_initialize_answers_any_other_version_with_the_newest_handshake(door: Door, version: str) -> None:
    assert door.rpc("initialize", initialize_params(version))["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.promise("Handshake", "`initialize` without a version is malformed (-32602).")
def test_initialize_without_a_version_is_malformed(door: Door) -> None:
    assert door.rpc("initialize")["error"]["code"] == -32602
    assert door.rpc("initialize", {"protocolVersion": 5})["error"]["code"] == -32602


@pytest.mark.promise(
    "Handshake",
    "A modern request with an unknown version gets error -32022 with HTTP status 400, and a list of the versions that exist.",
)
def test_a_modern_request_with_an_unknown_version_hears_which_ones_exist(door: Door) -> None:
    meta = {**MODERN_META, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    headers = {"mcp-protocol-version": "1900-01-01", "mcp-method": "tools/list"}
    answer = door.send(json.dumps(body).encode(), headers=headers)
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32022
    assert answer.json["error"]["data"] == {"supported": list(MODERN), "requested": "1900-01-01"}


@pytest.mark.promise("Handshake", "`server/discover` names the modern revision, 2026-07-28.")
def test_discover_names_the_modern_revision(door: Door) -> None:
    result = modern(door, "server/discover").json["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["resultType"] == "complete"


@pytest.mark.promise(
    "Messages",
    "Nothing answers a notification, whatever is wrong with it; over HTTP it gets status 202 and no body.",
)
@pytest.mark.promise(
    "Old clients",
    "The bare name `initialized` is accepted as a notification, and is an unknown method as a request.",
)
@pytest.mark.parametrize(
    "method", ["notifications/initialized", "initialized", "notifications/cancelled", "foo/bar"]
)
def test_initialized_and_any_other_notification_gets_202_and_no_body(door: Door, method: str) -> None:
    answer = door.notify(method)
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.promise(
    "Old clients",
    "The bare name `initialized` is accepted as a notification, and is an unknown method as a request.",
)
def test_initialized_as_a_request_is_an_unknown_method(door: Door) -> None:
    assert door.rpc("initialized")["error"]["code"] == -32601


@pytest.mark.promise(
    "Handshake", "A call before `initialize` is served over plain HTTP, where every request stands alone."
)
def test_a_tool_call_before_initialize_is_served(door: Door) -> None:
    assert door.call("validate_address", address="x")["structuredContent"] == {"isValid": False}


@pytest.mark.promise(
    "Handshake",
    "`initialize`, `notifications/initialized`, `tools/list` and `tools/call` work in this order.",
)
def test_the_usual_sequence_works_on_one_server(door: Door) -> None:
    assert "result" in door.rpc("initialize", initialize_params())
    assert door.notify("notifications/initialized").status == 202
    assert door.rpc("tools/list")["result"]["tools"]
    assert door.call("get_node_status")["isError"] is False


@pytest.mark.promise("Handshake", "A capability is advertised only if its methods work.")
def test_every_advertised_capability_answers_its_list_method(door: Door) -> None:
    capabilities = door.rpc("initialize", initialize_params("2025-11-25"))["result"]["capabilities"]
    for name in set(capabilities) & {"tools", "resources", "prompts"}:
        assert "result" in door.rpc(f"{name}/list")
    for name in {"resources", "prompts"} - set(capabilities):
        assert door.rpc(f"{name}/list")["error"]["code"] == -32601
    assert ("logging" in capabilities) == ("result" in door.rpc("logging/setLevel", {"level": "info"}))


@pytest.mark.promise("Messages", "`ping` is answered with an empty object.")
def test_ping_is_answered_with_an_empty_object(door: Door) -> None:
    assert door.rpc("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.promise(
    "Tools and their results",
    "Every tool has a name, a description, an `inputSchema` and an `outputSchema` with an object at the root, and no foreign member.",
)
@pytest.mark.promise("Tools and their results", "Every tool says that it only reads (`readOnlyHint: true`).")
@pytest.mark.promise(
    "Tools and their results",
    "Definitions of tools are portable: no `$ref`, no union on top, every argument described, every array with its items.",
)
def test_tools_list_gives_every_tool_a_description_and_precise_schemas(door: Door) -> None:
    tools = door.rpc("tools/list")["result"]["tools"]
    assert set(SIX_TOOLS) <= {tool["name"] for tool in tools}
    for tool in tools:
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"
        assert isinstance(tool["inputSchema"]["properties"], dict)
        assert tool["outputSchema"]["type"] == "object"
        assert tool["annotations"]["readOnlyHint"] is True
        assert set(tool) <= {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
        assert not {"anyOf", "oneOf", "allOf", "$ref"} & set(tool["inputSchema"])
        for argument in tool["inputSchema"]["properties"].values():
            assert argument["description"]
            assert argument.get("type") != "array" or argument["items"]
        assert "$ref" not in json.dumps(tool)


@pytest.mark.promise(
    "Old clients", "The old method names `list_tools` and `call_tool` mean `tools/list` and `tools/call`."
)
def test_the_old_method_names_are_aliases(door: Door) -> None:
    assert door.rpc("list_tools") == door.rpc("tools/list")
    params = {"name": "validate_address", "arguments": {"address": ALICE}}
    assert door.rpc("call_tool", params) == door.rpc("tools/call", params)


@pytest.mark.promise("Old clients", "The old form of a call, `{tool, params}`, works.")
@pytest.mark.parametrize("method", ["tools/call", "call_tool"])
def test_the_old_parameter_form_works_as_an_alias(door: Door, method: str) -> None:
    old = door.rpc(method, {"tool": "validate_address", "params": {"address": ALICE}})
    assert old["result"]["structuredContent"] == {"isValid": True}


@pytest.mark.promise("Old clients", "Where a call has both forms, the standard `{name, arguments}` counts.")
def test_the_standard_form_wins_where_both_are_present(door: Door) -> None:
    params = {"name": "validate_address", "arguments": {"address": ALICE}, "tool": "nope", "params": {"x": 1}}
    assert door.rpc("tools/call", params)["result"]["structuredContent"] == {"isValid": True}


@pytest.mark.promise("Old clients", "The old names do not exist in 2026-07-28.")
def test_the_old_names_do_not_exist_in_the_modern_era(door: Door) -> None:
    answer = modern(door, "list_tools")
    assert (answer.status, answer.json["error"]["code"]) == (404, -32601)


@pytest.mark.promise("Errors", "What is not JSON is error -32700.")
def test_malformed_json_is_a_parse_error(door: Door) -> None:
    answer = door.send(b"{bad")
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32700, None)


@pytest.mark.promise("Errors", "A malformed envelope is error -32600, with its id if it has one.")
@pytest.mark.parametrize(
    "body",
    [
        b'{"id":1,"method":"tools/list"}',
        b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
    ],
    ids=["no-jsonrpc", "old-jsonrpc", "no-method", "method-not-text"],
)
def test_a_malformed_envelope_is_an_invalid_request_with_its_id(door: Door, body: bytes) -> None:
    answer = door.send(body)
    assert answer.json["error"]["code"] == -32600
    assert answer.json["id"] == 1


@pytest.mark.promise("Messages", "An id is a string or an integer; anything else is malformed.")
@pytest.mark.parametrize("id_", [b"null", b"1.5", b"true", b"{}", b"[]", b"NaN", b'"\\ud800"'])
def test_an_id_that_is_no_string_or_integer_is_malformed(door: Door, id_: bytes) -> None:
    answer = door.send(b'{"jsonrpc":"2.0","id":%b,"method":"ping"}' % id_)
    assert answer.status == 400
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["error"]["code"] in (-32600, -32700)


@pytest.mark.promise("Errors", "An unknown method is error -32601.")
def test_unknown_method_is_a_top_level_error(door: Door) -> None:
    reply = door.rpc("foo/bar")
    assert reply["error"] == {"code": -32601, "message": "Method not found"}
    assert "result" not in reply


@pytest.mark.promise(
    "Errors",
    "Parameters that are not an object, and a call without a tool name or with arguments that are not an object, are error -32602.",
)
@pytest.mark.parametrize("params", [None, {}, {"name": 5}, {"name": "get_balance", "arguments": []}, [1]])
def test_malformed_call_params_are_refused_as_such(door: Door, params: Any) -> None:
    assert door.rpc("tools/call", params)["error"]["code"] == -32602


@pytest.mark.promise("Tools and their results", "Absent arguments count as no arguments.")
def test_absent_arguments_count_as_none_given(door: Door) -> None:
    assert door.rpc("tools/call", {"name": "get_node_status"})["result"]["isError"] is False


@pytest.mark.promise("Errors", "An unknown tool is error -32602.")
def test_unknown_tool_is_an_error_of_the_request(door: Door) -> None:
    reply = door.rpc("tools/call", {"name": "nope", "arguments": {}})
    assert reply["error"] == {"code": -32602, "message": "Unknown tool: nope"}


@pytest.mark.promise(
    "Messages", "A reply holds a result or an error, never both, and no member that JSON-RPC does not know."
)
def test_replies_have_exactly_the_members_of_json_rpc(door: Door) -> None:
    assert sorted(door.rpc("tools/list")) == ["id", "jsonrpc", "result"]
    assert sorted(door.rpc("foo")) == ["error", "id", "jsonrpc"]
    assert sorted(door.rpc("tools/call", {"name": "get_balance", "arguments": {}})) == [
        "id",
        "jsonrpc",
        "result",
    ]


@pytest.mark.promise("Messages", "Every reply carries the id of its request, with the same type.")
def test_a_burst_of_calls_gets_every_id_back(door: Door) -> None:
    def one(number: int) -> Any:
        params = {"name": "validate_address", "arguments": {"address": str(number)}}
        return door.rpc("tools/call", params, id_=number)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(one, range(60)))
    assert [reply["id"] for reply in replies] == list(range(60))
    assert all("result" in reply for reply in replies)


@pytest.mark.promise(
    "Messages", "In the legacy revisions a response that a client posts is accepted with status 202."
)
def test_posted_responses_are_accepted(door: Door) -> None:
    answer = door.send(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.promise(
    "Messages",
    "A batch works in 2025-03-26, the one revision that has batches, and is refused in all others.",
)
def test_a_batch_works_for_the_revision_that_has_it(door: Door) -> None:
    body = b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"y"}]'
    answer = door.send(body, headers={"mcp-protocol-version": "2025-03-26"}).json
    assert {reply["id"]: "result" in reply for reply in answer} == {1: True, 2: False}
    later = door.send(body, headers={"mcp-protocol-version": "2025-06-18"})
    assert (later.status, later.json["error"]["code"]) == (400, -32600)


@pytest.mark.promise("Transports", "An unsupported version in the HTTP header is answered with status 400.")
def test_an_unsupported_version_header_is_refused(door: Door) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    assert door.send(body, headers={"mcp-protocol-version": "banana"}).status == 400


@pytest.mark.promise("Errors", "A cursor that the server did not give is error -32602.")
def test_a_bogus_cursor_is_refused(door: Door) -> None:
    assert door.rpc("tools/list", {"cursor": "zzz"})["error"]["code"] == -32602


@pytest.mark.promise(
    "Messages",
    "Nothing answers a notification, whatever is wrong with it; over HTTP it gets status 202 and no body.",
)
def test_a_call_without_an_id_is_never_answered(door: Door) -> None:
    answer = door.notify("tools/call", {"name": "get_node_status"})
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.promise(
    "Tools and their results",
    "A result has exactly one text block, which holds the same JSON as `structuredContent`, and `isError: false`.",
)
@pytest.mark.parametrize(("tool", "arguments"), SIX_TOOLS.items())
def test_an_object_result_is_one_text_with_the_same_json(door: Door, tool: str, arguments: Any) -> None:
    result = door.call(tool, **arguments)
    assert [item["type"] for item in result["content"]] == ["text"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert isinstance(result["structuredContent"], dict)
    assert result["isError"] is False
    assert set(result) == {"content", "structuredContent", "isError"}


@pytest.mark.promise(
    "Tools and their results", "A list stands under its own noun, such as `offers`, never bare."
)
@pytest.mark.promise(
    "Tools and their results",
    "An offer always has `tradeAddress`, `creator`, `offeringQort`, `expectedForeign`, `foreignCurrency`, `mode` and `timestamp`.",
)
def test_a_list_result_sits_under_its_own_noun(door: Door) -> None:
    offers = door.call("list_trade_offers", limit=3)["structuredContent"]["offers"]
    assert len(offers) == 3
    needed = {
        "tradeAddress",
        "creator",
        "offeringQort",
        "expectedForeign",
        "foreignCurrency",
        "mode",
        "timestamp",
    }
    assert all(needed <= set(offer) for offer in offers)


@pytest.mark.promise("Tools and their results", "An empty list keeps its noun.")
def test_an_empty_list_result_keeps_its_noun(door: Door) -> None:
    content = door.call("search_qdn", name="nobody-has-this-name")["structuredContent"]
    assert content["resources"] == []
    assert content["page"] == {"returned": 0}


@pytest.mark.promise(
    "Tools and their results", "Text beyond ASCII arrives as it was written, without `\\u` escapes."
)
def test_text_beyond_ascii_stays_readable(door: Door) -> None:
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "search_qdn", "arguments": {"name": "日本語の名前"}},
        }
    ).encode()
    answer = door.send(body)
    assert b"\\\\u" not in answer.body


@pytest.mark.promise(
    "Tools and their results",
    "`validate_address` answers `false` for anything that is not an address, as a success.",
)
def test_validate_address_answers_false_as_a_success(door: Door) -> None:
    result = door.call("validate_address", address="bad")
    assert result["structuredContent"] == {"isValid": False}
    assert result["isError"] is False
    assert json.loads(result["content"][0]["text"]) == {"isValid": False}


@pytest.mark.promise(
    "Tools and their results",
    "`get_node_status` always has `height`, `isSynchronizing`, `syncPercent`, `isMintingPossible` and `numberOfConnections`.",
)
def test_node_status_has_its_five_fields_with_their_types(door: Door) -> None:
    status = door.call("get_node_status")["structuredContent"]
    assert isinstance(status["height"], int)
    assert isinstance(status["isSynchronizing"], bool)
    assert status["syncPercent"] is None or isinstance(status["syncPercent"], int)
    assert isinstance(status["isMintingPossible"], bool)
    assert isinstance(status["numberOfConnections"], int)


@pytest.mark.promise(
    "Tools and their results", "`structuredContent` is sent in every revision and is always an object."
)
@pytest.mark.parametrize("version", [*LEGACY, *MODERN])
def test_structured_content_is_an_object_in_every_revision(door: Door, version: str) -> None:
    params: dict[str, Any] = {"name": "list_trade_offers", "arguments": {"limit": 2}}
    if version in MODERN:
        reply = modern(door, "tools/call", params, **{"mcp-name": "list_trade_offers"}).json
    else:
        reply = door.rpc("tools/call", params, headers={"mcp-protocol-version": version})
    assert isinstance(reply["result"]["structuredContent"], dict)


@pytest.mark.promise(
    "Errors",
    "A tool that fails gives a result with `isError: true`, one plain sentence, and no `structuredContent`; it is never a JSON-RPC error.",
)
@pytest.mark.promise("Errors", "The error of a tool has a code and says whether trying again makes sense.")
def test_a_tool_error_is_a_marked_result_with_the_plain_sentence(door: Door) -> None:
    reply = door.rpc("tools/call", {"name": "get_balance", "arguments": {"address": "12345"}})
    assert "error" not in reply
    result = reply["result"]
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "Invalid Qortal address."}]
    assert "structuredContent" not in result
    assert result["_meta"]["qortal-mcp/error"] == {"code": "INVALID_ARGUMENT", "retryable": False}


@pytest.mark.promise("Errors", "An unknown argument is refused with the list of the valid ones.")
def test_unknown_argument_names_are_answered_with_the_valid_ones(door: Door) -> None:
    result = door.call("get_balance", adress=ALICE)
    assert result["content"][0]["text"].startswith("Unknown argument adress.")
    assert "address" in result["content"][0]["text"].removeprefix("Unknown argument adress.")


@pytest.mark.promise("Errors", "The error of a tool has a code and says whether trying again makes sense.")
@pytest.mark.promise("Errors", "A node that is not there is reported as unreachable by every tool.")
@pytest.mark.parametrize("tool", [name for name in SIX_TOOLS if name != "validate_address"])
def test_a_dead_node_is_said_to_be_unreachable_by_every_tool(door_without_node: Door, tool: str) -> None:
    result = door_without_node.call(tool, **SIX_TOOLS[tool])
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Node unreachable.")
    assert result["_meta"]["qortal-mcp/error"] == {"code": "NODE_UNREACHABLE", "retryable": True}


@pytest.mark.promise("Tools and their results", "`validate_address` checks the checksum and needs no node.")
def test_a_local_tool_works_without_a_node(door_without_node: Door) -> None:
    assert door_without_node.call("validate_address", address=ALICE)["structuredContent"] == {"isValid": True}


@pytest.mark.promise("Errors", "An unknown QDN service is refused.")
def test_unsupported_services_are_refused(door: Door) -> None:
    result = door.call("search_qdn", service=99)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Invalid service.")


@pytest.mark.promise("Errors", "What the node does not know is reported as not found.")
def test_an_address_nobody_used_is_not_found(door: Door) -> None:
    result = door.call("get_account_overview", address=UNSEEN)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("Address not found on chain.")
    assert result["_meta"]["qortal-mcp/error"]["code"] == "NOT_FOUND"


@pytest.mark.promise(
    "Errors", "A rate limit answers a call as an error of the tool, with the id of the call."
)
def test_rate_limit_refusals_are_tool_errors_with_their_id() -> None:
    with open_door("--sample", "--rate-limit", "2") as limited:
        replies = [
            limited.rpc("tools/call", {"name": "validate_address", "arguments": {"address": "x"}}, id_=n)
            for n in range(12)
        ]
    assert [reply["id"] for reply in replies] == list(range(12))
    refused = [reply["result"] for reply in replies if reply["result"]["isError"]]
    assert refused
    assert all(result["content"][0]["text"] == "Rate limit exceeded." for result in refused)


@pytest.mark.promise("Operations", "Failed calls count as failures in `/metrics` and in the log.")
def test_a_failed_call_counts_as_a_failure_in_metrics_and_log(door: Door) -> None:
    def failures() -> int:
        text = door.get("/metrics").body.decode()
        row = r'failures_total\{gen_ai_tool_name="get_balance",code="INVALID_ARGUMENT"\} (\d+)'
        found = re.search(row, text)
        return int(found.group(1)) if found else 0

    before = failures()
    door.call("get_balance", address="wrong")
    assert failures() == before + 1
    assert any("get_balance" in line for line in door.logged("INVALID_ARGUMENT"))


@pytest.mark.promise("Messages", "Calls leave nothing behind that changes a later answer.")
def test_a_sequence_of_calls_leaves_no_state(door: Door) -> None:
    first = door.call("get_balance", address=ALICE)
    door.call("get_balance", address="wrong")
    door.send(b"{bad")
    assert (
        door.call("get_balance", address=ALICE)["structuredContent"]["balance"]
        == first["structuredContent"]["balance"]
    )


@pytest.mark.promise("Messages", "Calls made at the same time never get each other's answers.")
def test_concurrent_calls_do_not_swap_answers(door: Door) -> None:
    def one(number: int) -> bool:
        address = ALICE if number % 2 else f"not-{number}"
        valid = door.call("validate_address", address=address)["structuredContent"]["isValid"]
        return bool(valid) == bool(number % 2)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(80)))


@pytest.mark.promise(
    "Operations", "Each call is one line in the log at debug level, with method, tool, outcome and time."
)
@pytest.mark.promise("Operations", "The log line of a request has the id from its `X-Request-ID`.")
def test_each_call_is_one_debug_line_with_method_tool_ids_outcome_and_time(door: Door) -> None:
    answer = door.send(
        b'{"jsonrpc":"2.0","id":"log-me","method":"tools/call","params":{"name":"validate_address","arguments":{"address":"x"}}}'
    )
    request_id = answer.headers["x-request-id"]
    (line,) = door.logged("log-me")
    for piece in ("tools/call", "validate_address", request_id, "ok", "ms"):
        assert piece in line


@pytest.mark.promise(
    "Operations",
    "`initialize` is logged with the version asked for, the version answered and the server's name.",
)
def test_initialize_is_logged_with_both_versions_and_the_name(door: Door) -> None:
    door.rpc("initialize", initialize_params("2024-11-04"))
    (line,) = door.logged("2024-11-04")
    assert "2025-11-25" in line
    assert "qortal-mcp-server" in line


@pytest.mark.promise("Read-only and secrets", "No address, argument, token or key is logged by default.")
def test_no_address_or_secret_is_logged_by_default() -> None:
    planted = "planted-secret-token"
    with open_door("--sample", environment={"QORTAL_API_KEY": planted, "QORTAL_MCP_TOKEN": planted}) as quiet:
        headers = {"authorization": f"Bearer {planted}"}
        for _ in range(10):
            quiet.rpc("tools/call", {"name": "get_balance", "arguments": {"address": ALICE}}, headers=headers)
        quiet.rpc(
            "tools/call", {"name": "get_balance", "arguments": {"address": "x" * 100_000}}, headers=headers
        )
        assert quiet.stop() == 0
    text = "".join(quiet.log)
    assert ALICE not in text
    assert planted not in text
    assert len(text) < 5000


@pytest.mark.promise("Transports", "A bare `curl` with only a content type gets JSON with every field.")
def test_a_bare_curl_gets_json_with_every_field(door: Door) -> None:
    answer = door.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_node_status"}}')
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["result"]["structuredContent"]["height"] == 596


@pytest.mark.promise("Errors", "Over HTTP, errors of the legacy revisions travel with status 200.")
@pytest.mark.parametrize(
    ("method", "status"),
    [("foo/bar", 200), ("tools/call", 200), ("ping", 200)],
    ids=["unknown", "no-params", "good"],
)
def test_a_legacy_error_travels_with_200(door: Door, method: str, status: int) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode()
    assert door.send(body).status == status


@pytest.mark.promise(
    "Access", "A foreign Host or Origin is refused on every route and on the WebSocket upgrade."
)
def test_a_foreign_origin_is_refused_on_every_route(door: Door) -> None:
    evil = {"origin": "https://evil.example"}
    assert door.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', headers=evil).status == 403
    for path in ("/healthz", "/readyz", "/metrics", "/mcp-manifest.json", "/llms.txt", "/mcp", "/"):
        assert door.get(path, headers=evil).status == 403, path
        assert door.get(path, headers={"host": "evil.example"}).status == 421, path


@pytest.mark.promise(
    "Transports", "`POST /mcp` takes every method, and other HTTP methods are answered with 405."
)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_only_post_is_served_at_the_endpoint(door: Door, method: str) -> None:
    answer = door.send(method=method)
    assert answer.status == 405
    assert "POST" in answer.headers["allow"]


@pytest.mark.promise(
    "Transports", "There are no REST routes and no OAuth: those paths, like any unknown path, are 404."
)
@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
        "/tools/node_status",
        "/health",
    ],
)
def test_oauth_and_the_old_rest_routes_are_404(door: Door, path: str) -> None:
    assert door.get(path).status == 404


@pytest.mark.promise("Operations", "Every HTTP reply carries an `X-Request-ID`.")
def test_every_reply_carries_a_request_id(door: Door) -> None:
    answers = [
        door.get("/healthz"),
        door.get("/nowhere"),
        door.notify("x"),
        door.send(b"{bad"),
        door.get("/mcp"),
    ]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(ids)) == len(ids)


@pytest.mark.promise("Access", "On loopback, where the server listens by default, no login is needed.")
def test_it_listens_on_loopback_only_and_needs_no_login_there(door: Door) -> None:
    assert door.call("get_node_status")["isError"] is False
    assert any(line.startswith("Listening on http://127.0.0.1:") for line in door.log)


@pytest.mark.promise(
    "Operations", "`/healthz` tells whether the process lives, `/readyz` whether the node answers."
)
def test_health_tells_of_the_process_and_readiness_of_the_node(door: Door, door_without_node: Door) -> None:
    assert door.get("/healthz").status == 200
    assert door_without_node.get("/healthz").status == 200
    ready = door.get("/readyz")
    assert ready.status == 200
    assert ready.json == {"node": "sample", "height": 596, "isSynchronizing": False}
    assert door_without_node.get("/readyz").status == 503


@pytest.mark.promise(
    "Limits and abuse", "A message that is too large is refused without being kept, and the server goes on."
)
def test_an_oversized_body_is_refused_before_it_is_read(door: Door) -> None:
    answer = door.send(b" " * (2 * 1024 * 1024))
    assert answer.status == 413
    assert door.rpc("ping")["result"] == {}


@pytest.mark.promise(
    "Operations",
    "`/mcp-manifest.json` names the server, its version, its revisions, its tools and how to connect, as the server itself does.",
)
@pytest.mark.promise(
    "Command line",
    "Name and version are the same in the package, the handshake, the manifest and `--version`.",
)
def test_the_manifest_says_what_the_server_is(door: Door) -> None:
    manifest = door.get("/mcp-manifest.json").json
    info = door.rpc("initialize", initialize_params())["result"]["serverInfo"]
    assert (manifest["name"], manifest["version"]) == (info["name"], info["version"])
    assert manifest["protocolVersions"] == [*LEGACY, *MODERN]
    assert manifest["endpoint"] == "/mcp"
    listed = {tool["name"]: tool for tool in door.rpc("tools/list")["result"]["tools"]}
    assert {tool["name"] for tool in manifest["tools"]} == set(listed)
    assert all(tool["description"] == listed[tool["name"]]["description"] for tool in manifest["tools"])
    assert {"transports", "authentication", "capabilities", "documentation"} <= set(manifest)


@pytest.mark.promise("Operations", "`/llms.txt` names the tools.")
def test_llms_txt_names_the_tools(door: Door) -> None:
    text = door.get("/llms.txt").body.decode()
    assert all(name in text for name in SIX_TOOLS)


@pytest.mark.promise("Operations", "A signal ends the server with exit code 0.")
def test_a_signal_ends_the_server_with_success() -> None:
    with open_door("--sample") as short:
        assert short.rpc("ping")["result"] == {}
        assert short.stop() == 0
