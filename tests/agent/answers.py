"""Answers about the sample chain as models write them: which tools were called, and what no tool said.

Each is (calls, answer, what has to be marked).
"""

from typing import Any

Call = tuple[str, dict[str, Any]]
ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
BOB = "QixPbJUwsaHsVEofJdozU9zgVqkK6aYhrK"

NAME: Call = ("get_name", {"name": "alice-test"})
B0B: Call = ("get_name", {"name": "B0b"})
STATUS: Call = ("get_node_status", {})
OVERVIEW: Call = ("get_network_overview", {})
ACCOUNT: Call = ("get_account_overview", {"address": ALICE})
MINTING: Call = ("get_minting_profile", {"address": ALICE})
BLOCK: Call = ("get_block", {"height": 298})
BLOCKS: Call = ("list_blocks", {"limit": 3})
SIGNERS: Call = ("list_block_signers", {})
OFFERS: Call = ("list_trade_offers", {"chain": "LTC"})
TRADES: Call = ("list_completed_trades", {"limit": 5})
PRICE: Call = ("get_trade_price", {"chain": "LTC"})
CHAIN: Call = ("get_foreign_chain", {"chain": "LTC"})
GROUPS: Call = ("list_groups", {})
GROUP: Call = ("get_group", {"group_id": 3})
MEMBERS: Call = ("list_group_members", {"group_id": 3})
FEE: Call = ("get_fee", {"type": "REGISTER_NAME"})
PAYMENTS: Call = ("find_payments", {"recipient": BOB, "limit": 2})
QDN: Call = ("search_qdn", {"name": "alice-test", "limit": 3})
POLL: Call = ("get_poll", {"name": "Best fruit?"})
POLLS: Call = ("list_polls", {})
RATINGS: Call = ("list_app_ratings", {})

