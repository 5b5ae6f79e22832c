"""Places inside values of servers, shortened: names may have a million characters."""

from hashlib import sha256

_KEY_CHARS = 60
_PATH_CHARS = 200


def within(path: str, key: str) -> str:
    """The place of a member."""
    return _cut(f"{path}.{_cut(key, _KEY_CHARS)}", _PATH_CHARS)


def at(path: str, index: int) -> str:
    """The place of an item."""
    return _cut(f"{path}[{index}]", _PATH_CHARS)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    # The digest keeps apart what only begins alike.
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{text[: most - 13]}…{digest}"
