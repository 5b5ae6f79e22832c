"""Groups: who is in them, who wants in, and who was thrown out."""

from msgspec import Struct, field

from ..words.times import Milliseconds
from .plain import Count, Number, Whole, plain


class Group(Struct):
    groupId: Number
    owner: str
    groupName: str
    created: Milliseconds
    isOpen: bool
    description: str = ""
    approvalThreshold: str = ""
    minimumBlockDelay: Count = 0
    maximumBlockDelay: Count = 0
    # 0 where Core does not count.
    memberCount: Count = 0
    updated: Milliseconds | None = None
    isAdmin: bool | None = None
    ownerPrimaryName: str | None = None

    def __post_init__(self) -> None:
        self.owner = plain(self.owner)
        self.groupName = plain(self.groupName)
        self.description = plain(self.description)
        self.approvalThreshold = plain(self.approvalThreshold)
        self.ownerPrimaryName = plain(self.ownerPrimaryName)


class GroupBalance(Group, kw_only=True):
    # Whole QORT, and not an amount like all others.
    balance: Whole = 0


class Member(Struct):
    member: str
    joined: Milliseconds | None = None
    isAdmin: bool = False
    primaryName: str | None = None

    def __post_init__(self) -> None:
        self.member = plain(self.member)
        self.primaryName = plain(self.primaryName)


class GroupMembers(Struct):
    memberCount: Count
    adminCount: Count
    members: list[Member] = field(default_factory=list)


class Invite(Struct):
    groupId: Number
    inviter: str
    invitee: str
    expiry: Milliseconds | None = None

    def __post_init__(self) -> None:
        self.inviter = plain(self.inviter)
        self.invitee = plain(self.invitee)


class JoinRequest(Struct):
    groupId: Number
    joiner: str

    def __post_init__(self) -> None:
        self.joiner = plain(self.joiner)


class GroupRequests(Struct):
    group: Group
    joinRequests: list[JoinRequest] = field(default_factory=list)


class Ban(Struct):
    groupId: Number
    offender: str
    admin: str
    banned: Milliseconds
    reason: str | None = None
    expiry: Milliseconds | None = None

    def __post_init__(self) -> None:
        self.offender = plain(self.offender)
        self.admin = plain(self.admin)
        self.reason = plain(self.reason)


class Kick(Struct):
    groupId: Number
    member: str
    timestamp: Milliseconds
    reason: str | None = None

    def __post_init__(self) -> None:
        self.member = plain(self.member)
        self.reason = plain(self.reason)


class YearCount(Struct):
    """How often an account did something in a year, or had it done to it."""

    address: str
    count: Count
    name: str | None = None

    def __post_init__(self) -> None:
        self.address = plain(self.address)
        self.name = plain(self.name)
