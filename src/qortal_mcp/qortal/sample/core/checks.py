"""What Core checks before it looks anything up."""

from ...words.base58 import ALPHABET, is_address
from .replies import core_error

# A moment of 2017, which Core takes for the beginning of time in some filters.
_FIRST_MOMENT = 1_500_000_000_000


def valid_address(address: str) -> str:
    if not is_address(address):
        raise core_error(102)
    return address


def long_ago(timestamp: int | None) -> bool:
    """Whether a filter asks for times that Core refuses to look at."""
    return timestamp is not None and timestamp < _FIRST_MOMENT


def base58_of(text: str, number: int) -> str:
    """Base58 of any length. Anything else is the error of that number."""
    if not set(text) <= set(ALPHABET):
        raise core_error(number)
    return text
