"""Base58 as Qortal writes it, and its addresses: 25 bytes of version, hash and checksum."""

import functools
import hashlib

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
ACCOUNT_VERSION = 58
CONTRACT_VERSION = 23

_NO_DIGIT = 255
# The value of each byte, as `bytes.translate` takes them.
_DIGITS = bytes(
    ALPHABET.index(letter) if letter in ALPHABET else _NO_DIGIT for letter in map(chr, range(256))
)
_ADDRESS_CHARS = 34
_ADDRESS_BYTES = 25
_PUBLIC_KEY_BYTES = 32
# Decoding time grows with the square of the length. A block signature, the longest thing Qortal writes
# this way, has 175 characters.
_LONGEST = 200


def decode(text: str, at_most: int = _LONGEST) -> bytes:
    """Raises: ValueError if the text is not Base58, or is longer than `at_most`."""
    if len(text) > at_most:
        raise ValueError("too long for Base58")
    digits = text.encode().translate(_DIGITS)
    if _NO_DIGIT in digits:
        raise ValueError("not Base58")
    number = 0
    for digit in digits:
        number = number * 58 + digit
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def encode(data: bytes) -> str:
    number = int.from_bytes(data)
    letters = []
    while number:
        number, digit = divmod(number, 58)
        letters.append(ALPHABET[digit])
    zeros = len(data) - len(data.lstrip(b"\0"))
    return "1" * zeros + "".join(reversed(letters))


def is_bytes(text: str, count: int) -> bool:
    """True for exactly that many bytes in Base58."""
    try:
        return len(decode(text)) == count
    except ValueError:
        return False


def is_address(text: str) -> bool:
    """True for an account (Q…) or a contract (A…) with a correct checksum."""
    return len(text) == _ADDRESS_CHARS and _is_address(text)


# The same address is checked by a tool, by its endpoints and by the next call.
@functools.lru_cache(maxsize=4096)
def _is_address(text: str) -> bool:
    try:
        raw = decode(text)
    except ValueError:
        return False
    return (
        len(raw) == _ADDRESS_BYTES
        and raw[0] in (ACCOUNT_VERSION, CONTRACT_VERSION)
        and _checksum(raw[:21]) == raw[21:]
    )


class NoRipemd(RuntimeError):
    """This Python cannot compute addresses."""


def address_of(public_key: str) -> str:
    """The account that a public key belongs to.

    Raises: ValueError if it is not a public key; NoRipemd if this Python's OpenSSL was built
    without RIPEMD-160.
    """
    raw = decode(public_key)
    if len(raw) != _PUBLIC_KEY_BYTES:
        raise ValueError("a public key has 32 bytes")
    try:
        ripemd = hashlib.new("ripemd160", hashlib.sha256(raw).digest())
    except ValueError as exc:
        raise NoRipemd("this Python has no RIPEMD-160, which Qortal addresses need") from exc
    body = bytes([ACCOUNT_VERSION]) + ripemd.digest()
    return encode(body + _checksum(body))


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4]
