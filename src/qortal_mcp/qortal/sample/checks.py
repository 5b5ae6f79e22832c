"""What Core checks before it looks anything up."""

from ..base58 import is_address
from .replies import core_error


def valid_address(address: str) -> str:
    if not is_address(address):
        raise core_error(102)
    return address
