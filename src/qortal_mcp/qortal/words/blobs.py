"""Data where text is expected: nobody can read it, and a model pays for every character. Shown as its kind and size."""

import re
from base64 import b64encode

from ..limits import BLOB_CHARS

_BASE64 = re.compile(r"(?:data:([\w.+-]{1,40}/[\w.+-]{1,40});base64,)?([A-Za-z0-9+/_-]+)={0,2}")
# Neither a word of any length nor Base58, in which Core writes keys and bytes, has all of these.
_MARKS = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]", "[0OIl+/_-]")))
# How data begins that the apps of Qortal encrypted themselves and then sent as text.
_ENCRYPTED = tuple(
    b64encode(words).decode().rstrip("=")[:-1]
    for words in (b"qortalEncryptedData", b"qortalGroupEncryptedData")
)


def is_encrypted(text: str) -> bool:
    """Whether an app encrypted this before it was sent as text."""
    return text.startswith(_ENCRYPTED) and _BASE64.fullmatch(text) is not None


def summary(text: str) -> str | None:
    """What to show instead of long data in Base64; None for everything else."""
    if len(text) <= BLOB_CHARS:
        return None
    found = _BASE64.fullmatch(text)
    if found is None or not all(mark.search(found[2]) for mark in _MARKS):
        return None
    kind = "encrypted data" if is_encrypted(text) else found[1] or "Base64 data"
    return sized(kind, base64_bytes(found[2]))


def base64_bytes(text: str) -> int:
    """How many bytes a text in Base64 stands for."""
    return len(text.rstrip("=")) * 3 // 4


def sized(kind: str, size: int) -> str:
    return f"[{kind}, {size} bytes]"
