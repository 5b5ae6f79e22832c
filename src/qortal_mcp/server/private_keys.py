"""Does a text look like a key or a seed phrase? Such arguments are refused, and never repeated."""

import hashlib
import re

from ..text import original

_SEED_PHRASE = re.compile(r"[a-z]{3,8}(?:[\s,]+[a-z]{3,8}){11,23}")
# Twelve such words in a row within other text, in any case, perhaps numbered. Prose has one of these among them, and
# the usual list of words for seed phrases has none of them.
_PROSE = "the|and|for|are|with|from|was|were|has|not|but|our|your|his|her|their|should|would|could|does|which|who|how"
_WORD = rf"(?!(?:{_PROSE})(?![a-z]))[a-z]{{3,8}}(?![a-z])"
_WORDS_IN_A_ROW = re.compile(
    rf"(?<![a-z]){_WORD}(?:(?=[\W\d_]{{0,7}}[\s,;])[\W\d_]{{1,8}}{_WORD}){{11}}", re.IGNORECASE
)
# The same in lower case alone, joined by anything: hyphens, dots, slashes, or a mixture.
_JOINED_WORDS = re.compile(rf"(?<![A-Za-z]){_WORD}(?:[\W\d_]{{1,8}}{_WORD}){{11}}(?![A-Za-z])")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]*-----", re.IGNORECASE)
# What keys are written as: letters and digits without a break.
_TOKEN = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]{40,130}(?![0-9A-Za-z])")
_HEX_KEY = re.compile(r"(?:0x)?(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{128})")
# Extended private keys of wallets: xprv, yprv, zprv and their test-net kin.
_EXTENDED_KEY = re.compile(r"[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]{90,120}")
# Bytes in Base58 have digits, capitals and small letters; of two thousand keys one may lack a kind, a long word has one.
_BASE58_TEXT = re.compile(r"(?=.*[1-9])(?=.*[A-Z])(?=.*[a-z])[1-9A-HJ-NP-Za-km-z]{40,90}")
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
# Texts are looked at as far as this. The longest that any tool takes has 800 characters.
_LONGEST = 20_000


def looks_secret(text: str, *, may_be_raw: bool = False) -> bool:
    """True where a text is or holds a seed phrase, a PEM block, a WIF key, or a raw key of 32 or 64 bytes.

    Hidden characters written as `\\u{XXXX}` count as the characters themselves. `may_be_raw`: raw keys are let through, since
    hashes, signatures and public keys look the same.
    """
    if len(text) < 40:  # twelve words of three letters are 47 characters, every key is longer
        return False
    text = original(text[:_LONGEST]).strip()
    if (
        _PEM.search(text)
        or _SEED_PHRASE.fullmatch(text)
        or _WORDS_IN_A_ROW.search(text)
        or _JOINED_WORDS.search(text)
    ):
        return True
    return any(_is_key(token.group(), may_be_raw) for token in _TOKEN.finditer(text))


def _is_key(token: str, may_be_raw: bool) -> bool:
    if _EXTENDED_KEY.fullmatch(token):
        return True
    if _HEX_KEY.fullmatch(token):
        return not may_be_raw
    return _BASE58_TEXT.fullmatch(token) is not None and _is_base58_key(token, may_be_raw)


def _is_base58_key(text: str, may_be_raw: bool) -> bool:
    number = 0
    for letter in text:
        number = number * 58 + _DIGITS[letter]
    zeros = len(text) - len(text.lstrip("1"))
    raw = b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)
    if len(raw) in (32, 64):
        return not may_be_raw
    return len(raw) in (37, 38) and _checksum(raw[:-4]) == raw[-4:]


def _checksum(payload: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
