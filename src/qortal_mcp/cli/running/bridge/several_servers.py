"""The servers behind one front, from a client's file and from the command line: which there are, and how each is reached."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ....audit import secrets
from ....bridge.gathered.limits import DEFAULT
from ....bridge.gathered.member import Source, Unusable
from ....bridge.gathered.names import BETWEEN, server_names
from ....bridge.way import Way
from ....client.limits import ClientLimits
from ....client.options import Options
from ....connect.entries import server_entries, server_files
from ....connect.entries.server_entries import BadEntry, Entry
from ....connect.settings_files.reading import BrokenFile, Stamp
from ....repairs.chosen import Repairs
from ....settings.bridging import RepairOptions, ServerOptions
from ....text import printable, shortened
from ..reaching import shown, small_environment
from ..ways import bridge_way

# Names of variables and headers whose values are secrets, besides those that an audit knows.
_SECRET_NAME = re.compile(r"key|pass|pwd|auth|cred|session|dsn|_pat$|^pat$", re.IGNORECASE)
# What looks like one under any name: long, without a break, of letters and digits.
_SECRET_VALUE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-+=.~]{16,}")
_SHORTEST = 6
# Tells a bridge that another one has started it, and how many stand above that.
NESTED = "_QORTAL_MCP_NESTED"
_MOST_NESTED = 3
_NAME_CHARS = 100


class Mask(Struct, frozen=True):
    """Takes secrets out of what is shown of a server. Two with the same secrets are the same."""

    known: frozenset[str]

    def __call__(self, text: str) -> str:
        return " ".join(secrets.without_secrets((secrets.without(text, self.known),)))


class Chosen(Struct, frozen=True, kw_only=True):
    """What was chosen on the command line for all servers. The same every time the file is read."""

    file: str | None
    # Of the file, before it was read for the first time: what changes while this program starts is noticed later.
    stamp: Stamp | None
    targets: tuple[str, ...]
    server: ServerOptions
    repair: RepairOptions
    repairs: Repairs
    limits: ClientLimits

    def read(self) -> dict[str, Source]:
        """Every server by the name under which it is offered, in the order of the file; then those of the command line.

        Raises: BrokenFile.
        """
        if nested() > _MOST_NESTED:
            raise BrokenFile(
                f"This bridge was started by another one, that by a third, and so on, {nested()} deep: one of the servers "
                "is the bridge itself."
            )
        entries = {} if self.file is None else server_files.read(self.file)
        found: dict[str, Entry | Unusable] = {
            name: _entry(name, raw)
            for name, raw in entries.items()
            if not server_entries.is_switched_off(raw)
        }
        for target in self.targets:
            name, entry = server_entries.read_option(target)
            found[_free(name, found)] = entry
        if not found:
            raise BrokenFile(f"The file {self.file} names no server that is switched on.")
        if len(found) > DEFAULT.servers:
            raise BrokenFile(f"There are {len(found)} servers; one front can have at most {DEFAULT.servers}.")
        if all(isinstance(one, Unusable) for one in found.values()):
            why = " ".join(f"{one.name}: {one.reason}" for one in found.values() if isinstance(one, Unusable))
            raise BrokenFile(f"The file {self.file} has no server that can be used. {shortened(why, 1000)}")
        names = server_names(found)
        return {
            names[given]: one if isinstance(one, Unusable) else self._way(names[given], one, given, names)
            for given, one in found.items()
        }

    def _way(self, name: str, entry: Entry, given: str, names: Mapping[str, str]) -> Way:
        server, repair = self.server, self.repair
        known = _secrets(entry, server.env)
        usual = small_environment(server.env, os.environ)
        way = Way(
            target=entry.target,
            name=f"{name} ({shown_target(entry, known)})",
            repairs=self.repairs,
            timeout=server.timeout,
            start_timeout=server.start_timeout,
            mask=Mask(known),
            chosen=entry.chosen,
            client=Options(
                headers=entry.headers,
                env={**usual, **entry.env, NESTED: str(nested() + 1)},
                cwd=entry.cwd,
                subprotocol=server.subprotocol or None,
                ca_file=server.ca_file,
                proxies=True,
                limits=self.limits,
            ),
        )
        return bridge_way(
            way,
            server,
            repair,
            entry.hidden | _hidden({name, given}, {*names, *names.values()}, repair.hide_tool),
        )


def nested() -> int:
    """How many bridges with several servers have started one another up to this one."""
    value = os.environ.get(NESTED, "")
    return int(value) if value.isdigit() and len(value) < 5 else 0


def shown_target(entry: Entry, known: frozenset[str]) -> str:
    return secrets.without(shown(entry.target), known)


def _entry(name: str, raw: object) -> Entry | Unusable:
    try:
        return server_entries.read(raw, os.environ)
    except BadEntry as exc:
        return Unusable(shortened(printable(name), _NAME_CHARS), str(exc))


def _free(name: str, taken: Mapping[str, object]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}{number}"
    return free


def _hidden(own: set[str], every: set[str], given: Sequence[str]) -> frozenset[str]:
    """The tools of a server that are hidden: those named for all servers, and those with a name of this one before them.

    Its name in the file counts as well as the one that it is offered under, which depends on what else is in the file.
    """
    found = set()
    for tool in given:
        before, between, rest = tool.partition(BETWEEN)
        if between and before in own:
            found.add(rest)
        elif not between or before not in every:
            found.add(tool)
    return frozenset(found)


def _secrets(entry: Entry, env: Sequence[str]) -> frozenset[str]:
    """What a server was given and may repeat."""
    named = [*entry.env.items(), *entry.used.items(), *((name, os.environ.get(name, "")) for name in env)]
    if not isinstance(entry.target, str):
        # `--key VALUE` and `--key=VALUE`; what comes without a name may still look like a secret.
        words = entry.target
        named += [*itertools.pairwise(words), *(word.partition("=")[::2] for word in words)]
        named += [("", word) for word in words[1:]]
    given = {value for name, value in named if len(value) >= _SHORTEST and _is_secret(name, value)}
    return secrets.values_in(entry.target, entry.headers) | given


def _is_secret(name: str, value: str) -> bool:
    is_named_so = secrets.SECRET.search(name) or _SECRET_NAME.search(name)
    return bool(is_named_so) or _SECRET_VALUE.fullmatch(value) is not None
