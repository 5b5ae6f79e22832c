"""Traders by public key: Core finds their trades by nothing else."""

from msgspec import UNSET, UnsetType

from ...endpoints.addresses import PUBLIC_KEY
from ...node.node import Reading
from ...words.base58 import is_address

NO_KEY = "false"
KEY_UNKNOWN = "This {role}'s public key is not known on the chain, and Core finds trades only by key."


async def key_of(reading: Reading, account: str | UnsetType) -> str | None:
    """The public key that Core wants for an account; the text `false` if it knows none."""
    if account is UNSET:
        return None
    return await reading.get(PUBLIC_KEY, address=account) if is_address(account) else account
