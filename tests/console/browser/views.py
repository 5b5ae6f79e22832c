"""Every view of the page, with something of the sample chain to show."""

from tests.cli.running import ALICE

TRADE = "AHM9PBN6GVZNvm6xF3BsMomF5MtjHa8jsz"
PAYMENT = "5BiekLn9BaZhUcU59qf7jdt64wsDvkfQ2jau8ELXd7rhyMbd8s4MsKUXy18xSdzfCUZ2eF6FHsgg4LPLuPNN53Pz"
# Name -> the parts of its address, and the heading that it has.
VIEWS: dict[str, tuple[tuple[str | int, ...], str]] = {
    "overview": ((), "Overview"),
    "look up": (("search",), "Look up"),
    "found": (("search", "3"), "Look up: 3"),
    "nothing found": (("search", "no such thing"), "Look up: no such thing"),
    "tools": (("tools",), "Tools"),
    "tool": (("tools", "search_transactions"), "Tool search_transactions"),
    "ask": (("ask",), "Ask"),
    "connect": (("connect",), "Connect"),
    "audit": (("audit",), "Audit"),
    "account": (("account", ALICE), "Account QgV4s3xn…UHsd9v"),
    "minting": (("account", ALICE, "minting"), "Account QgV4s3xn…UHsd9v"),
    "asset": (("asset", 3), "Asset 3"),
    "block": (("block", 590), "Block 590"),
    "contract": (("contract", TRADE), "Contract AHM9PBN6…Ha8jsz"),
    "group": (("group", 3), "Open Lounge (group 3)"),
    "name": (("name", "alice-test"), "Name alice-test"),
    "poll": (("poll", "Best fruit?"), "Poll Best fruit?"),
    "resource": (("qdn", "BLOG_POST", "Bob", "post-markets"), "Published: BLOG_POST/Bob/post-markets"),
    "trade": (("trade", TRADE), "Trade AHM9PBN6…Ha8jsz"),
    "transaction": (("transaction", PAYMENT), "Transaction 5BiekLn9…NN53Pz"),
    "no view": (("nothing", "here"), "No such page"),
}
