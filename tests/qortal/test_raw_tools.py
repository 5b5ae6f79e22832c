"""Core's own addresses through read_core: all of them, and nothing else."""

import hashlib
import json
import re
import time
from base64 import b64decode, b64encode
from typing import Any

import jsonschema_rs
import pytest
from tests.cost import cpu_seconds

from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import select
from qortal_mcp.qortal.tools.raw.as_core import TEMPLATES
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .test_tools import AS_OF, HEX_KEY, SAMPLE, SEED_PHRASE, answer_of, definition_of, error_of
from .told_node import ToldNode
from .world import ALICE, ALICE_KEY, BOB, CONTRACT, WRONG_CHECKSUM


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="raw")


async def read(call: Call, endpoint: str, **values: Any) -> dict[str, Any]:
    return await answer_of(call, "read_core", endpoint=endpoint, values=values)


async def refusal(call: Call, endpoint: str, **values: Any) -> tuple[str, str]:
    return await error_of(call, "read_core", endpoint=endpoint, values=values)


def some_values(template: str) -> dict[str, Any]:
    """Values that Core has an answer for."""
    blocks, transaction = sample_chain()["blocks"], sample_chain()["transactions"][-1]
    is_of_block = template.startswith(("/blocks", "/transactions/block"))
    known: dict[str, Any] = {
        "address": ALICE,
        "ataddress": CONTRACT,
        "publickey": ALICE_KEY,
        "publicKey": ALICE_KEY,
        "signature": blocks[5]["signature"] if is_of_block else transaction["signature"],
        "reference": transaction["reference"],
        "height": 580 if "balancedynamic" in template else 100,
        "begin": 595,
        "end": 596,
        "timestamp": blocks[50]["timestamp"],
        "name": "alice-test",
        "pollName": "Best fruit?",
        "groupid": 3,
        "minLevel": 3,
        "minlevel": 3,
        "assetid": 3,
        "otherassetid": 0,
        "orderid": sample_chain()["openOrders"]["3/0"][0]["orderId"],
        "codehash": sample_chain()["contracts"][CONTRACT]["codeHash"],
        "blockchain": "LITECOIN",
        "txtype": "PAYMENT",
        "year": 2026,
    }
    needed = {name: known[name] for name in TEMPLATES[template].path if name in known}
    return {**needed, **NEEDED.get(template, {})}


# Parameters that Core cannot do without.
NEEDED: dict[str, dict[str, Any]] = {
    "/assets/info": {"assetId": 3},
    "/assets/balances": {"assetid": [3]},
    "/blocks/range/{height}": {"count": 3},
    "/chat/messages": {"txGroupId": 3},
    "/chat/messages/count": {"txGroupId": 3},
    "/groups/kicks/member": {"address": ALICE},
    "/crosschain/htlc/address/{blockchain}/{refundPKH}/{locktime}/{redeemPKH}/{hashOfSecret}": {
        "refundPKH": "1" * 20,
        "locktime": 1794770000,
        "redeemPKH": "1" * 20,
        "hashOfSecret": "1" * 20,
    },
    "/arbitrary/indices/{name}/{idPrefix}": {"idPrefix": "x"},
    "/names/search": {"query": "alice"},
    "/transactions/unitfee": {"txType": "PAYMENT"},
    "/transactions/search": {"confirmationStatus": "CONFIRMED"},
    "/transactions/creator/{publickey}": {"confirmationStatus": "CONFIRMED"},
    "/transactions/payments/between": {
        "senderAddress": ALICE,
        "recipientAddress": BOB,
        "amount": "1.00000000",
    },
    "/arbitrary/search": {"confirmationStatus": "CONFIRMED"},
    "/arbitrary/indices": {"terms": ["alice"]},
}
CONTENT = [endpoint.template for endpoint in ENDPOINTS if "service" in endpoint.path]
# What the sample chain can only answer with an error.
UNANSWERED = {"NOT_FOUND", "NODE_ERROR", "NOT_SUPPORTED"}


@pytest.mark.parametrize("template", [template for template in TEMPLATES if template not in CONTENT])
async def test_every_address_can_be_read(call: Call, template: str) -> None:
    result = await call("read_core", endpoint=template, values=some_values(template))
    if result["isError"]:
        failure = result["_meta"]["qortal-mcp/error"]["code"], result["content"][0]["text"]
        assert failure[0] in UNANSWERED, failure
        return
    shown = result["structuredContent"]
    assert shown["endpoint"] == template
    assert len({"result", "rows", "value"} & set(shown)) == 1
    assert ("rows" in shown) <= ("page" in shown)
    assert len(result["content"][0]["text"].encode()) <= 64 * 1024


