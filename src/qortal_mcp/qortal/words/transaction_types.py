"""The kinds of transaction, as Core names them."""

# In the order of Core's own numbers, which start at 1.
TRANSACTION_TYPES = (
    "GENESIS",
    "PAYMENT",
    "REGISTER_NAME",
    "UPDATE_NAME",
    "SELL_NAME",
    "CANCEL_SELL_NAME",
    "BUY_NAME",
    "CREATE_POLL",
    "VOTE_ON_POLL",
    "ARBITRARY",
    "ISSUE_ASSET",
    "TRANSFER_ASSET",
    "CREATE_ASSET_ORDER",
    "CANCEL_ASSET_ORDER",
    "MULTI_PAYMENT",
    "DEPLOY_AT",
    "MESSAGE",
    "CHAT",
    "PUBLICIZE",
    "AIRDROP",
    "AT",
    "CREATE_GROUP",
    "UPDATE_GROUP",
    "ADD_GROUP_ADMIN",
    "REMOVE_GROUP_ADMIN",
    "GROUP_BAN",
    "CANCEL_GROUP_BAN",
    "GROUP_KICK",
    "GROUP_INVITE",
    "CANCEL_GROUP_INVITE",
    "JOIN_GROUP",
    "LEAVE_GROUP",
    "GROUP_APPROVAL",
    "SET_GROUP",
    "UPDATE_ASSET",
    "ACCOUNT_FLAGS",
    "ENABLE_FORGING",
    "REWARD_SHARE",
    "ACCOUNT_LEVEL",
    "TRANSFER_PRIVS",
    "PRESENCE",
)

# Made by the chain itself, or unused: nobody sends one.
NOT_SENT = frozenset({"GENESIS", "AT", "AIRDROP", "ENABLE_FORGING"})

# What Core leaves out of transactions of these types.
NOT_REPORTED = {
    "TRANSFER_PRIVS": "the recipient",
    "CANCEL_GROUP_INVITE": "the group and who was invited",
}

_KNOWN = frozenset(TRANSACTION_TYPES)


def find_type(text: str) -> str | None:
    """By name in any case."""
    name = text.strip().upper()
    return name if name in _KNOWN else None
