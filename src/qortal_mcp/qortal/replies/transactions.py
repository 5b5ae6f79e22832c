"""Transactions: what all have in common, and what each kind adds.

Core gives every kind its own members. They are read into one record: a member that a kind does not have is
not there, and no two kinds use a name for different things. Of TRANSFER_PRIVS and CANCEL_GROUP_INVITE Core
tells only what all have in common.
"""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ..limits import CONTENT_CHARS, RAW_WHOLE_CHARS
from ..words.amounts import exact
from ..words.base58 import decode
from ..words.times import Milliseconds
from .plain import Count, Whole, plain

Text = str | UnsetType
Number = Whole | UnsetType
Flag = bool | UnsetType

# A message of so many characters of Base58 is decoded; more would take too long.
_MESSAGE_CHARS = 1000
_AMOUNTS = ("fee", "amount", "price", "quantity")


class PaidTo(Struct):
    """One payment among those of a transaction."""

    recipient: str
    amount: str
    assetId: Whole = 0

    def __post_init__(self) -> None:
        self.recipient = plain(self.recipient)
        self.amount = exact(self.amount)


class PollOption(Struct):
    optionName: str

    def __post_init__(self) -> None:
        self.optionName = plain(self.optionName)


class Members(Struct, kw_only=True, omit_defaults=True):
    """All members that a transaction can have. Every kind has those at the top."""

    type: str
    timestamp: Milliseconds
    creatorAddress: str
    signature: Text = UNSET
    reference: Text = UNSET
    # In QORT.
    fee: Text = UNSET
    txGroupId: Number = UNSET
    # Not there while no block holds it.
    blockHeight: Count | UnsetType = UNSET
    approvalStatus: Text = UNSET
    approvalHeight: Count | UnsetType = UNSET
    # Accounts and keys.
    recipient: Text = UNSET
    sender: Text = UNSET
    seller: Text = UNSET
    owner: Text = UNSET
    newOwner: Text = UNSET
    member: Text = UNSET
    admin: Text = UNSET
    offender: Text = UNSET
    invitee: Text = UNSET
    target: Text = UNSET
    atAddress: Text = UNSET
    aTAddress: Text = UNSET
    creatorPublicKey: Text = UNSET
    rewardSharePublicKey: Text = UNSET
    # Amounts and assets.
    amount: Text = UNSET
    assetId: Number = UNSET
    assetName: Text = UNSET
    quantity: Annotated[Text, Meta(description="Issued units of the asset.")] = UNSET
    isDivisible: Flag = UNSET
    isUnspendable: Flag = UNSET
    haveAssetId: Number = UNSET
    haveAssetName: Text = UNSET
    wantAssetId: Number = UNSET
    wantAssetName: Text = UNSET
    price: Text = UNSET
    pricePair: Text = UNSET
    amountAssetId: Number = UNSET
    amountAssetName: Text = UNSET
    orderId: Text = UNSET
    payments: list[PaidTo] | UnsetType = UNSET
    sharePercent: Annotated[Text, Meta(description="Negative: the share is cancelled.")] = UNSET
    # Names, texts and data.
    name: Text = UNSET
    newName: Annotated[Text, Meta(description="Empty: the name stays.")] = UNSET
    data: Text = UNSET
    newData: Text = UNSET
    description: Text = UNSET
    newDescription: Text = UNSET
    message: Text = UNSET
    isText: Flag = UNSET
    isEncrypted: Flag = UNSET
    chatReference: Text = UNSET
    # Polls.
    pollName: Text = UNSET
    pollOptions: list[PollOption] | UnsetType = UNSET
    optionIndex: Number = UNSET
    # QDN.
    service: Number = UNSET
    identifier: Text = UNSET
    size: Number = UNSET
    method: Text = UNSET
    compression: Text = UNSET
    dataType: Text = UNSET
    metadataHash: Text = UNSET
    # Contracts.
    aTType: Text = UNSET
    tags: Text = UNSET
    creationBytes: Text = UNSET
    # Groups.
    groupId: Number = UNSET
    groupName: Text = UNSET
    isOpen: Flag = UNSET
    approvalThreshold: Text = UNSET
    minimumBlockDelay: Number = UNSET
    maximumBlockDelay: Number = UNSET
    newIsOpen: Flag = UNSET
    newApprovalThreshold: Text = UNSET
    newMinimumBlockDelay: Number = UNSET
    newMaximumBlockDelay: Number = UNSET
    reason: Text = UNSET
    timeToLive: Number = UNSET
    pendingSignature: Text = UNSET
    approval: Flag = UNSET
    defaultGroupId: Number = UNSET
    # Accounts as such.
    level: Number = UNSET
    andMask: Number = UNSET
    orMask: Number = UNSET
    xorMask: Number = UNSET
    previousFlags: Number = UNSET
    presenceType: Text = UNSET
    timestampSignature: Text = UNSET
    # How it was made.
    version: Number = UNSET
    nonce: Number = UNSET
    # The text of a message that is one and can be read; Core does not have this member.
    text: Text = UNSET


class Transaction(Members):
    """As it arrives from Core, which has many names for the key of whoever made it."""

    senderPublicKey: Text = UNSET
    registrantPublicKey: Text = UNSET
    ownerPublicKey: Text = UNSET
    buyerPublicKey: Text = UNSET
    pollCreatorPublicKey: Text = UNSET
    voterPublicKey: Text = UNSET
    issuerPublicKey: Text = UNSET
    adminPublicKey: Text = UNSET
    joinerPublicKey: Text = UNSET
    leaverPublicKey: Text = UNSET
    minterPublicKey: Text = UNSET

    def __post_init__(self) -> None:
        self.text = self._message_text()
        keys = (key for name in _CREATOR_KEYS if (key := getattr(self, name)) is not UNSET)
        self.creatorPublicKey = next(keys, self.creatorPublicKey)
        for member in _TEXTS:
            value = getattr(self, member)
            if value is not UNSET:
                setattr(self, member, plain(value, CONTENT_CHARS))
        for member in _AMOUNTS:
            value = getattr(self, member)
            if value is not UNSET:
                setattr(self, member, exact(value))

    def _message_text(self) -> Text:
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
_TEXTS = tuple(
    field.name
    for field in structs.fields(Members)
    if getattr(field.type, "__origin__", field.type) in (str, Text) and field.name not in _AMOUNTS
)


def raw_transaction(body: bytes) -> str:
    """Reads the bytes of a transaction, which are plain text in Base58."""
    return plain(body.decode().strip(), RAW_WHOLE_CHARS)