@pytest.mark.parametrize("template", CONTENT)
async def test_content_is_left_to_the_tool_that_knows_when_it_may_be_read(call: Call, template: str) -> None:
    code, text = await refusal(call, template, service="JSON", name="alice-test", identifier="x")
    assert (code, text.partition(" Use read_qdn")[0]) == ("REFUSED", "Refused.")


async def test_an_object_comes_as_core_has_it(call: Call) -> None:
    shown = await read(call, "/assets/info", assetName="GOLD")
    assert shown["result"] == sample_chain()["assetInfo"]["3"]
    assert shown["result"]["quantity"] == 100000000000000


async def test_a_plain_body_is_a_value_and_never_a_float(call: Call) -> None:
    shown = await read(call, "/addresses/balance/{address}", address=ALICE)
    assert shown["value"] == "1001427.50833805"
    assert (await read(call, "/addresses/balance/{address}", address=ALICE, assetId=1))["value"] == "0E-8"


async def test_bytes_are_written_in_base64(call: Call) -> None:
    shown = await read(call, "/at/{ataddress}/data", ataddress=CONTRACT)
    assert shown["value"] == sample_chain()["contractData"][CONTRACT].removeprefix("base64:")
    assert shown["notes"][0] == "value is binary data, in Base64."


async def test_the_same_address_read_by_a_tool_and_directly_gives_both_forms(node: Node) -> None:
    call = caller(make_server(node, toolsets="accounts,raw"))
    for _ in range(2):
        assert (await answer_of(call, "get_balance", address=BOB, asset_id=1))["balance"] == "0.00000000"
        assert (await read(call, "/addresses/balance/{address}", address=BOB, assetId=1))["value"] == "0E-8"


async def test_a_number_in_a_text_is_taken_and_noted_and_a_limit_lowered(call: Call) -> None:
    shown = await read(call, "/assets", limit="500", offset=6)
    assert [row["assetId"] for row in shown["rows"]] == [6]
    assert shown["notes"][:2] == [
        'limit "500" was read as the number 500.',
        "limit 500 was lowered to 100, the most this tool gives at once.",
    ]


async def test_a_slash_at_the_end_does_not_matter(call: Call) -> None:
    assert (await read(call, "assets/"))["endpoint"] == "/assets"


async def test_what_pages_leave_out_is_said(call: Call) -> None:
    notes = (await read(call, "/crosschain/tradeoffers", limit=3))["notes"]
    assert notes[0] == "Core leaves out rows when this list is paged; list_trade_offers returns them all."


async def every_row(call: Call, template: str, values: dict[str, Any]) -> list[Any]:
    rows: list[Any] = []
    following: dict[str, Any] = {"endpoint": template, "values": values}
    for _ in range(1000):
        shown = await answer_of(call, "read_core", **following)
        assert shown["page"]["returned"] == len(shown["rows"])
        rows += shown["rows"]
        if "next" not in shown["page"]:
            return rows
        following = shown["page"]["next"]
    raise AssertionError("pages without end")


LISTS: list[Any] = [
    ("/assets", {}, "/assets"),
    ("/assets/transactions/{assetid}", {"assetid": 3}, "/assets/transactions/3?confirmationStatus=CONFIRMED"),
    ("/assets/trades/{assetid}/{otherassetid}", {"assetid": 0, "otherassetid": 3}, "/assets/trades/0/3"),
    ("/assets/balances", {"assetid": [0]}, "/assets/balances?assetid=0"),
    ("/assets/balancedynamicranges", {}, "/assets/balancedynamicranges?offset=0&limit=1000&reverse=true"),
    ("/addresses/levels/{minLevel}", {"minLevel": 1}, "/addresses/levels/1"),
    ("/addresses/online", {}, "/addresses/online"),
    ("/at/executables", {}, "/at/executables"),
    ("/names", {}, "/names"),
    ("/polls", {}, "/polls"),
]


@pytest.mark.parametrize("limit", [1, 7, 100])
@pytest.mark.parametrize(("template", "values", "whole"), LISTS)
async def test_following_pages_reaches_the_end_of_a_list(
    call: Call, template: str, values: dict[str, Any], whole: str, limit: int
) -> None:
    everything = json.loads(answer(whole).body)
    assert len(await every_row(call, template, {**values, "limit": limit})) == len(everything)


