"""The clients that are set up: their files, and what comes of the entries that start or name this program."""

import asyncio
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from ...connect.client import SERVER_NAME
from ...connect.clients import CLIENTS
from ...connect.configured import ClientFile, Configured, UnreadFile, configured, unread
from ...connect.places import Machine, this_machine
from ...connect.trying import Outcome, tried, was_recorded
from ...transports.guard import is_loopback
from .. import limits
from . import occupant
from .occupant import Occupant


class EntryFacts(Struct, frozen=True):
    """An entry of ours, and what came of it as its client would use it."""

    entry: Configured
    outcome: Outcome


class AddressFacts(Struct, frozen=True):
    """An entry with an address on this machine, and what listens there."""

    entry: Configured
    # Without user name, password and path.
    address: str
    occupant: Occupant | None


class ClientsFacts(Struct, frozen=True, kw_only=True):
    # How many clients are known at all.
    known: int
    broken: tuple[ClientFile, ...]
    # With an entry for this server that nobody reads.
    unread: tuple[UnreadFile, ...]
    entries: tuple[EntryFacts, ...]
    addresses: tuple[AddressFacts, ...] = ()
    # Entries beyond those that are tried.
    left_out: int = 0


async def look(environ: Mapping[str, str], folder: str) -> ClientsFacts:
    machine = this_machine(environ, folder)
    files, passed_over = await asyncio.to_thread(_files, machine)
    listed = [entry for file in files for entry in file.entries]
    ours = [entry for entry in listed if entry.is_ours]
    local = [found for entry in listed if (found := _on_this_machine(entry)) is not None]
    entries, addresses = await asyncio.gather(
        _tried(ours[: limits.CLIENT_ENTRIES], machine), _asked(local[: limits.CLIENT_ENTRIES])
    )
    return ClientsFacts(
        known=len(CLIENTS),
        broken=tuple(file for file in files if file.problem),
        unread=tuple(file for file in passed_over if SERVER_NAME in file.names),
        entries=tuple(entries),
        addresses=tuple(addresses),
        left_out=len(ours) - len(entries) + len(local) - len(addresses),
    )


def _files(machine: Machine) -> tuple[tuple[ClientFile, ...], tuple[UnreadFile, ...]]:
    return configured(machine), unread(machine)


async def _tried(entries: Sequence[Configured], machine: Machine) -> list[EntryFacts]:
    async def one(entry: Configured) -> EntryFacts:
        recorded = was_recorded(entry, machine)
        seconds = limits.CLIENT_ENTRY_SECONDS
        return EntryFacts(entry, await tried(entry, machine, is_recorded=recorded, seconds=seconds))

    return await asyncio.gather(*map(one, entries))


def _on_this_machine(entry: Configured) -> tuple[Configured, str, int] | None:
    """An entry of a person's own file that names an address here, and is not known to be ours by its token."""
    if not entry.url or entry.is_ours or entry.is_off or entry.level != "user":
        return None
    try:
        parts = urlsplit(entry.url)
        host, port = parts.hostname or "", parts.port or 80
    except ValueError:
        return None
    return (entry, host, port) if parts.scheme == "http" and is_loopback(host) else None


async def _asked(local: Sequence[tuple[Configured, str, int]]) -> list[AddressFacts]:
    async def one(entry: Configured, host: str, port: int) -> AddressFacts:
        return AddressFacts(entry, f"{host}:{port}", await occupant.look(host, port))

    return await asyncio.gather(*(one(*each) for each in local))
