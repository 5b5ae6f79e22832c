"""Ready-made questions for common tasks, and suggestions for their arguments."""

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
# Longer than an address, a name, or a signature of 88 characters.
_LONGEST = 200

Address = Annotated[str, Meta(max_length=_LONGEST, description="Qortal address.")]
RegisteredName = Annotated[str, Meta(max_length=_LONGEST, description="Registered name.")]
Signature = Annotated[
    str, Meta(max_length=_LONGEST, description="Transaction signature.", extra={"key": True})
]
Chain = Annotated[str, Meta(max_length=_LONGEST, description="Foreign chain, such as LITECOIN.")]
Service = Annotated[str, Meta(max_length=_LONGEST, description="QDN service, such as WEBSITE.")]
TransactionType = Annotated[str, Meta(max_length=_LONGEST, description="Transaction type, such as PAYMENT.")]

_CARE = "Say which node and block height the figures come from, and pass on any notes that matter."


@prompt("Account report")
def account_report(address: Address) -> str:
    """A short report about one account."""
    return (
        f"Write a short report about the Qortal account {printable(address)}: balances, names, minting level and rewards, and its "
        f"latest transactions. Use get_account_overview, get_minting_profile and search_transactions. They take an address: "
        f"if this is a registered name, get_name returns its owner. {_CARE}"
    )


@prompt("Name report")
def name_report(name: RegisteredName) -> str:
    """Who owns a name, and what was published under it."""
    return (
        f"Find out who owns the Qortal name '{printable(name)}' and what was published under it. Use get_name, get_account_overview and "
        f"search_qdn. If the node matched a look-alike name, say so first. {_CARE}"
    )


@prompt("Node health")
def node_health() -> str:
    """Whether the node is up to date and well connected."""
    return (
        "Check the health of the Qortal node: is it in sync, how old is its newest block, how many peers does it have, can it "
        "mint, how is the network doing? Use get_node_status and get_network_overview. End with one sentence on whether its "
        f"answers can be trusted now. {_CARE}"
    )


@prompt("Explain a transaction")
def explain_transaction(signature: Signature) -> str:
    """What one transaction did, in plain words."""
    return (
        f"Explain the Qortal transaction {printable(signature)} in plain words: what kind it is, who made it, what it moved or changed, what it "
        f"cost, and whether it is confirmed. Use get_transaction and get_block. {_CARE}"
    )


@prompt("Trade scan")
def trade_scan(chain: Chain) -> str:
    """Offers and recent prices against one foreign coin."""
    return (
        f"Scan the QORT market against {printable(chain)}: the open offers by price, the latest completed trades, and how the offers compare "
        f"with the recent price. Use list_trade_offers, list_completed_trades and get_trade_price (with inverse true, "
        f"so that all prices are coins per QORT). {_CARE}"
    )


@prompt("Find publications")
def find_publications(service: Service) -> str:
    """What was published recently on one QDN service."""
    return (
        f"List what was published recently on the Qortal data network under the service {printable(service)}: by whom, when, how large. Use "
        f"search_qdn and follow its pages as far as needed. {_CARE}"
    )


@prompt("What a transaction costs")
def fee_check(type: TransactionType) -> str:
    """The fee of one type of transaction."""
    return f"What does a {printable(type)} transaction cost on Qortal right now? Use get_fee. {_CARE}"


PROMPTS: tuple[Prompt, ...] = (
    account_report,
    name_report,
    node_health,
    explain_transaction,
    trade_scan,
    find_publications,
    fee_check,
)


def _beginning(typed: str, words: list[str]) -> list[str]:
    wanted = typed.strip().upper()
    return [word for word in words if word.startswith(wanted)]


@completer("trade_scan", "chain")
def chains(typed: str, chosen: Mapping[str, str]) -> list[str]:
    wanted = typed.strip().upper()
    return [
        chain.name for chain in CHAINS if chain.name.startswith(wanted) or chain.ticker.startswith(wanted)
    ]


@completer("find_publications", "service")
def services(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return _beginning(typed, [service.name for service in SERVICES])


@completer("fee_check", "type")
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


@completer("name_report", "name")
async def names(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _names(typed, node)


@completer(NAME, "name")
async def names_by_address(typed: str, chosen: Mapping[str, str], node: Node) -> list[str]:
    return await _names(typed, node)


COMPLETERS: tuple[Completer, ...] = (chains, services, transaction_types, names, names_by_address)