async def test_without_a_limit_a_page_is_short(call: Call) -> None:
    shown = await read(call, "/names")
    assert shown["page"] == {
        "returned": 20,
        "next": {"endpoint": "/names", "values": {"limit": 20, "offset": 20}},
    }


@pytest.mark.promise(
    "Tools and their results",
    "A list is cut before a record, never inside one, and `page.next` holds the complete arguments of the next call.",
)
async def test_a_page_is_cut_at_a_row_where_it_would_be_too_large() -> None:
    rows = [{"number": number, "text": "ü" * 3000} for number in range(90)]
    async with FaultyNode() as wordy:
        wordy.behaviours["/at/executables"] = replies(json.dumps(rows))
        node = Node.at([wordy.url])
        call = caller(make_server(node, toolsets="raw"))
        found = await every_row(call, "/at/executables", {"limit": 100})
        first = await call("read_core", endpoint="/at/executables", values={"limit": 100})
        await node.close()
    assert [row["number"] for row in found] == list(range(90))
    assert len(first["content"][0]["text"].encode()) <= 64 * 1024


@pytest.mark.parametrize("body", [[{"texts": ["x" * 7000] * 20}], {"texts": ["x" * 7000] * 20}])
async def test_what_alone_is_too_large_is_refused(body: Any) -> None:
    async with FaultyNode() as wordy:
        wordy.behaviours["/at/executables"] = replies(json.dumps(body))
        node = Node.at([wordy.url])
        code, text = await refusal(caller(make_server(node, toolsets="raw")), "/at/executables")
        await node.close()
    assert code == "TOO_LARGE"
    assert text.startswith("Answer too large.")


def escaped_one_by_one(text: str) -> str:
    return re.sub("[\u200b\u202e\x7f]", lambda found: f"\\u{{{ord(found[0]):04X}}}", text)


