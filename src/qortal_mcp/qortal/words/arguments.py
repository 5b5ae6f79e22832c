"""The kinds of argument: each described, bounded and checked once.

`extra` is read by `server.arguments`: the noun for error messages, and checks beyond the schema.
"""

from typing import Annotated, Literal

from msgspec import Meta

from .amounts import is_amount
from .base58 import is_address, is_bytes
from .chains import CHAINS, find_chain
from .hints import address_or_key, amount_form, if_a_name, nearest_services, time_forms
from .services import find_service
from .times import is_time
from .transaction_types import TRANSACTION_TYPES, find_type


def is_height(text: str) -> bool:
    """Whether a text is the height of a block."""
    return text.isascii() and text.isdecimal() and len(text) <= 10 and 1 <= int(text) <= 2**31 - 1


# A registered name may have 40 bytes; hidden characters may be given as they are shown, \u{XXXX}.
_NAME_CHARS = 100


def is_named(text: str) -> bool:
    """Whether a text stands for the owner of a registered name: `@alice`."""
    return text.startswith("@") and 2 <= len(text) <= _NAME_CHARS + 1


def is_account(text: str) -> bool:
    return is_address(text) or is_named(text)


def is_account_or_key(text: str) -> bool:
    return is_account(text) or is_bytes(text, 32)


