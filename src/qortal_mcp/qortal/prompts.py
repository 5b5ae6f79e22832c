"""Ready-made questions for common tasks, and suggestions for their arguments."""

import datetime
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from ..server.offers.prompt import Completer, Prompt, completer, prompt
from ..server.tool_errors import ToolError
from ..text import printable
from .endpoints.names import NAMES_SEARCH
from .node.node import Node
from .resources import NAME
from .words.chains import CHAINS
from .words.services import SERVICES
from .words.transaction_types import TRANSACTION_TYPES

_SUGGESTIONS = 20
# With this much of a name typed, nobody needs help with the rest; and this much of a key or a seed phrase, if that is
# what it is, reveals nothing.
_TYPED_CHARS = 20
# Longer than names on the chain, which have at most 40 bytes.
_NAME_CHARS = 100
# Of the first block.
_FIRST_YEAR = 2020
# Longer than an address, a name, or a signature of 88 characters.
_LONGEST = 200

Account = Annotated[str, Meta(max_length=_LONGEST, description="Qortal address or @name.")]
Year = Annotated[str, Meta(max_length=_LONGEST, description="Calendar year, such as 2026.")]
RegisteredName = Annotated[str, Meta(max_length=_LONGEST, description="Registered name.")]
Signature = Annotated[
    str, Meta(max_length=_LONGEST, description="Transaction signature.", extra={"key": True})
]
Chain = Annotated[str, Meta(max_length=_LONGEST, description="Foreign chain, such as LITECOIN.")]
Service = Annotated[str, Meta(max_length=_LONGEST, description="QDN service, such as WEBSITE.")]
TransactionType = Annotated[str, Meta(max_length=_LONGEST, description="Transaction type, such as PAYMENT.")]

_OR_NAME = "They take an address, or a registered name with @ before it."
_WHOLE = "Where an answer is not complete, call again with the arguments in page.next and add up."
_CARE = "Say which node and block height the figures come from, and pass on any notes that matter."


@prompt("Account report", quick=True)
def account_report(address: Account) -> str:
    """A short report about one account."""
    return (
        f"Write a short report about the Qortal account {printable(address)}: balances, names, minting level and rewards, and its "
        f"latest transactions. Use get_account_overview, get_minting_profile and search_transactions. {_OR_NAME} {_CARE}"
    )


@prompt("Name report", quick=True)
def name_report(name: RegisteredName) -> str:
    """Who owns a name, and what was published under it."""
    return (
        f"Find out who owns the Qortal name '{printable(name)}' and what was published under it. Use get_name, get_account_overview and "
        f"search_qdn. If the node matched a look-alike name, say so first. {_CARE}"
    )


@prompt("Node health", quick=True)
def node_health() -> str:
    """Whether the node is up to date and well connected."""
    return (
        "Check the health of the Qortal node: is it in sync, how old is its newest block, how many peers does it have, can it "
        "mint, how is the network doing? Use get_node_status and get_network_overview. End with one sentence on whether its "
        f"answers can be trusted now. {_CARE}"
    )


@prompt("Explain a transaction", quick=True)
def explain_transaction(signature: Signature) -> str:
    """What one transaction did, in plain words."""
    return (
        f"Explain the Qortal transaction {printable(signature)} in plain words: what kind it is, who made it, what it moved or changed, what it "
        f"cost, and whether it is confirmed. Use get_transaction and get_block. {_CARE}"
    )


@prompt("Trade scan", quick=True)
def trade_scan(chain: Chain) -> str:
    """Offers and recent prices against one foreign coin."""
    return (
        f"Scan the QORT market against {printable(chain)}: the open offers from the cheapest on, the latest completed trades, and how the offers compare "
        f"with the recent price. Use list_trade_offers (sorted by price), list_completed_trades and get_trade_price (with inverse true, "
        f"so that all prices are coins per QORT). {_CARE}"
    )


@prompt("Find publications", quick=True)
def find_publications(service: Service) -> str:
    """What was published recently on one QDN service."""
    return (
        f"List what was published recently on the Qortal data network under the service {printable(service)}: by whom, when, how large. Use "
        f"search_qdn and follow its pages as far as needed. {_CARE}"
    )


@prompt("What a transaction costs", quick=True)
def fee_check(type: TransactionType) -> str:
    """The fee of one type of transaction."""
    return f"What does a {printable(type)} transaction cost on Qortal right now? Use get_fee. {_CARE}"


