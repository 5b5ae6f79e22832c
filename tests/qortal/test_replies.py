"""What Core answered can be read as the type that its address promises; odd amounts are put right there."""

import base64
from typing import Any

import msgspec
import pytest

from qortal_mcp.qortal.endpoints.addresses import REWARD_SHARES
from qortal_mcp.qortal.endpoints.assets import ASSET, ASSET_TRADES, BALANCE_CHANGES
from qortal_mcp.qortal.endpoints.contracts import CONTRACT
from qortal_mcp.qortal.tools.raw.as_core import TEMPLATES

from .test_sample import exchanges
from .world import ALICE


def is_asked_by_us(row: dict[str, Any]) -> bool:
    """Chat is always asked for in Base64, and no part of a path is ever empty."""
    return not row["path"].endswith("/") and (
        not row["endpoint"].startswith("/chat/message") or ["encoding", "BASE64"] in row["query"]
    )


GOOD = [
    param
    for param in exchanges()
    if param.values[0]["status"] == 200
    and param.values[0]["endpoint"] in TEMPLATES
    and is_asked_by_us(param.values[0])
    and (param.values[0]["body"] is not None or "bodyBase64" in param.values[0])
]


@pytest.mark.parametrize("row", GOOD)
def test_a_recorded_answer_fits_its_type(row: dict[str, Any]) -> None:
    body = row["body"].encode() if row["body"] is not None else base64.b64decode(row["bodyBase64"])
    found = TEMPLATES[row["endpoint"]].read(body)
    assert found is not None
    if body.startswith(b"["):
        assert len(found) == len(msgspec.json.decode(body)), "no row is lost"


def test_negative_amounts_are_put_right() -> None:
    rows = [{"address": ALICE, "amount": "-1.-50000000"}, {"address": ALICE, "amount": "0.-50000000"}]
    changes = BALANCE_CHANGES.read(msgspec.json.encode(rows))
    assert [change.amount for change in changes] == ["-1.50000000", "-0.50000000"]


@pytest.mark.promise(
    "Data of the chain", "Amounts are exact decimal strings with eight places, however the node writes them."
)
def test_quantities_are_exact_however_large() -> None:
    asset = ASSET.read(b'{"assetId":9,"name":"X","quantity":9223372036854775807,"newMember":[1]}')
    assert asset.amount == "92233720368.54775807"


@pytest.mark.promise("Errors", "Nonsense from a node is reported as an error of the node, not as an answer.")
@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        (ASSET, b'{"assetId":"9","name":"X"}'),
        (ASSET, b'{"name":"X"}'),
        (ASSET_TRADES, b'[{"trade":{}}]'),
        (BALANCE_CHANGES, b'[{"address":"a","amount":"much"}]'),
        (REWARD_SHARES, b'{"rows":[]}'),
        (CONTRACT, b"<html>"),
    ],
)
def test_what_does_not_fit_is_an_error_and_nothing_else(endpoint: Any, body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (what readers raise is caught as this, whatever it says)
        endpoint.read(body)