_AN_ADDRESS = {
    "noun": "Qortal address",
    "check": is_address,
    "no_key": "If this is a public key: this argument takes an address.",
}
Address = Annotated[
    str,
    Meta(
        pattern="^[QA][1-9A-HJ-NP-Za-km-z]{33}$",
        min_length=34,
        max_length=34,
        description="Qortal address.",
        extra=_AN_ADDRESS,
    ),
]
PublicKey = Annotated[
    str,
    Meta(
        pattern="^[1-9A-HJ-NP-Za-km-z]+$",
        min_length=32,
        max_length=44,
        description="Public key, Base58.",
        extra={"noun": "public key", "check": lambda text: is_bytes(text, 32), "key": True},
    ),
]
# What tools take: `resolving` puts the owner's address in the place of a name before a tool runs.
_AN_ACCOUNT = {**_AN_ADDRESS, "check": is_account, "hint": if_a_name, "account": True}
# The check bounds their length, outside the schema: a model pays for every word of it.
Account = Annotated[str, Meta(description="Qortal address or @name.", extra=_AN_ACCOUNT)]
# One account among others: the same check, and less for a model to read.
OtherAccount = Annotated[str, Meta(extra=_AN_ACCOUNT)]
# A name can be any text, so it must not be a secret; nothing else here can be one.
_ACCOUNTS = {
    "noun": "Qortal address",
    "check": is_account,
    "items": "addresses",
    "key": is_address,
    "account": True,
}
_ADDRESSES = {"noun": "Qortal address", "check": is_address, "items": "addresses"}
Addresses = Annotated[
    list[Annotated[str, Meta(max_length=34)]],
    Meta(
        min_length=1,
        max_length=20,
        description="Only these addresses.",
        extra=_ADDRESSES,
    ),
]
Accounts = Annotated[
    list[Annotated[str, Meta(max_length=_NAME_CHARS + 1)]],
    Meta(min_length=1, max_length=20, description="Only these addresses or @names.", extra=_ACCOUNTS),
]
MinLevel = Annotated[int, Meta(ge=1, le=10, description="Lowest minting level.")]
AnyText = Annotated[str, Meta(max_length=100, description="Text to check.", extra={"noun": "Qortal address"})]
OrderId = Annotated[
    str,
    Meta(
        pattern="^[1-9A-HJ-NP-Za-km-z]+$",
        min_length=64,
        max_length=88,
        description="Order id, Base58.",
        extra={"noun": "order id", "check": lambda text: is_bytes(text, 64), "key": True},
    ),
]
CodeHash = Annotated[
    str,
    Meta(
        pattern="^[1-9A-HJ-NP-Za-km-z]+$",
        min_length=32,
        max_length=44,
        description="Hash of a contract's code, Base58.",
        extra={"noun": "code hash", "check": lambda text: is_bytes(text, 32), "key": True},
    ),
]
AssetId = Annotated[int, Meta(ge=0, le=2**31 - 1, description="Asset id, 0 = QORT.")]
AssetIds = Annotated[
    list[Annotated[int, Meta(ge=0, le=2**31 - 1)]],
    Meta(min_length=1, max_length=20, description="Only these assets."),
]
AssetName = Annotated[str, Meta(min_length=1, max_length=40, description="Asset name, exact.")]
# Core allows 40 bytes for a name.
Name = Annotated[str, Meta(min_length=1, max_length=40, description="Registered name, exact.")]
_CHAIN_EXTRA = {
    "noun": "chain",
    "hint": f"Chains: {', '.join(chain.name for chain in CHAINS)}.",
    "check": lambda text: find_chain(text) is not None,
}
ChainName = Annotated[
    str,
    Meta(
        description=f"Only this foreign chain: {', '.join(chain.ticker for chain in CHAINS)}.",
        extra=_CHAIN_EXTRA,
    ),
]
OneChain = Annotated[str, Meta(description="Foreign chain, by name or ticker.", extra=_CHAIN_EXTRA)]
Since = Annotated[
    int, Meta(ge=1, description="Only after this time (ms).", extra={"check": lambda ms: ms < 10**15})
]
_ACCOUNT_OR_KEY = {
    "noun": "Qortal address",
    "hint": address_or_key,
    "check": is_account_or_key,
    "key": lambda text: not text.startswith("@"),
    "account": True,
}
AccountOrKey = Annotated[
    str,
    Meta(description="Address, @name or public key.", extra=_ACCOUNT_OR_KEY),
]
Identifier = Annotated[str, Meta(max_length=200, description="Omit for the default resource.")]
ServiceName = Annotated[
    str,
    Meta(
        description="QDN service by name or code, such as WEBSITE, BLOG_POST or 1110.",
        extra={
            "noun": "service",
            "hint": nearest_services,
            "number": True,
            "check": lambda text: find_service(text) is not None,
        },
    ),
]
Height = Annotated[int, Meta(ge=1, le=2**31 - 1, description="Block height.")]
FromHeight = Annotated[int, Meta(ge=1, le=2**31 - 1, description="First block to search.")]
Heights = Annotated[
    int,
    Meta(
        ge=1,
        le=2**31 - 1,
        description="How many blocks from there, or the newest.",
    ),
]
ConfirmationStatus = Literal["CONFIRMED", "UNCONFIRMED", "BOTH"]
Limit = Annotated[int, Meta(ge=1, le=100, description="Rows per page.", extra={"clamp": True})]
SmallLimit = Annotated[int, Meta(ge=1, le=20, description="Rows per page.", extra={"clamp": True})]
Offset = Annotated[int, Meta(ge=0, le=2**31 - 1, description="Rows to skip.")]

# Group 0 means "no group" on the chain.
GroupNumber = Annotated[
    int,
    Meta(
        ge=1,
        le=2**31 - 1,
        description="Group id.",
        extra={"hint": "Give a whole number from 1; list_groups shows it next to each name."},
    ),
]
# Longer than a name can be: hidden characters may be given as they are shown, \u{XXXX}.
AskedName = Annotated[str, Meta(min_length=1, max_length=100, description="Registered name.")]
NamePart = Annotated[str, Meta(min_length=1, max_length=100, description="Part of a name.")]
PollName = Annotated[str, Meta(min_length=1, max_length=800, description="Poll name, exact.")]
AppService = Literal["APP", "WEBSITE"]
Year = Annotated[int, Meta(ge=2018, le=9999, description="Calendar year.")]
# Core refuses times before 2017.
ChatTime = Annotated[int, Meta(ge=1_500_000_000_000, le=253_402_300_799_999, description="Time in ms.")]
TwoAddresses = Annotated[
    list[str],
    Meta(
        min_length=2,
        max_length=2,
        description="The two addresses of a direct chat.",
        extra=_ADDRESSES,
    ),
]
TwoAccounts = Annotated[
    list[Annotated[str, Meta(max_length=_NAME_CHARS + 1)]],
    Meta(
        min_length=2,
        max_length=2,
        description="The two addresses or @names of a direct chat.",
        extra=_ACCOUNTS,
    ),
]
# The exact form is checked outside the schema: a model pays for every word of a schema.
_BASE58 = "^[1-9A-Za-z]+$"
MessageSignature = Annotated[
    str,
    Meta(
        pattern=_BASE58,
        min_length=64,
        max_length=88,
        description="Signature of a message.",
        extra={"noun": "signature", "check": lambda text: is_bytes(text, 64), "key": True},
    ),
]

