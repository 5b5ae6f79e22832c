"""Groups: who is in them, who wants in, and who was thrown out."""

from msgspec import field

from ..words.times import Milliseconds
from .reply import Count, Number, Reply, Text, Whole


class Group(Reply):
    groupId: Number
    owner: Text
    groupName: Text
    created: Milliseconds
    isOpen: bool
    description: Text = ""
    approvalThreshold: Text = ""
    minimumBlockDelay: Count = 0
    maximumBlockDelay: Count = 0
    # 0 where Core does not count.
    memberCount: Count = 0
    updated: Milliseconds | None = None
    isAdmin: bool | None = None
    ownerPrimaryName: Text | None = None


class GroupBalance(Group, kw_only=True):
    # Whole QORT, and not an amount like all others.
    balance: Whole = 0


class Member(Reply):
    member: Text
    joined: Milliseconds | None = None
    isAdmin: bool = False
    primaryName: Text | None = None


class GroupMembers(Reply):
    memberCount: Count
    adminCount: Count
    members: list[Member] = field(default_factory=list)


class Invite(Reply):
    groupId: Number
    inviter: Text
    invitee: Text
    expiry: Milliseconds | None = None


class JoinRequest(Reply):
    groupId: Number
    joiner: Text


class GroupRequests(Reply):
    group: Group
    joinRequests: list[JoinRequest] = field(default_factory=list)


class Ban(Reply):
    groupId: Number
    offender: Text
    admin: Text
    banned: Milliseconds
    reason: Text | None = None
    expiry: Milliseconds | None = None


class Kick(Reply):
    groupId: Number
    member: Text
    timestamp: Milliseconds
    reason: Text | None = None


class YearCount(Reply):
    """How often an account did something in a year, or had it done to it."""

    address: Text
    count: Count
    name: Text | None = None
