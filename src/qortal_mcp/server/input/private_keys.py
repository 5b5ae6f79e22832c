"""Does a text look like a key or a seed phrase? Such arguments are refused, and never repeated."""

import re
import unicodedata
from itertools import pairwise
from typing import Any

from ...patterns import Pattern
from ...text import original

_SEED_PHRASE = Pattern(r"[a-z]{3,8}(?:[\s,]+[a-z]{3,8}){11,23}")
# Twelve such words in a row within other text, in any case, perhaps numbered. Prose has one of these among them, and
# the usual list of words for seed phrases has none of them.
_PROSE = "the|and|for|are|with|from|was|were|has|not|but|our|your|his|her|their|should|would|could|does|which|who|how"
_WORD = rf"(?!(?:{_PROSE})(?![a-z]))[a-z]{{3,8}}(?![a-z])"
_WORDS_IN_A_ROW = Pattern(
    rf"(?<![a-z]){_WORD}(?:(?=[\W\d_]{{0,7}}[\s,;])[\W\d_]{{1,8}}{_WORD}){{11}}", re.IGNORECASE
)
# The same in lower case alone, joined by anything: hyphens, dots, slashes, or a mixture.
_JOINED_WORDS = Pattern(rf"(?<![A-Za-z]){_WORD}(?:[\W\d_]{{1,8}}{_WORD}){{11}}(?![A-Za-z])")
# Nothing but such words, in any case and joined by anything, or by their capitals.
_WORDS_ALONE = Pattern(rf"[\W\d_]*{_WORD}(?:[\W\d_]+{_WORD}){{11,23}}[\W\d_]*", re.IGNORECASE)
_CAPITAL_WORDS = Pattern(rf"(?:(?!(?i:{_PROSE})(?![a-z]))[A-Z][a-z]{{2,7}}){{12,24}}")
_PEM = Pattern(r"-----BEGIN [A-Z0-9 ]*-----", re.IGNORECASE)
# What keys are written as: letters and digits without a break.
_TOKEN = Pattern(r"(?<![0-9A-Za-z])[0-9A-Za-z]{40,130}(?![0-9A-Za-z])")
_HEX_KEY = Pattern(r"(?<![0-9a-fA-F])(?:0[xX])?(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{128})(?![0-9a-fA-F])")
# The same in groups: a:b, a b, 0xa, 0xb, over several lines.
_HEX_GROUPS = Pattern(
    r"(?<![0-9a-z])(?:0x)?[0-9a-f]{2,}(?:[\s:.,;_/+|-]{1,8}(?:0x)?[0-9a-f]{2,})+(?![0-9a-z])", re.IGNORECASE
)
_BETWEEN_DIGITS = Pattern(r"0x|[^0-9a-f]", re.IGNORECASE)
_UUID = Pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
# 32 or 64 bytes in Base64, with padding.
_BASE64_KEY = Pattern(
    r"(?<![\w+/=-])(?=[\w+/-]*[0-9])(?=[\w+/-]*[A-Z])(?=[\w+/-]*[a-z])[\w+/-]{43}(?:[\w+/-]{43}=)?=(?![\w+/=-])",
    re.ASCII,
)
# How private keys of RSA, EC and Ed25519 begin in Base64: a sequence, its length, a version.
_DER_KEY = Pattern(r"(?<![\w+/-])M(?:II[\w+/-]{3}IBA|IG[\w+/-]AgE|[A-H][\w+/-]CAQ)[\w+/-]{30}", re.ASCII)
# Extended private keys of wallets: xprv, yprv, zprv and their test-net kin.
_EXTENDED_KEY = Pattern(r"[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]{90,120}")
# Bytes in Base58 have digits, capitals and small letters; of two thousand keys one may lack a kind, a long word has one.
_BASE58_TEXT = Pattern(r"(?=.*[1-9])(?=.*[A-Z])(?=.*[a-z])[1-9A-HJ-NP-Za-km-z]{40,90}")
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {letter: value for value, letter in enumerate(_ALPHABET)}
# Characters that change the one before them.
_ACCENTS = ("Mn", "Me")
# Texts are looked at as far as this. The longest that any tool takes has 800 characters.
_LONGEST = 20_000


