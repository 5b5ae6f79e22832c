"""Carries `install` out: reads the client's file, shows the change, writes it, and remembers it for `--undo`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ...connect import records, trying
from ...connect.client import Client, Level, Setup, Target
from ...connect.configured import ClientFile, Configured, configured, unread
from ...connect.difference import difference
from ...connect.installing import NotOurs, OtherEntry, change, install_words, known_after, record, undoing
from ...connect.places import Machine, file_of, on_disk, this_machine
from ...connect.rendering import document, entry, written
from ...connect.settings_files import reading, writing
from ...connect.settings_files.mistakes import NotUnderstood, OtherForm
from ...connect.settings_files.reading import BrokenFile
from ...connect.settings_files.splice import Splice
from ...connect.settings_files.writing import Changed
from ...connect.trying import Outcome
from ...settings import TOKEN_VARIABLE
from ..output import installed, terminal
from . import failures
from .until_stopped import until_stopped

# Trials at once; each is a process.
_AT_ONCE = 4
# More entries of this program on one machine are a mistake, or a file that means harm.
_MOST_TRIALS = 32
_TOO_MANY = f"There are more than {_MOST_TRIALS} entries of this program, so it was not tried."


class Job(Struct, frozen=True):
    """Which entry of which file is meant."""

    machine: Machine
    client: Client
    name: str
    level: Level
    # As it is named to people, and without links.
    path: str
    file: str


def job(client: Client, name: str, *, is_project: bool, given_file: str | None) -> Job:
    """Raises: Undetermined if the client has no such file."""
    machine = this_machine(os.environ, os.getcwd())
    level: Level = "project" if is_project else "user"
    if given_file is not None:
        path: str | None = os.path.abspath(os.path.expanduser(given_file))
    else:
        path = file_of(client, level, machine, on_disk)
        if path is None and not is_project:
            level = "project"
            path = file_of(client, level, machine, on_disk)
    if path is None:
        raise failures.Undetermined(f"{client.title} has no file for a project; leave --project out.")
    return Job(machine, client, name, level, path, os.path.realpath(path))


def install(job: Job, setup: Setup, target: Target, *, replaces: bool, only_prints: bool) -> int:
    """Raises: Undetermined."""
    client = job.client
    wanted = entry(client, setup, target, alone=True)
    data = _data(job)
    try:
        splice = change(client, data or b"", job.name, wanted, replaces=replaces)
    except OtherEntry as exc:
        installed.other(job.path, job.name, exc.found, wanted)
        raise failures.Undetermined(
            f"{job.path} has another entry {job.name}. Give --replace to replace it, or --name for a second one"
        ) from None
    except NotUnderstood as exc:
        paste = written(client.form, document(client, setup, target))
        installed.to_paste(job.path, paste, exc.first if isinstance(exc, OtherForm) else "")
        raise failures.Undetermined(f"{job.path} was left as it is: {exc}") from None
    if splice is None:
        terminal.write(f"{client.title} has this entry already: {job.name} in {job.path}. Nothing to do.")
        return failures.GOOD
    installed.change(client, job.path, data, difference(data or b"", splice))
    if only_prints:
        terminal.write("Nothing was written.")
        return failures.GOOD
    backup = _written(job, data, splice)
    earlier = records.read(job.machine, job.file, job.name)
    kept = record(client, job.file, job.name, wanted, data, splice, backup, known=earlier)
    can_undo = _remembered(job, kept)
    installed.done(client, backup, undo=_undo_words(job) if can_undo else "")
    installed.remarks(client, TOKEN_VARIABLE if target.needs_token else "")
    return failures.GOOD


def undo(job: Job, *, only_prints: bool) -> int:
    """Raises: Undetermined."""
    known = records.read(job.machine, job.file, job.name)
    data = _data(job)
    try:
        found = None if data is None else undoing(job.client, data, job.name, known, _backup(known))
    except NotUnderstood as exc:
        raise failures.Undetermined(f"{job.path} was left as it is: {exc}") from None
    except NotOurs as exc:
        installed.found_now(job.name, exc.found)
        why = (
            "was not written by this command" if known is None else "was changed since this command wrote it"
        )
        raise failures.Undetermined(
            f"The entry {job.name} in {job.path} {why}, so it stays. Remove it by hand if you want"
        ) from None
    if data is None or found is None:
        records.forget(job.machine, job.file, job.name)
        terminal.write(f"{job.client.title} has no entry {job.name} in {job.path}. Nothing to do.")
        return failures.GOOD
    shown = found.splice or Splice(0, len(data), b"")
    installed.change(job.client, job.path, data, difference(data, shown))
    if only_prints:
        terminal.write("Nothing was written.")
        return failures.GOOD
    left = None
    if found.splice is None:
        _guarded(lambda: writing.remove(job.path, data))
        terminal.write("Removed the file, which held nothing else and was made by this command.")
    else:
        backup = _written(job, data, found.splice)
        left = known_after(job.client, job.name, known, found.splice.applied(data))
        installed.done(job.client, backup, undo="")
        if left is not None:
            terminal.write(
                f"The entry that came back is of this command, too. To undo that: {_undo_words(job)}"
            )
    if left is None or not _remembered(job, left):
        records.forget(job.machine, job.file, job.name)
    installed.restart(job.client)
    return failures.GOOD


def _data(job: Job) -> bytes | None:
    """What is in the file; None if it is not there. Raises: Undetermined."""
    try:
        return reading.read(job.path).data
    except FileNotFoundError:
        return None
    except BrokenFile as exc:
        raise failures.Undetermined(str(exc)) from None


def _written(job: Job, data: bytes | None, splice: Splice) -> str:
    found: list[str] = []
    _guarded(lambda: found.append(writing.replace(job.path, data, splice.applied(data or b""))))
    return found[0]


def _guarded(work: Any) -> None:
    """Raises: Undetermined."""
    try:
        work()
    except (Changed, BrokenFile) as exc:
        raise failures.Undetermined(str(exc)) from None


def _remembered(job: Job, kept: records.Record) -> bool:
    try:
        records.write(job.machine, kept)
    except OSError as exc:
        folder = records.folder(job.machine)
        terminal.warn(f"--undo will not work for this entry: cannot write to {folder}: {exc.strerror}.")
        return False
    return True


def _backup(known: records.Record | None) -> bytes | None:
    if known is None or not known.backup:
        return None
    try:
        return reading.read(known.backup).data
    except (FileNotFoundError, BrokenFile):
        return None


def _undo_words(job: Job) -> str:
    usual = file_of(job.client, job.level, job.machine, on_disk)
    if usual == job.path:
        words = install_words(job.client, job.name, job.level)
    else:
        words = (*install_words(job.client, job.name, "user"), "--file", job.path)
    return installed.shell(*words, "--undo")


def list_all(*, as_json: bool) -> int:
    """What is configured; entries of ours are tried."""
    machine = this_machine(os.environ, os.getcwd())
    files = configured(machine)
    outcomes = until_stopped(_outcomes(files, machine))
    ignored = unread(machine)
    if as_json:
        terminal.write_json(installed.as_json(files, outcomes, ignored))
    else:
        installed.listing(files, outcomes, ignored, machine)
    is_bad = any(file.problem for file in files) or any(
        one.was_tried and not one.works for found in outcomes for one in found
    )
    return failures.BAD if is_bad else failures.GOOD


async def _outcomes(files: Sequence[ClientFile], machine: Machine) -> list[list[Outcome]]:
    """What came of each entry, in the order of the files and their entries."""
    room = asyncio.Semaphore(_AT_ONCE)
    trials = 0

    async def attempt(one: Configured) -> Outcome:
        nonlocal trials
        is_recorded = trying.was_recorded(one, machine)
        if not trying.why_not(one, is_recorded=is_recorded):
            trials += 1
            if trials > _MOST_TRIALS:
                return Outcome(works=False, was_tried=False, says=_TOO_MANY)
        async with room:
            return await trying.tried(one, machine, is_recorded=is_recorded)

    return [list(await asyncio.gather(*(attempt(one) for one in file.entries))) for file in files]
