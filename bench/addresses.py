"""Qortal addresses for requests, and the check of one: plain Python, so that every server under test runs the same."""

import hashlib
import random
from collections.abc import Iterator

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
_ACCOUNT = 58


def addresses(seed: int) -> Iterator[str]:
    """Valid addresses without end, the same ones for the same seed."""
    source = random.Random(seed)
    while True:
        body = bytes([_ACCOUNT]) + source.randbytes(20)
        number = int.from_bytes(body + _checksum(body))
        letters = ""
        while number:
            number, digit = divmod(number, 58)
            letters = _ALPHABET[digit] + letters
        yield letters


def is_address(text: str) -> bool:
    if len(text) != 34 or not all(letter in _DIGITS for letter in text):
        return False
    number = 0
    for letter in text:
        number = number * 58 + _DIGITS[letter]
    raw = number.to_bytes(26)[1:]
    return raw[0] == _ACCOUNT and _checksum(raw[:21]) == raw[21:]


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4]
