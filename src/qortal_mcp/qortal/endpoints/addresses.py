"""Accounts and their balances."""

from typing import Any

from ..replies.addresses import Account
from ..types import Address, AssetId
from .record import UNTIL_NEXT_BLOCK, Endpoint, amount, json_of

ACCOUNT = Endpoint(
    "/addresses/{address}",
    json_of(Account),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    returns="Level, blocks minted and public key of an account that was seen on the chain.",
    noun="Address",
)
BALANCE = Endpoint(
    "/addresses/balance/{address}",
    amount,
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"assetId": AssetId},
    returns="A confirmed balance, as plain text.",
)

FAMILY: tuple[Endpoint[Any], ...] = (ACCOUNT, BALANCE)