def holds_secret(value: Any) -> bool:
    """Whether a text or a list of texts holds a secret, perhaps in pieces. What lists hold besides texts is not looked at."""
    if isinstance(value, str):
        return looks_secret(value)
    if not isinstance(value, list):
        return False
    texts = [item for item in value if isinstance(item, str)]
    return any(map(looks_secret, texts)) or looks_secret(" ".join(texts)) or looks_secret("".join(texts))


def looks_secret(text: str, *, may_be_raw: bool = False) -> bool:
    """True where a text is or holds a seed phrase, a PEM block, a WIF key, or a raw key of 32 or 64 bytes.

    Other letters that look the same to a reader, accents and hidden characters disguise nothing. Hidden characters written as `\\u{XXXX}` count as the characters themselves. `may_be_raw`: raw keys are let through, since
    hashes, signatures and public keys look the same.
    """
    if len(text) < 40:  # twelve words of three letters are 47 characters, every key is longer
        return False
    text = original(text[:_LONGEST]).strip()
    if _PEM.search(text) or _WORDS_IN_A_ROW.search(text) or _JOINED_WORDS.search(text):
        return True
    # The path of a URI may be a secret as a whole.
    path = text.partition("://")[2].partition("/")[2]
    forms = _forms(text) + (_forms(path) if path else [])
    return any(_is_phrase(form) or _holds_key(form, may_be_raw) for form in forms)


def _forms(text: str) -> list[str]:
    """The text in plain letters: without accents, styles and widths, hidden characters left out or read as spaces."""
    if text.isascii():
        return [text]
    # Accents go first: many in a row would take long to bring into order.
    bare = "".join([letter for letter in text if unicodedata.category(letter) not in _ACCENTS])
    plain = unicodedata.normalize("NFKD", bare)[:_LONGEST]
    kinds = [(letter, unicodedata.category(letter)) for letter in plain]
    return [
        "".join(
            [hidden if kind == "Cf" else letter for letter, kind in kinds if kind not in _ACCENTS]
        ).strip()
        for hidden in ("", " ")
    ]


def _is_phrase(text: str) -> bool:
    return any(phrase.fullmatch(text) for phrase in (_SEED_PHRASE, _WORDS_ALONE, _CAPITAL_WORDS))


def _holds_key(text: str, may_be_raw: bool) -> bool:
    if _DER_KEY.search(text) or any(_is_key(token.group(), may_be_raw) for token in _TOKEN.finditer(text)):
        return True
    whole = "".join(text.split())
    if (
        len(whole) < len(text)
        and _BASE58_TEXT.fullmatch(whole)
        and _is_base58_key(whole, may_be_raw or not _is_mixed(whole))
    ):
        return True
    if may_be_raw:
        return False
    return (
        _HEX_KEY.search(text) is not None
        or _BASE64_KEY.search(text) is not None
        or any(_is_hex_in_groups(run.group()) for run in _HEX_GROUPS.finditer(text))
    )


def _is_key(token: str, may_be_raw: bool) -> bool:
    if _EXTENDED_KEY.fullmatch(token):
        return True
    return _BASE58_TEXT.fullmatch(token) is not None and _is_base58_key(token, may_be_raw)


def _is_hex_in_groups(run: str) -> bool:
    digits = _BETWEEN_DIGITS.sub("", run)
    # Numbers have no letters, words have no digits.
    is_mixed = not digits.isdecimal() and not digits.isalpha()
    return len(digits) in (64, 128) and is_mixed and not _UUID.search(run)


def _is_mixed(text: str) -> bool:
    """Whether digits, capitals and small letters alternate as in random bytes, not as in a title of several words."""
    kinds = [(letter.isdigit(), letter.isupper()) for letter in text]
    changes = sum(one != other for one, other in pairwise(kinds))
    return sum(map(str.isdigit, text)) >= 3 and changes >= 0.45 * len(text)


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
    import hashlib  # loads OpenSSL, and is not needed to start

    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
