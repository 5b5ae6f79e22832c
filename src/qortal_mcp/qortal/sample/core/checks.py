"""What Core checks before it looks anything up."""

from ...words.base58 import ALPHABET, is_address
from .replies import core_error

# A moment in 2017, the earliest time that some of Core's filters accept.
_FIRST_MOMENT = 1_500_000_000_000


def valid_address(address: str) -> str:
    if not is_address(address):
        raise core_error(102)
    return address


def long_ago(timestamp: int | None) -> bool:
    """Whether a filter has a time that Core refuses."""
    return timestamp is not None and timestamp < _FIRST_MOMENT


def base58_of(text: str, number: int) -> str:
    """Base58 of any length. Anything else raises the error with that number."""
    if not set(text) <= set(ALPHABET):
        raise core_error(number)
    return text