@pytest.mark.parametrize(
    "row",
    [
        {"name": "\u200b" * 300, "owner": "Q"},
        {"name": "\u200b" * 20, "data": "\u202e" * 4000},
        "\u202e" * 22,
        ["\x7f" * 600] * 5,
    ],
    ids=["names", "data", "short", "many-in-one"],
)
async def test_a_reply_full_of_hidden_characters_takes_little_time(row: Any) -> None:
    one = json.dumps(row, ensure_ascii=False)
    rows = min(19_000, 4_000_000 // len(one.encode()))
    async with FaultyNode() as hostile:
        hostile.behaviours["/at/executables"] = replies(f"[{','.join([one] * rows)}]")
        node = Node.at([hostile.url])
        call = caller(make_server(node, toolsets="raw"))
        started = time.thread_time()
        result = await call("read_core", endpoint="/at/executables", values={"limit": 100})
        took = time.thread_time() - started
        await node.close()
    assert "u{" in result["content"][0]["text"]
    assert took < cpu_seconds(lambda: escaped_one_by_one(one * rows)) / 2


@pytest.mark.promise(
    "Text of strangers",
    "Hidden characters in names, messages and other texts are shown as `\\u{XXXX}` in every answer.",
)
async def test_hidden_characters_are_shown_in_every_text_and_long_ones_cut() -> None:
    body = {"na\u200bme": ["\u202eabc", {"deep": "\x1b[31m"}], "long": "z" * 9000, "big": 2**80, "half": 0.5}
    async with FaultyNode() as hostile:
        hostile.behaviours["/assets/info"] = replies(json.dumps(body))
        hostile.behaviours[f"/addresses/publickey/{ALICE}"] = replies("key\u200b" * 30_000, 200, "text/plain")
        node = Node.at([hostile.url])
        call = caller(make_server(node, toolsets="raw"))
        result = (await read(call, "/assets/info", assetId=3))["result"]
        value = (await read(call, "/addresses/publickey/{address}", address=ALICE))["value"]
        await node.close()
    assert result["na\\u{200B}me"] == ["\\u{202E}abc", {"deep": "\\u{001B}[31m"}]
    assert result["long"].endswith("z… [1000 more characters]")
    assert (result["big"], result["half"]) == (2**80, 0.5)
    assert "\u200b" not in value
    assert value.endswith(" more characters]")


@pytest.mark.parametrize("body", ["{", "[1,", '{"a":1}x', "[" * 100_000, b'{"a":"\xff"}'])
async def test_what_cannot_be_read_is_the_nodes_error(body: Any) -> None:
    async with FaultyNode() as broken:
        broken.behaviours["/assets/info"] = replies(body)
        node = Node.at([broken.url])
        code, text = await refusal(caller(make_server(node, toolsets="raw")), "/assets/info", assetId=3)
        await node.close()
    assert (code, text) == ("NODE_ERROR", "Node error. Its answer cannot be read.")


async def test_what_core_does_not_find_is_not_found(call: Call) -> None:
    assert await refusal(call, "/at/{ataddress}", ataddress=ALICE) == ("NOT_FOUND", "Contract not found.")


@pytest.mark.parametrize(
    ("endpoint", "nearest"),
    [
        ("/addresses/balanc/{address}", "/addresses/balance/{address}"),
        ("/names/alice", "/names/{name}"),
        (f"/addresses/{ALICE}", "/addresses/{address}"),
        ("/assets/{x}/y", "/assets/"),
        ("/blocks/byheight/100?includeOnlineSignatures=true", "/blocks/byheight/{height}"),
    ],
)
async def test_an_unknown_template_is_answered_with_the_nearest(
    call: Call, endpoint: str, nearest: str
) -> None:
    code, text = await refusal(call, endpoint)
    assert code == "INVALID_ARGUMENT"
    assert text.startswith("Invalid endpoint. Nearest: /")
    assert nearest in text


@pytest.mark.promise(
    "Read-only and secrets",
    "Whatever a tool is called with, only GETs from the list in `docs/endpoints.md` leave for the node.",
)
@pytest.mark.parametrize(
    "endpoint",
    [
        "/admin/stop",
        "/admin/settings",
        "/admin/apikey/test",
        "/peers",
        "/arbitrary/resource/status/{service}/{name}",
        "/arbitrary/metadata/{service}/{name}/{identifier}",
        "/render/{service}/{name}",
        "/names/../admin/stop",
        "//admin/status",
        "..",
    ],
)
async def test_no_other_address_can_be_asked(endpoint: str) -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        code, _ = await refusal(caller(make_server(node, toolsets="raw")), endpoint)
        await node.close()
    assert code == "INVALID_ARGUMENT"
    assert watched.asked == []


BAD_VALUES: list[Any] = [
    ("/addresses/{address}", {}, "Missing argument address."),
    ("/addresses/{address}", {"address": WRONG_CHECKSUM}, "Invalid Qortal address."),
    ("/addresses/{address}", {"address": "../admin/stop"}, "Invalid Qortal address."),
    ("/addresses/{address}", {"address": ALICE, "apiKey": "x"}, "Unknown argument apiKey."),
    ("/assets", {"includeData": True}, "Unknown argument includeData."),
    ("/assets", {"limit": 0}, "Invalid limit."),
    ("/assets", {"limit": -1}, "Invalid limit."),
    ("/assets", {"offset": -1}, "Invalid offset."),
    ("/assets", {"reverse": "yes"}, "Invalid reverse."),
    ("/assets/info", {"assetId": 1.5}, "Invalid assetId."),
    ("/addresses/levels/{minLevel}", {"minLevel": 0}, "Invalid minLevel."),
    ("/addresses/convert/{publickey}", {"publickey": "abc"}, "Invalid public key."),
    ("/blocks/byheight/{height}", {"height": 5, "includeOnlineSignatures": True}, "Unknown argument"),
]


@pytest.mark.parametrize(("endpoint", "values", "sentence"), BAD_VALUES)
async def test_bad_values_never_reach_the_node(endpoint: str, values: dict[str, Any], sentence: str) -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        code, text = await refusal(caller(make_server(node, toolsets="raw")), endpoint, **values)
        await node.close()
    assert code == "INVALID_ARGUMENT"
    assert text.startswith(sentence)
    assert watched.asked == []


@pytest.mark.parametrize("values", [[], "x", 5, {"limit": {"a": 1}}, {"": 1}])
async def test_values_are_an_object_of_parameters(call: Call, values: Any) -> None:
    code, _ = await error_of(call, "read_core", endpoint="/assets", values=values)
    assert code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("secret", [SEED_PHRASE, HEX_KEY, ALICE_KEY])
@pytest.mark.parametrize(
    ("endpoint", "name"), [("/addresses/{address}", "address"), ("/assets/info", "assetName")]
)
async def test_secrets_are_refused_and_not_repeated(
    call: Call, endpoint: str, name: str, secret: str
) -> None:
    code, text = await refusal(call, endpoint, **{name: secret})
    assert code == "REFUSED"
    assert secret not in text


@pytest.mark.promise("Read-only and secrets", "Private QDN services are never asked for.")
async def test_private_services_are_refused(call: Call) -> None:
    code, _ = await refusal(call, "/arbitrary/resources", service="DOCUMENT_PRIVATE")
    assert code == "REFUSED"


def test_raw_is_on_by_default_and_last() -> None:
    assert select()[-1] == "raw"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_core", {"endpoint": "/admin/status"}),
        ("read_core", {"endpoint": "/blocks/height"}),
        ("read_core", {"endpoint": "/names", "values": {"limit": 2}}),
    ],
)
async def test_an_answer_keeps_to_its_schema(node: Node, tool: str, arguments: dict[str, Any]) -> None:
    server = make_server(node, toolsets="raw")
    answer = await answer_of(caller(server), tool, **arguments)
    definition = await definition_of(server, tool)
    assert definition is not None
    jsonschema_rs.validate(definition["outputSchema"], answer)
    assert answer["asOf"] == AS_OF
    assert answer["notes"][-1] == SAMPLE


