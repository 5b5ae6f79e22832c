"""Tokens and keys: from files or variables, never from flags, which other users of a machine can read."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .option import WrongSetting
from .variables import CACHE_PASSWORD_VARIABLE, KEY_VARIABLE, SERVER_TOKEN_VARIABLE, TOKEN_VARIABLE

if TYPE_CHECKING:
    from .asking import ModelOptions
    from .bridging import ReachOptions
    from .serving import ListenOptions
    from .sharing import ShareOptions

# No header is longer; a larger file is the wrong file.
_TOKEN_FILE_BYTES = 8192
# Shorter ones can be guessed by trying. `openssl rand -hex 16` gives twice as many.
_TOKEN_LEAST_CHARS = 16
_PIPE_SECONDS = 2.0


def token(options: ListenOptions, environ: Mapping[str, str]) -> str | None:
    """The token that clients must send: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    found, source = _secret(options.token_file, "--token-file", TOKEN_VARIABLE, environ)
    if found is not None and len(found) < _TOKEN_LEAST_CHARS:
        raise WrongSetting(
            f"The token in {source} must have at least {_TOKEN_LEAST_CHARS} characters: a shorter one can be guessed."
        )
    return found


def server_token(options: ReachOptions, environ: Mapping[str, str]) -> str | None:
    """The token that a server wants from us: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    return _secret(options.server_token_file, "--server-token-file", SERVER_TOKEN_VARIABLE, environ)[0]


def model_key(options: ModelOptions, environ: Mapping[str, str]) -> str | None:
    """The key for a model's endpoint: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    return _secret(options.key_file, "--key-file", KEY_VARIABLE, environ)[0]


def cache_password(options: ShareOptions, environ: Mapping[str, str]) -> str | None:
    """The password of the shared store: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    return _secret(options.cache_password_file, "--cache-password-file", CACHE_PASSWORD_VARIABLE, environ)[0]


def _beginning_of(file_name: str) -> str:
    """Of a pipe, what comes within a moment: nobody may ever write to it, and a server reads again while it serves.

    Raises: OSError, ValueError.
    """
    with open(file_name, "rb", buffering=0, opener=_without_waiting) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            select.select([file], [], [], _PIPE_SECONDS)
        return (file.read(_TOKEN_FILE_BYTES) or b"").decode()


def _without_waiting(name: str, flags: int) -> int:
    """Opens a pipe although nobody writes to it."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _secret(
    file_name: str | None, flag: str, variable: str, environ: Mapping[str, str]
) -> tuple[str | None, str]:
    """A token and where it comes from. Raises: WrongSetting."""
    if file_name is None:
        found, source = environ.get(variable), variable
        if not found:
            return None, source
    else:
        source = flag
        try:
            found = _beginning_of(file_name)
        except (OSError, ValueError) as exc:
            why = (exc.strerror if isinstance(exc, OSError) else None) or "not text"
            raise WrongSetting(f"{source} cannot be read: {why}.") from None
    stripped = found.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        what = {KEY_VARIABLE: "key", CACHE_PASSWORD_VARIABLE: "password"}.get(variable, "token")
        raise WrongSetting(f"The {what} in {source} must be one word of printable ASCII characters.")
    return stripped, source
