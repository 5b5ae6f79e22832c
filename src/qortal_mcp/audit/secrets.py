"""Secrets of the person who audits: what looks like one is hidden, and what is one is taken out of all that was seen."""

import base64
import binascii
import functools
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from msgspec import Struct, structs

from .evidence import Evidence, Headers

# What is sent under these names stays out of every report.
SECRET = re.compile(
    r"authorization|cookie|token|secret|password|passwd|passphrase|api[-_]?key|access[-_]?key|private[-_]?key"
    r"|credential|bearer",
    re.IGNORECASE,
)
HIDDEN = "***"
# Shorter values are words like any other: without them a report could not be read.
_SHORTEST = 6
# What ends the sentence or bracket that an address stands in is not part of it.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+(?<![),.:;])")
# What a server writes after the scheme when it asks for a token is not one.
_CHALLENGE = r"(?:realm|scope|error|error_description|error_uri|resource_metadata|charset)=\""
_SCHEME = re.compile(rf"\b(bearer|basic)\s+(?!{_CHALLENGE})[^\s\"']+", re.IGNORECASE)
_HEADER = re.compile(r"\s*([\w-]+)\s*:\s*\S.*", re.DOTALL)
_MEMBER = re.compile(r"(\"([^\"]+)\"\s*:\s*)\"[^\"]*\"")


def without_secrets(argv: Sequence[str]) -> tuple[str, ...]:
    """A command line that can be shown: what follows an option with a name like "token" is hidden."""
    shown: list[str] = []
    hide = False
    for word in argv:
        name, equals, _ = word.partition("=")
        header = _HEADER.fullmatch(word)
        if hide:
            shown.append(HIDDEN)
        elif equals and SECRET.search(name) and "://" not in name:
            shown.append(f"{name}={HIDDEN}")
        elif header is not None and SECRET.search(header[1]):
            shown.append(f"{header[1]}: {HIDDEN}")
        else:
            shown.append(_without(word))
        hide = not hide and word.startswith("-") and not equals and SECRET.search(name) is not None
    return tuple(shown)


def _without(word: str) -> str:
    word = _URL.sub(lambda match: safe_url(match[0]), word)
    word = _MEMBER.sub(lambda match: f'{match[1]}"{HIDDEN}"' if SECRET.search(match[2]) else match[0], word)
    return _SCHEME.sub(lambda match: f"{match[1]} {HIDDEN}", word)


def safe_url(url: str) -> str:
    """An address without name, password, and the values of parameters with such names."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN  # not an address, so any part of it may be a secret
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(
        f"{piece.partition('=')[0]}={HIDDEN}" if SECRET.search(piece.partition("=")[0]) else piece
        for piece in parts.query.split("&")
    )
    return urlunsplit((parts.scheme, host, parts.path, query if parts.query else "", ""))


def values_in(target: str | Sequence[str], headers: Headers) -> frozenset[str]:
    """The secrets that an audit was given: a server may repeat them."""
    found: set[str] = set()
    for name, value in headers:
        if name.lower() not in _OF_THE_PROTOCOL:
            found |= _of_header(value)
    if isinstance(target, str):
        found |= _of_url(target)
    else:
        for word, shown in zip(target, without_secrets(target), strict=True):
            if shown != word:
                found |= _hidden_part(word)
                for match in _URL.finditer(word):
                    found |= _of_url(match[0])
    return frozenset(value for value in found if len(value) >= _SHORTEST and value.lower() not in _PLAIN)


# Words that stand beside a secret.
_PLAIN = frozenset({"bearer", "basic", "digest", "authorization:"})
# What stands in these is in every message anyway; without it nothing could be judged.
_OF_THE_PROTOCOL = frozenset({"accept", "accept-encoding", "content-type", "mcp-protocol-version"})
_BETWEEN = re.compile(r"[\s;,]+")


def _of_header(value: str) -> set[str]:
    """A value, its words, and what is inside them: a cookie's value, the name and password of Basic."""
    found = {value, *value.split()}
    for word in _BETWEEN.split(value):
        inner = word.partition("=")[2]
        found |= {word, word.strip('"'), inner, inner.strip('"')}
    scheme, _, rest = value.partition(" ")
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(rest.strip(), validate=True).decode()
        except (binascii.Error, ValueError):
            return found
        found |= {pair, pair.partition(":")[2]}
    return found


def _of_url(url: str) -> set[str]:
    try:
        parts = urlsplit(url)
        user, password = parts.username or "", parts.password or ""
    except ValueError:
        return set()
    # A name without a password is a token.
    found = {password, unquote(password)} if password else {user, unquote(user)}
    if password:
        # A client sends it as Base64 of both.
        found |= {f"{user}:{password}", f"{unquote(user)}:{unquote(password)}"}
    for name, value in parse_qsl(parts.query):
        if SECRET.search(name):
            found.add(value)
    raw = [piece.partition("=") for piece in parts.query.split("&")]
    return found | {value for name, _, value in raw if SECRET.search(name)}


def _hidden_part(word: str) -> set[str]:
    if "://" in word:
        return set()
    found = {match[0].split()[-1] for match in _SCHEME.finditer(word)}
    found |= {match[0][len(match[1]) + 1 : -1] for match in _MEMBER.finditer(word) if SECRET.search(match[2])}
    return found or {word, word.partition("=")[2], word.partition(":")[2].strip()}


