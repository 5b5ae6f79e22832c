"""Transactions: what all have in common, and what each kind adds.

Core gives every kind its own members. They are read into one record: a member that a kind does not have is
not there, and no two kinds use a name for different things. Of TRANSFER_PRIVS and CANCEL_GROUP_INVITE Core
tells only what all have in common.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ..limits import RAW_WHOLE_CHARS
from ..words.base58 import decode
from ..words.times import Milliseconds
from .polls import PollOption
from .reply import Amount, Chars, Count, LongText, Reply, Text, Whole, cleaned

RawTransaction = Annotated[str, Chars(RAW_WHOLE_CHARS)]

_Text = LongText | UnsetType
_Amount = Amount | UnsetType
_Number = Whole | UnsetType
_Flag = bool | UnsetType

# A message of so many characters of Base58 is decoded; more would take too long.
_MESSAGE_CHARS = 1000


class PaidTo(Reply):
    """One payment among those of a transaction."""

    recipient: Text
    amount: Amount
    assetId: Whole = 0


class Members(Struct, kw_only=True, omit_defaults=True):
    """All members that a transaction can have. Every kind has those at the top."""

    type: LongText
    timestamp: Milliseconds
    creatorAddress: LongText
    signature: _Text = UNSET
    reference: _Text = UNSET
    # In QORT.
    fee: _Amount = UNSET
    txGroupId: _Number = UNSET
    # Not there while no block holds it.
    blockHeight: Count | UnsetType = UNSET
    approvalStatus: _Text = UNSET
    approvalHeight: Count | UnsetType = UNSET
    # Accounts and keys.
    recipient: _Text = UNSET
    sender: _Text = UNSET
    seller: _Text = UNSET
    owner: _Text = UNSET
    newOwner: _Text = UNSET
    member: _Text = UNSET
    admin: _Text = UNSET
    offender: _Text = UNSET
    invitee: _Text = UNSET
    target: _Text = UNSET
    atAddress: _Text = UNSET
    aTAddress: _Text = UNSET
    creatorPublicKey: _Text = UNSET
    rewardSharePublicKey: _Text = UNSET
    # Amounts and assets.
    amount: _Amount = UNSET
    assetId: _Number = UNSET
    assetName: _Text = UNSET
    quantity: Annotated[_Amount, Meta(description="Issued units of the asset.")] = UNSET
    isDivisible: _Flag = UNSET
    isUnspendable: _Flag = UNSET
    haveAssetId: _Number = UNSET
    haveAssetName: _Text = UNSET
    wantAssetId: _Number = UNSET
    wantAssetName: _Text = UNSET
    price: _Amount = UNSET
    pricePair: _Text = UNSET
    amountAssetId: _Number = UNSET
    amountAssetName: _Text = UNSET
    orderId: _Text = UNSET
    payments: list[PaidTo] | UnsetType = UNSET
    sharePercent: Annotated[_Text, Meta(description="Negative: the share is cancelled.")] = UNSET
    # Names, texts and data.
    name: _Text = UNSET
    newName: Annotated[_Text, Meta(description="Empty: the name stays.")] = UNSET
    data: _Text = UNSET
    newData: _Text = UNSET
    description: _Text = UNSET
    newDescription: _Text = UNSET
    message: _Text = UNSET
    isText: _Flag = UNSET
    isEncrypted: _Flag = UNSET
    chatReference: _Text = UNSET
    # Polls.
    pollName: _Text = UNSET
    pollOptions: list[PollOption] | UnsetType = UNSET
    optionIndex: _Number = UNSET
    # QDN.
    service: _Number = UNSET
    identifier: _Text = UNSET
    size: _Number = UNSET
    method: _Text = UNSET
    compression: _Text = UNSET
    dataType: _Text = UNSET
    metadataHash: _Text = UNSET
    # Contracts.
    aTType: _Text = UNSET
    tags: _Text = UNSET
    creationBytes: _Text = UNSET
    # Groups.
    groupId: _Number = UNSET
    groupName: _Text = UNSET
    isOpen: _Flag = UNSET
    approvalThreshold: _Text = UNSET
    minimumBlockDelay: _Number = UNSET
    maximumBlockDelay: _Number = UNSET
    newIsOpen: _Flag = UNSET
    newApprovalThreshold: _Text = UNSET
    newMinimumBlockDelay: _Number = UNSET
    newMaximumBlockDelay: _Number = UNSET
    reason: _Text = UNSET
    timeToLive: _Number = UNSET
    pendingSignature: _Text = UNSET
    approval: _Flag = UNSET
    defaultGroupId: _Number = UNSET
    # Accounts as such.
    level: _Number = UNSET
    andMask: _Number = UNSET
    orMask: _Number = UNSET
    xorMask: _Number = UNSET
    previousFlags: _Number = UNSET
    presenceType: _Text = UNSET
    timestampSignature: _Text = UNSET
    # How it was made.
    version: _Number = UNSET
    nonce: _Number = UNSET
    # The text of a message that is one and can be read; Core does not have this member.
    text: _Text = UNSET


class Transaction(Members, Reply):
    """As it arrives from Core, which has many names for the key of whoever made it."""

    senderPublicKey: _Text = UNSET
    registrantPublicKey: _Text = UNSET
    ownerPublicKey: _Text = UNSET
    buyerPublicKey: _Text = UNSET
    pollCreatorPublicKey: _Text = UNSET
    voterPublicKey: _Text = UNSET
    issuerPublicKey: _Text = UNSET
    adminPublicKey: _Text = UNSET
    joinerPublicKey: _Text = UNSET
    leaverPublicKey: _Text = UNSET
    minterPublicKey: _Text = UNSET

    def __post_init__(self) -> None:
        self.text = self._message_text()
        keys = (key for name in _CREATOR_KEYS if (key := getattr(self, name)) is not UNSET)
        self.creatorPublicKey = next(keys, self.creatorPublicKey)
        super().__post_init__()

    def _message_text(self) -> str | UnsetType:
        if (
            self.type != "MESSAGE"
            or self.isText is not True
            or self.isEncrypted is not False
            or not self.data
        ):
            return UNSET
        try:
            return decode(self.data, _MESSAGE_CHARS).decode()
        except ValueError:
            return UNSET


MEMBERS = tuple(field.name for field in structs.fields(Members))
_CREATOR_KEYS = tuple(field.name for field in structs.fields(Transaction) if field.name not in MEMBERS)


def raw_transaction(body: bytes) -> RawTransaction:
    """Reads the bytes of a transaction, which are plain text in Base58."""
    return cleaned(body.decode().strip(), RawTransaction)
