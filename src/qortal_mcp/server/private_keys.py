"""Does a text look like a key or a seed phrase? Such arguments are refused, and never repeated."""

import hashlib
import re

_SEED_PHRASE = re.compile(r"[a-z]{3,8}(?:[\s,]+[a-z]{3,8}){11,23}")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]*-----")
_HEX_KEY = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{128})")
# Extended private keys of wallets: xprv, yprv, zprv and their test-net kin.
_EXTENDED_KEY = re.compile(r"[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]{90,120}")
_BASE58_TEXT = re.compile(r"[1-9A-HJ-NP-Za-km-z]{40,90}")
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
_LONGEST = 1000


def looks_secret(text: str) -> bool:
    """True for seed phrases, PEM blocks, WIF keys, and raw keys of 32 or 64 bytes in hex or Base58."""
    if len(text) < 40:  # twelve words of three letters are 47 characters, every key is longer
        return False
    text = text[:_LONGEST].strip()
    if _PEM.search(text) or _HEX_KEY.fullmatch(text) or _EXTENDED_KEY.fullmatch(text):
        return True
    if _SEED_PHRASE.fullmatch(text):
        return True
    return bool(_BASE58_TEXT.fullmatch(text)) and _is_base58_key(text)


def _is_base58_key(text: str) -> bool:
    number = 0
    for letter in text:
        number = number * 58 + _DIGITS[letter]
    zeros = len(text) - len(text.lstrip("1"))
    raw = b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)
    if len(raw) in (32, 64):
        return True
    return len(raw) in (37, 38) and _checksum(raw[:-4]) == raw[-4:]


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
