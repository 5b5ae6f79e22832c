"""What a transaction moves from one account to another, and what its creator pays for it."""

from msgspec import UNSET, Struct

from ...replies.transactions import Transaction
from ...words.amounts import units

QORT = 0
# The types whose amount goes to their recipient.
_PAID_TO_RECIPIENT = frozenset({"PAYMENT", "TRANSFER_ASSET", "MESSAGE"})
# What a group did not approve has no effect, although its fee is paid.
_WITHOUT_EFFECT = frozenset({"PENDING", "REJECTED", "EXPIRED", "INVALID"})

COUNTED = (
    "Counted: payments (also within messages and publications), transfers of assets, payouts of contracts, what a new "
    "contract was given, prices of names that were bought, and the fees of all transactions the account made. Not counted: "
    "minting rewards, the first block, new assets and trades of them, unconfirmed transactions."
)
INCOMPLETE_PAYMENTS = (
    "There are MULTI_PAYMENT transactions, of which Core may not report the first payment: "
    "sums can be too low by that."
)


class Move(Struct, frozen=True):
    """An amount of an asset, in units of 0.00000001, on its way from one account to another."""

    sender: str
    recipient: str
    asset_id: int
    amount: int


def has_effect(row: Transaction) -> bool:
    """Whether it did what it says: no group has yet to approve it, or has refused."""
    return row.approvalStatus not in _WITHOUT_EFFECT


def moves_of(row: Transaction) -> list[Move]:
    """The amounts that a confirmed transaction moved."""
    if not has_effect(row):
        return []
    moves = (
        []
        if row.payments is UNSET
        else [
            Move(row.creatorAddress, paid.recipient, paid.assetId, units(paid.amount))
            for paid in row.payments
        ]
    )
    amount = 0 if row.amount is UNSET else units(row.amount)
    sender, recipient = _ends(row)
    if amount and sender and recipient:
        asset_id = QORT if row.assetId is UNSET else row.assetId
        moves.append(Move(sender, recipient, asset_id, amount))
    return moves


def _ends(row: Transaction) -> tuple[str, str]:
    """Who gives the amount of a transaction, and who gets it; empty if it does not move."""
    if row.type in _PAID_TO_RECIPIENT:
        return row.creatorAddress, row.recipient or ""
    if row.type == "AT":
        return row.atAddress or "", row.recipient or ""
    if row.type == "DEPLOY_AT":
        return row.creatorAddress, row.aTAddress or ""
    # The amount of a sale is a price, and only paid by the one who buys.
    if row.type == "BUY_NAME":
        return row.creatorAddress, row.seller or ""
    return "", ""


def fee_of(row: Transaction) -> int:
    """In units of 0.00000001 QORT."""
    return 0 if row.fee is UNSET else units(row.fee)
