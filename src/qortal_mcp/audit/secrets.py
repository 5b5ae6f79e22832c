"""Secrets of the person who audits: what looks like one is hidden, and what is one is taken out of all that was seen."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from msgspec import structs

from .evidence import Evidence, Gap, Headers, Heard, Step

# What is sent under these names stays out of every report.
SECRET = re.compile(
    r"authorization|cookie|token|secret|password|passwd|passphrase|api[-_]?key|access[-_]?key|private[-_]?key"
    r"|credential|bearer",
    re.IGNORECASE,
)
HIDDEN = "***"
# Shorter values are words like any other: without them a report could not be read.
_SHORTEST = 6
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_SCHEME = re.compile(r"\b(bearer|basic)\s+[^\s\"']+", re.IGNORECASE)
_HEADER = re.compile(r"\s*([\w-]+)\s*:\s*\S.*", re.DOTALL)
_MEMBER = re.compile(r"(\"([^\"]+)\"\s*:\s*)\"[^\"]*\"")


def without_secrets(argv: Sequence[str]) -> tuple[str, ...]:
    """A command line that can be shown: what follows an option with a telling name is hidden, and its like."""
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
    """An address without name, password, and values of telling parameters."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return HIDDEN  # no address; nothing can be told of what it holds
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(
        f"{piece.partition('=')[0]}={HIDDEN}" if SECRET.search(piece.partition("=")[0]) else piece
        for piece in parts.query.split("&")
    )
    return urlunsplit((parts.scheme, host, parts.path, query if parts.query else "", ""))


# -- taking out -----------------------------------------------------------------------------------------------


def values_in(target: str | Sequence[str], headers: Headers) -> frozenset[str]:
    """The secrets that an audit was given: a server may repeat them."""
    found: set[str] = set()
    for _, value in headers:
        found |= {value, *value.split()}
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
_PLAIN = frozenset({"bearer", "basic", "authorization:"})


def _of_url(url: str) -> set[str]:
    try:
        parts = urlsplit(url)
        found = {unquote(parts.password or ""), parts.password or ""}
    except ValueError:
        return set()
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


def without(text: str, secrets: Iterable[str]) -> str:
    """A text in which no secret stands any more."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def taken_out(evidence: Evidence, secrets: frozenset[str]) -> Evidence:
    """Evidence in which no secret stands any more, wherever the server repeated it."""
    if not secrets:
        return evidence
    return structs.replace(
        evidence,
        visits=tuple(
            structs.replace(visit, steps=tuple(_step(step, secrets) for step in visit.steps))
            for visit in evidence.visits
        ),
        gaps=tuple(
            Gap(without(gap.what, secrets), without(gap.reason, secrets), gap.weighs) for gap in evidence.gaps
        ),
    )


def _step(step: Step, secrets: frozenset[str]) -> Step:
    http = step.http
    if http is not None:
        told = tuple((name, without(value, secrets)) for name, value in http.headers)
        sent = tuple((name, without(value, secrets)) for name, value in http.sent)
        http = structs.replace(http, headers=told, sent=sent, path=without(http.path, secrets))
    return structs.replace(
        step,
        text=without(step.text, secrets),
        heard=tuple(_heard(one, secrets) for one in step.heard),
        http=http,
        remark=without(step.remark, secrets),
    )


def _heard(heard: Heard, secrets: frozenset[str]) -> Heard:
    data = heard.base64
    for secret in secrets:
        data = data.replace(secret.encode(), HIDDEN.encode())
    return structs.replace(heard, text=without(heard.text, secrets), base64=data)