@prompt("My week", quick=True)
def my_week(address: Account) -> str:
    """What happened to one account in the last seven days."""
    return (
        f"Tell me what happened to the Qortal account {printable(address)} in the last seven days: what changed, what came in and went out and with "
        f"whom, its trades, and what it minted. Use get_changes, get_cash_flow (by counterparty), get_trade_ledger and "
        f"get_minting_profile, each with since 7d. {_OR_NAME} Begin with the three things that matter most. {_WHOLE} {_CARE}"
    )


@prompt("My taxes", quick=True)
def my_taxes(address: Account, year: Year) -> str:
    """What one account received, spent, traded and minted in a calendar year, as figures for a tax return."""
    return (
        f"Put together the figures that the owner of the Qortal account {printable(address)} needs for the tax return of the calendar year {printable(year)}, "
        f"January 1 to December 31 in UTC: what came in and went out in each month, what was bought and sold against each foreign coin "
        f"with totals, fees, and what was minted. Use get_cash_flow (by month), get_trade_ledger and get_minting_profile with since "
        f"at the first moment of the year and until at the first moment of the next one, since a day that is given as until is left out. {_OR_NAME} {_WHOLE} "
        f"Keep every amount exact, with its unit. These tools know no prices in national currencies: say so, do not estimate any, and give no tax advice. "
        f"List what is not counted. {_CARE}"
    )


@prompt("Node check-up", quick=True)
def node_check_up() -> str:
    """What is wrong with the node, if anything, and what to do about it."""
    return (
        "Check up on the Qortal node: its verdict and its problems, how it compares with the network, and whether blocks came as usual in "
        "the last day. Use get_node_status, get_network_overview and get_chain_activity (since 24h). Begin with the verdict. "
        f"For each problem say what it means and what its operator can do. {_CARE}"
    )


@prompt("Market report", quick=True)
def market_report(chain: Chain) -> str:
    """The QORT market against one foreign coin in the last month."""
    return (
        f"Report on the QORT market against {printable(chain)} in the last 30 days: the price and the volume day by day, highs and lows, and what is on offer "
        f"now. Use get_price_history (by day, since 30d) and list_trade_offers (sorted by price). Say how thin the market is: "
        f"few trades make a price unreliable. {_WHOLE} {_CARE}"
    )


PROMPTS: tuple[Prompt, ...] = (
    account_report,
    name_report,
    node_health,
    explain_transaction,
    trade_scan,
    find_publications,
    fee_check,
    my_week,
    my_taxes,
    node_check_up,
    market_report,
)


def _beginning(typed: str, words: list[str]) -> list[str]:
    wanted = typed.strip().upper()
    return [word for word in words if word.startswith(wanted)]


def _chains(typed: str) -> list[str]:
    wanted = typed.strip().upper()
    return [
        chain.name for chain in CHAINS if chain.name.startswith(wanted) or chain.ticker.startswith(wanted)
    ]


@completer("trade_scan", "chain", quick=True)
def chains(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return _chains(typed)


@completer("market_report", "chain", quick=True)
def chains_of_market(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return _chains(typed)


@completer("my_taxes", "year", quick=True)
def years(typed: str, chosen: Mapping[str, str]) -> list[str]:
    this_year = datetime.datetime.now(datetime.UTC).year
    return _beginning(typed, [str(year) for year in range(this_year, _FIRST_YEAR - 1, -1)])


@completer("find_publications", "service", quick=True)
def services(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return _beginning(typed, [service.name for service in SERVICES])


@completer("fee_check", "type", quick=True)
def transaction_types(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return _beginning(typed, list(TRANSACTION_TYPES))


async def _names(typed: str, node: Node) -> list[str]:
    if not typed.strip() or len(typed) > _TYPED_CHARS:
        return []
    try:
        rows = await node.reading().get(NAMES_SEARCH, query=typed, prefix=True, limit=_SUGGESTIONS)
    except ToolError:
        return []  # a suggestion is not worth an error
    return [row.name for row in rows if len(row.name) <= _NAME_CHARS]


async def _accounts(typed: str, node: Node) -> list[str]:
    """Names with @ before them, for whoever begins with it; nobody needs help with an address."""
    if not typed.startswith("@"):
        return []
    return [f"@{name}" for name in await _names(typed[1:], node)]


@completer("name_report", "name")
async def names(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _names(typed, node)


@completer(NAME, "name")
async def names_by_address(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _names(typed, node)


@completer("account_report", "address")
async def accounts(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _accounts(typed, node)


@completer("my_week", "address")
async def accounts_of_week(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _accounts(typed, node)


@completer("my_taxes", "address")
async def accounts_of_taxes(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _accounts(typed, node)


COMPLETERS: tuple[Completer, ...] = (
    chains,
    chains_of_market,
    years,
    services,
    transaction_types,
    names,
    names_by_address,
    accounts,
    accounts_of_week,
    accounts_of_taxes,
)