def without(text: str, secrets: frozenset[str]) -> str:
    """A text in which no secret stands any more, in whatever usual way it is written: as it is, with escapes of JSON,
    addresses or HTML, as Base64, as hexadecimal digits. Case is ignored: header names come in either.
    """
    if not secrets:
        return text
    # A quick look first: the texts are long, and hardly any holds a secret.
    low = text.lower()
    plain = _ESCAPE.sub(_meant, low) if _ESCAPING.search(low) else low
    found = frozenset(
        form for form, looks in _forms(secrets) if any(look in low or look in plain for look in looks)
    )
    return _written(found).sub(HIDDEN, text) if found else text


_ESCAPING = re.compile(r"[\\%&\0]")
# In a text without capitals.
_ESCAPE = re.compile(
    r"\\{1,8}u([0-9a-f]{4})|\\{1,8}([\"/'])|\\(\\)|%([0-9a-f]{2})|&#0{0,6}([0-9]{1,6});|&#x0{0,6}([0-9a-f]{1,5});|&([a-z]{2,4});|\0"
)


def _meant(match: re.Match[str]) -> str:
    unit, escaped, backslash, byte, number, digits, name = match.groups()
    if escaped or backslash:
        return escaped or backslash
    if name:
        return _NAMES.get(name, match[0])
    code = int(number) if number else int(unit or byte or digits or "0", 16)
    return chr(code).lower() if 0 < code < 0x110000 else ""


@functools.lru_cache(maxsize=8)
def _forms(secrets: frozenset[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    """All ways to encode the secrets, each with what it looks like in a text without capitals and escapes."""
    forms = sorted({form for secret in secrets for form in (secret, *_encoded(secret))})
    # UTF-8 may have been read as Latin-1.
    return tuple(
        (form, frozenset({form.lower(), form.encode("utf-8", "surrogatepass").decode("latin-1").lower()}))
        for form in forms
    )


@functools.lru_cache(maxsize=64)
def _written(forms: frozenset[str]) -> re.Pattern[str]:
    # The longest first: a part of a secret is hidden only where the whole is not there.
    longest = sorted(forms, key=lambda form: (-len(form), form))
    # Sixteen-bit text has a zero beside each character.
    return re.compile("|".join("\\0?".join(map(_one, form)) for form in longest))


def _encoded(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogatepass")
    found = {data.hex()}
    for before in range(3):
        # Wherever it stands in what was encoded: its first and last digits depend on its neighbours.
        text = base64.b64encode(bytes(before) + data).decode().rstrip("=")
        inner = text[(0, 2, 3)[before] : None if (before + len(data)) % 3 == 0 else -1]
        found |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form for form in found if len(form) >= _SHORTEST}


def _one(character: str) -> str:
    """A pattern for one character in all ways of writing it. Each begins with a plain character: that is fast to search."""
    found: dict[str, None] = {}
    for one in dict.fromkeys((character, character.lower(), character.upper())):
        if len(one) != 1:
            continue  # as the capital of a sharp s
        data = one.encode("utf-8", "surrogatepass")
        found[re.escape(one)] = None
        found[re.escape(data.decode("latin-1"))] = None
        units = one.encode("utf-16-be", "surrogatepass").hex()
        found["".join(rf"\\\\{{0,7}}u{_hex(units[at : at + 4])}" for at in range(0, len(units), 4))] = None
        found["".join(f"%{_hex(f'{byte:02x}')}" for byte in data)] = None
        found[rf"&\#(?:0{{0,6}}{ord(one)}|[xX]0{{0,6}}{_hex(f'{ord(one):x}')});"] = None
    if character in _ESCAPABLE:
        found[rf"\\\\{{0,7}}{re.escape(character)}"] = None
    if character in _ENTITIES:
        found[_ENTITIES[character]] = None
    return f"(?:{'|'.join(found)})"


def _hex(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


# Characters that a backslash may stand before in JSON.
_ESCAPABLE = "\"/'\\"
_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ENTITIES = {character: f"&{name};" for name, character in _NAMES.items()}
# Fields that the audit writes itself, never the server.
_OUR_WORDS = frozenset({"name", "transport", "revision", "end", "method"})


def taken_out(evidence: Evidence, secrets: frozenset[str]) -> Evidence:
    """Evidence in which no secret stands any more, wherever the server repeated it."""
    return _clean(evidence, secrets) if secrets else evidence


def _clean(value: Any, secrets: frozenset[str]) -> Any:
    """Every text in it: the names of tools and headers, the names and ids of events, and all that was said."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, bytes):
        text = without(value.decode("utf-8", "surrogateescape"), secrets)
        return without(text.encode("utf-8", "surrogateescape").decode("latin-1"), secrets).encode("latin-1")
    if isinstance(value, tuple):
        return tuple(_clean(part, secrets) for part in value)
    if isinstance(value, Struct):
        parts = {name: getattr(value, name) for name in value.__struct_fields__ if name not in _OUR_WORDS}
        return structs.replace(value, **{name: _clean(part, secrets) for name, part in parts.items()})
    return value
