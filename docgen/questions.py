"""The questions that people ask most, and the one call that answers each, on the sample chain."""

from msgspec import Struct

# Traded every week for a year, by rule: the recorded chain is four hours old.
TRADER = "QUMWAbTdhjXWQH26apyUDJ1FWrQm7EGv3A"


class Question(Struct, frozen=True):
    """What a person asks, and the words after `qortal-mcp call`."""

    asked: str
    call: str
    # A toolset that it needs and that is off by default.
    toolset: str = ""


QUESTIONS: tuple[Question, ...] = (
    Question("Is my node healthy, and if not, why?", "get_node_status"),
    Question(
        "Am I minting? Which level comes next, and when? What did I earn?",
        "get_minting_profile address=@alice-test",
    ),
    Question(
        "What did I trade this year, and what did I gain?",
        f"get_trade_ledger account={TRADER} since=1y limit=3",
    ),
    Question("How did the price of QORT develop?", "get_price_history chain=ARRR interval=week since=8w"),
    Question("What do 50 QORT cost?", "list_trade_offers chain=LTC qort=50"),
    Question("Which offers are the cheapest?", "list_trade_offers chain=LTC sort=price"),
    Question("Which offers of mine are open?", "list_trade_offers creator=@Bob"),
    Question("Who voted how in this poll?", "get_poll name='Best fruit?' votes=10"),
    Question("Did I vote in this poll?", "get_poll name='Best fruit?' voter=@Bob"),
    Question("Which polls are new?", "list_polls limit=3"),
    Question("What has changed since yesterday for me?", "get_changes address=@Bob since=24h"),
    Question("What has changed since yesterday on the chain?", "get_changes since=24h"),
    Question("What came in, what went out, month by month?", "get_cash_flow address=@Bob by=month"),
    Question("With whom did I deal?", "get_cash_flow address=@Bob by=counterparty limit=5"),
    Question("What has this publisher published?", "search_qdn name=Bob limit=3"),
    Question("How often was this published, and when?", "search_qdn name=Bob service=DOCUMENT history=true"),
    Question("Which apps, sites or posts are about this?", "search_qdn query=post"),
    Question("Which groups are there about this?", "list_groups query=lounge"),
    Question("Who waits to be let into my groups?", "list_group_events kind=waiting admin=@Bob"),
    Question("Which names does this account own?", "search_names owner=@Bob limit=4"),
    Question("Which names are new?", "search_names since=2h limit=4"),
    Question("Which names are for sale, cheapest first?", "search_names for_sale=true sort=price"),
    Question("Which of my orders are open?", "list_asset_orders address=@Bob limit=2", toolset="assets"),
    Question("What was said in my chats?", "get_chat_digest address=@Bob", toolset="chat"),
    Question("How busy is the chain, day by day?", "get_chain_activity since=14d"),
    Question("How much does this name's owner have?", "get_balance address=@Bob"),
)
