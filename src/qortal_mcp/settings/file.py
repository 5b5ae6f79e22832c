"""Settings from a file: TOML, whose keys are the names of options. A table named like a command is for that one alone."""

import os
import stat
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from .option import Options, WrongSetting

# A larger file is the wrong file: all settings there are, each with a comment, have some 20 kB.
_MOST_BYTES = 256 * 1024
# What a file must not hold: it is copied, kept in version control and shown to others.
_SECRETS = {
    "token": "token-file",
    "server-token": "server-token-file",
    "cache-password": "cache-password-file",
    "key": "key-file",
    "api-key": "key-file",
}


class ConfigOptions(Options, frozen=True, kw_only=True):
    """Settings that are kept in a file."""

    title: ClassVar[str] = "Settings file"

    config: Annotated[
        str | None,
        Meta(
            description='Read settings from this TOML file: the names of options, such as `listen = "127.0.0.1:9000"`. Flags and variables beat it.',
            extra={"metavar": "FILE"},
        ),
    ] = None


class SettingsFile(Struct, frozen=True):
    """What a file sets for one command, by the fields of options."""

    name: str
    values: Mapping[str, Any]
    # Those that its own table sets: they beat what is set for all.
    own: frozenset[str] = frozenset()


NO_FILE = SettingsFile("", {})


def read_file(
    name: str, command: str, fields: Collection[str], commands: Collection[str] | None = None
) -> SettingsFile:
    """What a file sets for a command. `fields` are those of all options of all commands; without `commands` any table will do.

    Raises: WrongSetting, one sentence that names the file and the place, never a value.
    """
    import tomllib

    try:
        found = tomllib.loads(_bytes(name).decode())
    except UnicodeDecodeError:
        raise WrongSetting(f"{name} is not a settings file: it is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as exc:
        raise WrongSetting(f"{name} is not TOML: {exc}.") from None
    except ValueError:  # of `int`, which does not read thousands of digits
        raise WrongSetting(f"{name} is not a settings file: it has a number that is far too long.") from None
    except RecursionError:
        raise WrongSetting(f"{name} is not a settings file: it is nested too deeply.") from None
    everybody = {key: value for key, value in found.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in found.items() if isinstance(value, dict)}
    for table in tables:
        if commands is not None and table not in commands:
            raise WrongSetting(f"Unknown table [{table}] in {name}. {_instead_of(table, commands)}")
    values = _by_field(everybody, name, fields)
    by_table = {table: _by_field(keys, f"[{table}] of {name}", fields) for table, keys in tables.items()}
    own = by_table.get(command, {})
    return SettingsFile(name, values | own, frozenset(own))


def _bytes(name: str) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):  # opening a pipe would wait for whoever writes to it
            raise WrongSetting(f"--config cannot read {name}: it is not a file.")
        with open(name, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as exc:
        why = (exc.strerror if isinstance(exc, OSError) else None) or "its name cannot be one"
        raise WrongSetting(f"--config cannot read {name}: {why}.") from None
    if len(data) > _MOST_BYTES:
        raise WrongSetting(f"--config cannot read {name}: it has more than {_MOST_BYTES // 1024} KiB.")
    return data


def _by_field(keys: Mapping[str, Any], place: str, fields: Collection[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in keys.items():
        field = key.replace("-", "_")
        if key.replace("_", "-") in _SECRETS:
            other = _SECRETS[key.replace("_", "-")]
            raise WrongSetting(f"{key} in {place}: secrets do not belong there. Name a file with {other}.")
        if field == "config" or field not in fields:
            known = [one.replace("_", "-") for one in fields if one != "config"]
            raise WrongSetting(f"Unknown setting {key} in {place}. {_instead_of(key, known)}")
        if field in values:
            raise WrongSetting(f"{key} is set twice in {place}, with - and with _.")
        values[field] = value
    return values


def _instead_of(name: str, known: Collection[str]) -> str:
    import difflib  # slow to import, and only needed for a mistake

    near = difflib.get_close_matches(name.replace("_", "-"), known, n=1, cutoff=0.6)
    return f"Did you mean {near[0]}?" if near else "docs/settings.md lists them."
