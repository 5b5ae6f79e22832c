"""Who breaks on what: measured once with real clients, kept as data in `clients.json`, asked here.

Each case of that file was served to the clients by a stub, and what they did was written down.
"""

import functools
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

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


class Impact(Struct, frozen=True):
    """What a defect does to one client."""

    client: str
    version: str
    outcome: Outcome
    # What it or its model said.
    seen: str = ""


class _Client(Struct, frozen=True):
    name: str
    version: str


class _Case(Struct, frozen=True):
    code: str
    era: Literal["any", "modern"]
    # One letter per client, in the order of `clients`.
    outcomes: str
    seen: dict[str, str] = {}


class _Measured(Struct, frozen=True):
    measured: str
    clients: dict[str, _Client]
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


def measured_codes() -> dict[str, list[str]]:
    """The codes that were measured, each with its cases."""
    codes: dict[str, list[str]] = {}
    for name, case in _measured().cases.items():
        codes.setdefault(case.code, []).append(name)
    return codes


def impact(code: str, case: str = "", *, modern: bool = False) -> tuple[Impact, ...]:
    """Who breaks on a defect. Without a case: on any of those that were measured for its code."""
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
