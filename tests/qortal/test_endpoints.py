"""Nothing but the allow-list can be asked, and no value leaves its place in the path."""

from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.endpoints.addresses import ACCOUNT, BALANCE
from qortal_mcp.qortal.endpoints.arbitrary import PUBLICATIONS
from qortal_mcp.qortal.endpoints.assets import ASSET_BALANCES
from qortal_mcp.qortal.endpoints.record import Endpoint, path_segment
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.reader import ROUTES
from qortal_mcp.server.tool_errors import ToolError

from .world import ALICE, WRONG_CHECKSUM

HOSTILE = ["", ".", "..", "/", "\\", "%2e%2e", "..%2f", "?", "#", ";", "&", "\0", "\n", "é", "\ud800", "🚀"]


@pytest.mark.promise(
    "Read-only and secrets", "No value leaves its place in the path or the query of a request to the node."
)
@given(st.one_of(st.text(), st.lists(st.sampled_from(HOSTILE)).map("".join)))
def test_no_value_leaves_its_place_in_the_path(value: str) -> None:
    try:
        segment = path_segment("value", value)
    except ToolError:
        return
    assert unquote(segment) == value
    assert not set(segment) & set("/\\?#;&=% \n\0") - {"%"}
    assert not set(value) & set("/\\%;")
    assert value not in ("", ".", "..")


@given(st.one_of(st.text(), st.sampled_from(HOSTILE), st.integers(), st.none(), st.binary()))
def test_only_addresses_become_part_of_an_address_path(value: Any) -> None:
    with pytest.raises((ToolError, TypeError)):
        ACCOUNT.request({"address": value})


@pytest.mark.promise(
    "Read-only and secrets", "No value leaves its place in the path or the query of a request to the node."
)
@given(st.text(min_size=1, max_size=40))
def test_no_value_leaves_its_place_in_the_query(name: str) -> None:
    try:
        target = PUBLICATIONS.request({"name": name, "limit": 5}).target
    except ToolError:
        return
    path, _, query = target.partition("?")
    assert path == "/arbitrary/search"
    said = {"name": name, "limit": "5", "confirmationStatus": "CONFIRMED"}
    assert sorted(parse_qsl(query, keep_blank_values=True)) == sorted(said.items())


@pytest.mark.parametrize(
    ("endpoint", "values"),
    [
        pytest.param(BALANCE, {"address": WRONG_CHECKSUM}, id="checksum"),
        pytest.param(BALANCE, {"address": ALICE, "assetId": -1}, id="below"),
        pytest.param(BALANCE, {"address": ALICE, "assetId": "3"}, id="type"),
        pytest.param(PUBLICATIONS, {"limit": 21}, id="above"),
        pytest.param(PUBLICATIONS, {"limit": 0}, id="zero-means-all-to-core"),
        pytest.param(PUBLICATIONS, {"name": ""}, id="empty-means-no-filter-to-core"),
        pytest.param(PUBLICATIONS, {"service": "website"}, id="not-core's-word"),
        pytest.param(PUBLICATIONS, {"confirmationStatus": "MAYBE"}, id="choice"),
    ],
)
def test_values_out_of_bounds_make_no_request(endpoint: Endpoint[Any], values: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as refusal:
        endpoint.request(values)
    assert refusal.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("values", [{}, {"address": ALICE, "apiKey": "x"}, {"address": ALICE, "limit": 1}])
def test_only_declared_parameters_can_be_said(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        BALANCE.request(values)


def test_what_is_not_given_is_not_sent() -> None:
    assert BALANCE.request({"address": ALICE, "assetId": None}).target == f"/addresses/balance/{ALICE}"


def test_lists_and_flags_are_written_as_core_reads_them() -> None:
    request = ASSET_BALANCES.request(
        {"address": [ALICE], "assetid": [3, 5], "excludeZero": True, "limit": 21}
    )
    path, _, query = request.target.partition("?")
    assert path == "/assets/balances"
    assert set(query.split("&")) == {
        f"address={ALICE}",
        "assetid=3",
        "assetid=5",
        "excludeZero=true",
        "limit=21",
    }


@pytest.mark.promise(
    "Read-only and secrets",
    "Whatever a tool is called with, only GETs from the list in `docs/endpoints.md` leave for the node.",
)
async def test_an_endpoint_outside_the_list_cannot_be_asked(node: Node) -> None:
    stop = Endpoint("/admin/stop", bytes.decode, BALANCE.keep)
    with pytest.raises(AssertionError):
        await node.reading().get(stop)


def test_the_sample_chain_answers_every_endpoint() -> None:
    assert {endpoint.template for endpoint in ENDPOINTS} == set(ROUTES)


def test_every_endpoint_is_described_and_listed_once() -> None:
    templates = [endpoint.template for endpoint in ENDPOINTS]
    assert len(templates) == len(set(templates))
    assert all(endpoint.returns and endpoint.since for endpoint in ENDPOINTS)
