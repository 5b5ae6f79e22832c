"""Who breaks on what: measured once with real clients, kept as data in `clients.json`, asked here.

Each case of that file was served to the clients by a stub, and what they did was written down.
"""

import functools
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from ..steps import ProbeStep

Outcome = Literal["garbage", "call fails", "tool missing", "server unusable", "hangs"]
_LETTERS: dict[str, Outcome] = {
    "G": "garbage",
    "F": "call fails",
    "M": "tool missing",
    "U": "server unusable",
    "H": "hangs",
}
# The worst comes first: where several cases are equally close, the worst is reported.
_WORST = "UHFMG.-"
# The same program in another mode is reported only if the plain one is unaffected.
_MODES = {
    "ts-sdk-2-auto": "ts-sdk-2",
    "python-sdk-2-legacy": "python-sdk-2",
    "codex+mcp_2026_07_28": "codex",
    "inspector-cli-auto": "inspector-cli",
}


# Those that speak 2026-07-28. The others were served older revisions by the same stub, which says nothing about its modern form.
MODERN_CLIENTS = (
    "codex+mcp_2026_07_28",
    "ts-sdk-2-auto",
    "inspector-cli-auto",
    "ai-sdk-mcp",
    "python-sdk-2",
    "fastmcp",
)


class Impact(Struct, frozen=True):
    """What a defect does to one client."""

    client: str
    version: str
    outcome: Outcome
    # What it or its model said.
    seen: str = ""


class Client(Struct, frozen=True):
    """A program that was measured, and how it connects. The same program in another mode has only a name and a version."""

    name: str
    version: str
    # The revision it asks for, and whether it tries server/discover first.
    asks: str = ""
    probes: str = ""
    # How many pages of a list it reads, and what it does where its session is gone.
    pages: str = ""
    stale: str = ""


class _Case(Struct, frozen=True):
    code: str
    era: Literal["any", "modern"]
    # What distinguishes it from the other cases of its code.
    form: str = ""
    # One letter per client, in the order of `clients`.
    outcomes: str = ""
    seen: dict[str, str] = {}


class _Measured(Struct, frozen=True):
    measured: str
    clients: dict[str, Client]
    cases: dict[str, _Case]


@functools.cache
def _measured() -> _Measured:
    data = resources.files(__package__).joinpath("clients.json").read_bytes()
    return msgspec.json.decode(data, type=_Measured)


def measured_on() -> str:
    """The day of the measurement."""
    return _measured().measured


def measured_clients() -> tuple[str, ...]:
    """The programs that were measured, each once."""
    return tuple(one.name for key, one in _measured().clients.items() if key not in _MODES)


class Behaviour(Struct, frozen=True):
    """One form of a defect, and what each client did with it. A client that is missing was not measured with it."""

    name: str
    code: str
    form: str
    is_modern: bool
    # By the key of the client; None: it is not affected.
    outcomes: dict[str, Outcome | None]
    seen: dict[str, str]


def clients(*, modes: bool = False) -> dict[str, Client]:
    """The clients by their keys; with `modes` also those that were measured a second time, in another mode."""
    return {key: one for key, one in _measured().clients.items() if modes or key not in _MODES}


def behaviours(code: str = "") -> list[Behaviour]:
    """What was measured, of one code or of all."""
    return [
        Behaviour(name, case.code, case.form, case.era == "modern", _outcomes(case), case.seen)
        for name, case in _measured().cases.items()
        if code in ("", case.code)
    ]


def _outcomes(case: _Case) -> dict[str, Outcome | None]:
    return {
        key: _LETTERS.get(letter)
        for key, letter in zip(_measured().clients, case.outcomes, strict=True)
        if letter != "-" and (case.era != "modern" or key in MODERN_CLIENTS)
    }


def measured_codes() -> dict[str, list[str]]:
    """The codes that were measured, each with its cases."""
    codes: dict[str, list[str]] = {}
    for name, case in _measured().cases.items():
        codes.setdefault(case.code, []).append(name)
    return codes


# What an audit sends and no client does. A defect in the answer to one of these breaks nobody.
_SENT_BY_NOBODY = frozenset[ProbeStep](
    {
        "unknown-method",
        "unknown-notification",
        "unknown-tool",
        "call-without-name",
        "bad-cursor",
        "string-id",
        "extra-member",
        "unknown-prompt",
        "prompt-without-argument",
        "unknown-reference",
        "unknown-resource",
        "bad-log-level",
        "raw batch",
        "after-batch",
        "raw garbage",
        "after-garbage",
        "bad-version-header",
        "foreign-origin",
        "no-session",
    }
)
# Measured with what clients do send and a server does not know: server/discover, and lists it does not have.
_ABOUT_THE_UNKNOWN = frozenset({"method-error-in-result", "exit-on-unknown-method", "rpc-error-status"})
_HANDSHAKE_ONLY = frozenset({"notification-answered", "notification-status", "notification-refused"})


def _is_met(code: str, step: str) -> bool:
    """Whether clients come across a defect in this step."""
    if code in _HANDSHAKE_ONLY:
        # The others that clients send were not measured.
        return step in ("", "notifications/initialized")
    return step not in _SENT_BY_NOBODY or code in _ABOUT_THE_UNKNOWN


def impact(code: str, case: str = "", *, modern: bool = False, step: str = "") -> tuple[Impact, ...]:
    """Who breaks on a defect. Without a case: on any of those that were measured for its code; without a step: wherever it is."""
    if not _is_met(code, step):
        return ()
    table = _measured()
    near = [table.cases[case]] if case in table.cases else _cases_of(code, modern)
    found = []
    for at, (key, client) in enumerate(table.clients.items()):
        worst = min(near, key=lambda one: _WORST.index(one.outcomes[at]), default=None)
        if worst is not None and (outcome := _LETTERS.get(worst.outcomes[at])) is not None:
            found.append((key, Impact(client.name, client.version, outcome, worst.seen.get(key, ""))))
    hit = {key for key, _ in found}
    return tuple(one for key, one in found if _MODES.get(key) not in hit)


def _cases_of(code: str, modern: bool) -> list[_Case]:
    mine = [one for one in _measured().cases.values() if one.code == code]
    era = [one for one in mine if (one.era == "modern") is modern]
    return era or mine
