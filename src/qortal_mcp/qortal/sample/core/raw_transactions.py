"""The bytes of a transaction, for the two types whose JSON leaves out the other account."""

from ...words.base58 import ALPHABET, encode

# Type, time, group, reference and the maker's key come first in every transaction.
_HEAD = 4 + 8 + 4 + 64 + 32
_ADDRESS = 25
# The position of the address.
_OFFSETS = {"TRANSFER_PRIVS": _HEAD, "CANCEL_GROUP_INVITE": _HEAD + 4}


def participant_in(kind: str, raw: str) -> str | None:
    """The other account that the bytes name; None for types whose JSON has it."""
    offset = _OFFSETS.get(kind)
    if offset is None:
        return None
    number = 0
    for letter in raw:
        number = number * 58 + ALPHABET.index(letter)
    zeros = len(raw) - len(raw.lstrip("1"))
    data = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)
    return encode(data[offset : offset + _ADDRESS])