# Blocks and transactions.
Signature = Annotated[
    str,
    Meta(
        pattern=_BASE58,
        max_length=88,
        description="Transaction signature.",
        extra={"noun": "signature", "check": lambda text: is_bytes(text, 64), "key": True},
    ),
]
Reference = Annotated[
    str,
    Meta(
        pattern=_BASE58,
        max_length=88,
        description="Its reference.",
        extra={"noun": "reference", "check": lambda text: is_bytes(text, 64), "key": True},
    ),
]
BlockSignature = Annotated[
    str,
    Meta(
        pattern=_BASE58,
        max_length=175,
        description="Block signature.",
        extra={"noun": "signature", "check": lambda text: is_bytes(text, 128), "key": True},
    ),
]
BlockId = Annotated[
    str,
    Meta(
        max_length=175,
        description="Only this block: height or signature.",
        extra={
            "noun": "block",
            "hint": "Give a height or a block signature.",
            "number": True,
            "key": True,
            "check": lambda text: is_height(text) or is_bytes(text, 128),
        },
    ),
]
# `resolving` counts back from the newest block where somebody wrote `7d`.
_A_TIME = {"hint": time_forms, "number": True, "check": is_time, "time": True}
Moment = Annotated[
    str, Meta(max_length=40, description="ISO 8601, ms since 1970, or 7d for a week ago.", extra=_A_TIME)
]
LaterThan = Annotated[str, Meta(max_length=40, description="After this time (ISO, ms, 7d).", extra=_A_TIME)]
EarlierThan = Annotated[str, Meta(max_length=40, description="Before this time.", extra=_A_TIME)]
_A_TYPE = {
    "hint": f"Types: {', '.join(TRANSACTION_TYPES)}.",
    "check": lambda text: find_type(text) is not None,
}
TransactionType = Annotated[
    str, Meta(max_length=40, description="Such as PAYMENT.", extra={"noun": "type", **_A_TYPE})
]
TransactionTypes = Annotated[
    list[str],
    Meta(
        min_length=1,
        max_length=len(TRANSACTION_TYPES),
        description="Such as PAYMENT, ARBITRARY.",
        extra={"noun": "types", **_A_TYPE},
    ),
]
Creator = Annotated[
    str,
    Meta(
        description="Only by this address, @name or public key.",
        extra={**_ACCOUNT_OR_KEY, "noun": "creator"},
    ),
]
OfGroup = Annotated[
    int,
    Meta(
        ge=0,
        le=2**31 - 1,
        description="Under this group's approval (txGroupId), not about it.",
    ),
]
ExactAmount = Annotated[
    str,
    Meta(
        max_length=21,
        description="Exact QORT, as text.",
        extra={
            "noun": "amount",
            "hint": amount_form,
            "number": True,
            "check": is_amount,
        },
    ),
]

# Accepted from earlier clients, and not shown.
Reverse = Annotated[bool, Meta(description="Newest first.", extra={"unlisted": True})]
GroupId = Annotated[int, Meta(ge=0, le=2**31 - 1, description="Group.", extra={"unlisted": True})]