ANSWERS: dict[str, tuple[list[Call], str, list[str]]] = {
    "owner": ([NAME], f"The name **alice-test** is owned by `{ALICE}`. It was registered on 15 November 2026 at 19:12 UTC and is **not** for sale.", []),
    "owner-wrong-date": ([NAME], f"The name **alice-test** is owned by `{ALICE}`. It was registered on 14 November 2026.", ["14 November 2026"]),
    "owner-short": ([NAME], "Owner: QgV4s3…Hsd9v (registered 2026-11-15 19:12:25 UTC)", []),
    "look-alike": ([B0B], f'There is no name "B0b" as such; the registered name is "Bob", owned by {BOB}.', []),
    "look-alike-made-up": ([B0B], '"B0b" belongs to the account of `bobby`.', ["bobby"]),
    "status": ([STATUS], "The node runs version 6.1.8 (commit bb6b1bf), is at height **596**, fully synchronized (100%), with 0 connections. It has been up for about 1 hour 22 minutes.", []),
    "status-wrong": ([STATUS], "The node runs Qortal 6.2.0 at height 597 with 12 peers.", ["6.2.0", "597", "12"]),
    "overview-table": ([OVERVIEW], "## Last 24 hours\n\n| Metric | Value |\n|---|---:|\n| Blocks | 596 |\n| Transactions | 557 |\n| Payments | 56 |\n| Names registered | 43 |\n| Circulating supply | 2,958.50 QORT |\n\n**Fees:** payment 0.01 QORT, name registration 1.25 QORT.", []),
    "overview-share": ([OVERVIEW], "Of 557 transactions 56 were payments, which is about 10.05 %.", ["10.05 %"]),
    "account": ([ACCOUNT], "### Account\n- **Level:** 4 (founder)\n- **Balance:** 1,001,427.51 QORT (≈ 1.0 million)\n- **Blocks minted:** 579\n- **Names (6):** alice-test, Alice Renamed, alice.third, pending-approval, rejected-name, pending-two\n- **Other assets:** 998,182.5 GOLD and 23 TICKET", []),
    "account-wrong": ([ACCOUNT], "- **Level:** 8\n- **Balance:** 1,001,472.51 QORT", ["8", "1,001,472.51"]),
    # Where a number stands in a result is not looked at: there is an asset with the id 5.
    "account-wrong-unseen": ([ACCOUNT], "- **Level:** 5", []),
    "account-german": ([ACCOUNT], "Das Konto hat ein Guthaben von **1.001.427,51 QORT**, ist auf Stufe 4 und hat 579 Blöcke geprägt. Der Hauptname ist „alice-test“. Insgesamt sind es 6 Namen.", []),
    "account-german-wrong": ([ACCOUNT], "Das Konto hat ein Guthaben von **1.001.500,00 QORT** und heißt „alicia-test“.", ["1.001.500,00", "alicia-test"]),
    "account-french": ([ACCOUNT], "Le compte possède 1 001 427,51 QORT et a produit 579 blocs. Son nom principal est « alice-test ».", []),
    "minting": ([MINTING], "The account is at level 4 and a founder. It shares **25 %** of its rewards with QVD92gWZ…XK2bq. It has 2 sponsees with an average balance of 3,822 QORT; they made 8 sales for 236 QORT and 19 purchases for 479 QORT.", []),
    "minting-sum": ([MINTING], "Together they traded 715 QORT.", ["715"]),
    "block": ([BLOCK], "Block #298 was minted on Nov 15, 2026 at 7:15:21 PM UTC by QgV4s3...Hsd9v (level 10). It has no transactions and 0 fees; 2 accounts were online.\n\nSignature: `FgVa2fyF7WJq...`", []),
    "block-wrong": ([BLOCK], "Block 298 was minted at 19:51 UTC by QgV4s3...Hsd9w.", ["19:51 UTC", "QgV4s3...Hsd9w"]),
    "blocks": ([BLOCKS], "The 3 newest blocks:\n1. **596** – 0 transactions, 21:05:45\n2. **595** – 3 transactions, 21:04:41\n3. **594** – 12 transactions, 21:03:37", []),
    "signers": ([SIGNERS], f"| # | Minter | Blocks |\n|---|---|---|\n| 1 | `{ALICE}` | 565 |\n| 2 | `{BOB}` | 24 |\n| 3 | QaUpHN…biXjL | 6 |\n| 4 | QdSnUy…PgrWG | 1 |\n\nThat is 94.8 % for the first.", ["94.8 %"]),
    "offers": ([OFFERS], "There are **7 open offers** for LTC. The cheapest is 0.00048 LTC per QORT (25 QORT for 0.012 LTC), the most expensive 0.00272727 LTC per QORT.\n\n**Offer 1:** 55 QORT for 0.0352 LTC\n**Offer 2:** 4.5 QORT for 0.002745 LTC", []),
    "offers-total": ([OFFERS], "In total 150.5 QORT are offered by 7 sellers.", ["150.5"]),
    "trades": ([TRADES], "The latest trade was 55.5 QORT for 0.0327 LTC (price 0.00058890). Before that: 48 QORT for 27.69 DOGE and 21 QORT for 0.0001706 BTC.", []),
    "price": ([PRICE], "1 LTC costs ~1,754.85 QORT, based on 9 of the 10 newest trades.", []),
    "price-german": ([PRICE], "Der Preis liegt bei rund 1.755 QORT je LTC (9 Trades, Stand: 15.11.2026, 21:05 Uhr).", []),
    "chain": ([CHAIN], "Litecoin is enabled, but none of the 2 known servers is connected. The fee is 0.0001 LTC per kB.", []),
    "groups": ([GROUPS], "| Group | Owner | Members |\n|---|---|---|\n| Approval Needed | dilbert | 2 |\n| Closed Circle | Bob | 3 |\n| Empty Room | Grace & Söhne GmbH | 1 |\n| Gruppe 😀 Ü | Rocket 🚀 Team | 3 |", []),
    "groups-made-up": ([GROUPS], "| Group | Owner | Members |\n|---|---|---|\n| Closed Circle | Bob | 3 |\n| Secret Society | Mallory | 77 |", ["Secret Society", "Mallory", "77"]),
    "group": ([GROUP, MEMBERS], "**Open Lounge** (group 3) is open, was created by alice-test and has 5 members, 2 of them admins:\n- erin-for-sale\n- Rocket 🚀 Team\n- dilbert\n- alice-test (admin)\n- Bob (admin)\n\nDescription: \"everybody is welcome, updated\". Approval takes between 5 and 1,440 blocks.", []),
    "fee": ([FEE], "Registering a name costs **1.25 QORT** (`REGISTER_NAME`), as of block 596.", []),
    "fee-dollar": ([FEE], "Registering a name costs 1.25 QORT, about $0.42.", ["0.42"]),
    "payments": ([PAYMENTS], "Bob's address received 0.75 QORT at 21:00 UTC (block 592) and 5 QORT at 20:57 UTC (block 589), each with a fee of 0.01 QORT. Transaction `5JTjWoxt…61Y2JR`.", []),
    "qdn": ([QDN], "Three resources: `idx-topics-0` (METADATA, 96 bytes), `idx-qortal-0` (JSON, 112 bytes) and `cd1` (CHAIN_DATA, 48 bytes), all published in block 321 by QgV4s3x….", []),
    "qdn-made-up": ([QDN], "See qortal://WEBSITE/alice-test and `idx-topics-1`.", ["qortal://WEBSITE/alice-test", "idx-topics-1"]),
    "poll": ([POLL], "In the poll “Best fruit?” *Apple* and *Banana* got 2 votes each (40 %), *Cherry 🍒* 1 (20 %). By weight Apple leads with 64.4% to 35.6%.", []),
    "poll-spanish": ([POLL], "La encuesta «Best fruit?» tiene 5 votos: Apple 2, Banana 2, Cherry 1. Publicada el 15 de noviembre de 2026.", []),
    "polls": ([POLLS], "There are 8 polls, among them \"governance/2026 #1\", \"approved poll\" and \"Worst fruit?\".", ["Worst fruit?"]),
    "ratings": ([RATINGS], "Bob's app has an average of 3.33 stars (3 votes), or 3.58 by weight; the website of `alice-test` has 3.0 (1 vote).", []),
    "no-tool": ([], "As of my knowledge, QORT's supply is about 10 million.", ["10 million"]),
}  # fmt: skip