@pytest.mark.promise(
    "Tools and their results", "A limit above what Core takes is lowered, and a note says so."
)
async def test_a_limit_above_cores_is_lowered_and_said(call: Call) -> None:
    shown = await read(call, "/transactions/search", limit=50)
    assert shown["page"]["returned"] == 20
    assert shown["page"]["next"]["values"]["limit"] == 20
    assert (
        shown["notes"][0]
        == "limit 50 was lowered to 20, the most that Core returns without txType or address."
    )
    by_type = await read(call, "/transactions/search", limit=50, txType=["PAYMENT"])
    assert by_type["page"]["returned"] > 20
    assert "lowered" not in str(by_type["notes"])


async def test_rows_have_items_in_the_schema(server: Server) -> None:
    definition = await definition_of(server, "read_core")
    assert definition is not None
    assert definition["outputSchema"]["properties"]["rows"]["items"]


BLOB = b64encode(hashlib.sha512(b"").digest() * 20).decode()


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (BLOB, "[Base64 data, 1280 bytes]"),
        (f"data:image/png;base64,{BLOB}", "[image/png, 1280 bytes]"),
        (b64encode(b"qortalGroupEncryptedData" + bytes(1000)).decode(), "[encrypted data, 1024 bytes]"),
        (BLOB[:1000], BLOB[:1000]),
        ("word" * 500, "word" * 500),
        (ALICE_KEY * 40, ALICE_KEY * 40),
        (f"{BLOB} is text", f"{BLOB} is text"),
    ],
    ids=["base64", "picture", "encrypted-by-an-app", "short", "words", "base58", "text"],
)
async def test_long_data_is_shown_as_its_kind_and_size(sent: str, shown: str) -> None:
    """Directly, and by the tools."""

    def tell(target: str) -> Any:
        row = {"name": "alice-test", "owner": ALICE, "data": sent, "registered": 1, "isForSale": False}
        return row if target.startswith("/names/alice") else None

    node = Node([ToldNode(tell)])
    call = caller(make_server(node, toolsets="names,raw"))
    assert (await read(call, "/names/{name}", name="alice-test"))["result"]["data"] == shown
    assert (await answer_of(call, "get_name", name="alice-test"))["data"] == shown
    await node.close()


async def test_encrypted_chat_is_shown_as_its_size(call: Call) -> None:
    rows = (await read(call, "/chat/messages", involving=[ALICE, BOB], limit=100))["rows"]
    hidden = [row for row in rows if row["isEncrypted"]]
    assert hidden
    for row in hidden:
        (sent,) = [
            one
            for one in sample_chain()["chatDirect"][f"{ALICE}/{BOB}"]
            if one["signature"] == row["signature"]
        ]
        assert row["data"] == f"[encrypted data, {len(b64decode(sent['data']))} bytes]"
    assert all(not row["data"].startswith("[") for row in rows if not row["isEncrypted"])


async def test_a_large_binary_answer_is_shown_as_its_size() -> None:
    source = ToldNode(
        lambda target: RawReply(200, "application/octet-stream", b"\0" * 5000) if "/data" in target else None
    )
    node = Node([source])
    shown = await read(caller(make_server(node, toolsets="raw")), "/at/{ataddress}/data", ataddress=CONTRACT)
    await node.close()
    assert shown["value"] == "[binary data, 5000 bytes]"
