"""Accounts: balances, keys, minting and reward shares."""

from typing import Any

from ..limits import PAGE_ROWS
from ..replies.addresses import (
    Account,
    AccountLevel,
    OnlineAccount,
    OnlineLevel,
    Penalty,
    PenaltyTotals,
    Report,
    RewardShare,
    Sponsorship,
    key_or_false,
    one_address,
)
from ..words.arguments import Address, Addresses, AssetId, Limit, MinLevel, Offset, PublicKey
from .parameters import AnyAddress
from .record import HOURS, MINUTE, UNTIL_NEXT_BLOCK, Endpoint, amount, json_of, text

ACCOUNT = Endpoint(
    "/addresses/{address}",
    json_of(Account),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    returns="Level, blocks minted and public key of an account that has appeared on the chain.",
    noun="Address",
)
LAST_REFERENCE = Endpoint(
    "/addresses/lastreference/{address}",
    text,
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    returns="Signature of an account's newest confirmed transaction, as plain text; `false` if there is none.",
    noun="Address",
)
VALID_ADDRESS = Endpoint(
    "/addresses/validate/{address}",
    text,
    HOURS,
    path={"address": AnyAddress},
    returns="Whether a text is a valid address, as plain `true` or `false`.",
    is_aside=True,
)
ONLINE_ACCOUNTS = Endpoint(
    "/addresses/online",
    json_of(list[OnlineAccount]),
    MINUTE,
    returns="All accounts that are minting now.",
)
ONLINE_LEVELS = Endpoint(
    "/addresses/online/levels",
    json_of(list[OnlineLevel]),
    MINUTE,
    returns="How many accounts of each level are minting now.",
)
BALANCE = Endpoint(
    "/addresses/balance/{address}",
    amount,
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"assetId": AssetId},
    returns="A confirmed balance, as plain text.",
)
PUBLIC_KEY = Endpoint(
    "/addresses/publickey/{address}",
    key_or_false,
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    returns="Public key of an account, as plain text; `false` while it is unknown.",
    is_aside=True,
)
ADDRESS_OF_KEY = Endpoint(
    "/addresses/convert/{publickey}",
    one_address,
    HOURS,
    path={"publickey": PublicKey},
    returns="The address of a public key, as plain text.",
    is_aside=True,
)
REWARD_SHARES = Endpoint(
    "/addresses/rewardshares",
    json_of(list[RewardShare]),
    UNTIL_NEXT_BLOCK,
    query={
        "minters": Addresses,
        "recipients": Addresses,
        "involving": Addresses,
        "limit": Limit,
        "offset": Offset,
        "reverse": bool,
    },
    returns="Who shares minting rewards with whom. All filters must hold.",
    defaults={"limit": PAGE_ROWS},
)
PENALTIES = Endpoint(
    "/addresses/penalties",
    json_of(list[Penalty]),
    UNTIL_NEXT_BLOCK,
    returns="All accounts with a minting penalty.",
    since="3.8.0",
)
PENALTY_TOTALS = Endpoint(
    "/addresses/penalties/stats",
    json_of(PenaltyTotals),
    UNTIL_NEXT_BLOCK,
    returns="How many accounts have a minting penalty, and the largest and smallest.",
    since="3.8.0",
)
SPONSORSHIP = Endpoint(
    "/addresses/sponsorship/{address}",
    json_of(Sponsorship),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"realRewardShareRecipient": Addresses},
    returns="The accounts that one sponsored and what they did, in whole QORT. Some accounts can be left out.",
    noun="Address",
    since="4.6.0",
)
SPONSOR = Endpoint(
    "/addresses/sponsorship/{address}/sponsor",
    json_of(Sponsorship),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"realRewardShareRecipient": Addresses},
    returns="The same about the account that sponsored this one.",
    noun="Sponsor",
    since="4.6.0",
)
MINTERSHIP = Endpoint(
    "/addresses/mintership/{address}",
    json_of(Report),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"realRewardShareRecipient": Addresses},
    returns="What an account minted, published, transferred and traded, in whole QORT.",
    noun="Address",
    since="4.6.0",
)
LEVELS = Endpoint(
    "/addresses/levels/{minLevel}",
    json_of(list[AccountLevel]),
    UNTIL_NEXT_BLOCK,
    path={"minLevel": MinLevel},
    returns="All accounts at or above a level.",
    since="4.6.0",
)

FAMILY: tuple[Endpoint[Any], ...] = (
    ACCOUNT,
    LAST_REFERENCE,
    VALID_ADDRESS,
    ONLINE_ACCOUNTS,
    ONLINE_LEVELS,
    BALANCE,
    PUBLIC_KEY,
    ADDRESS_OF_KEY,
    REWARD_SHARES,
    PENALTIES,
    PENALTY_TOTALS,
    SPONSORSHIP,
    SPONSOR,
    MINTERSHIP,
    LEVELS,
)
