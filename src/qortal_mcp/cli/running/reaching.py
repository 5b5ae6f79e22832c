"""How commands reach a server that is not ours: what it is sent, what its program may see, and what is never shown."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import click
from msgspec import Struct

from ... import settings
from ...agent.secrets import is_secret
from ...audit import secrets
from ...client.limits import ClientLimits
from ...client.options import Options
from ...client.transcript import Headers
from ...settings.bridging import ReachOptions
from ...text import printable, shortened
from ..input.targets import headers_in
from . import failures

log = logging.getLogger(__name__)

# What programs need to run at all; everything else may be a secret.
_PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "COMSPEC",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMFILES",
    "USERPROFILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
)
_SHOWN_CHARS = 200
# A program whose output is held back in a buffer looks as if it did not answer.
_UNBUFFERED = {"PYTHONUNBUFFERED": "1"}


class Reached(Struct, frozen=True, kw_only=True):
    """A server before anybody connects to it."""

    target: str | Sequence[str]
    # How it may appear in logs and errors.
    name: str
    options: Options
    # Takes secrets out of what the server says.
    mask: Callable[[str], str]
    # What it was given and may repeat.
    secrets: frozenset[str]


def reach(target: str | Sequence[str], options: ReachOptions, limits: ClientLimits) -> Reached:
    """Raises: WrongUsage, WrongSetting."""
    ctx = click.get_current_context(silent=True)
    headers = headers_in(options.header_file)
    token = settings.server_token(options, os.environ)
    if not isinstance(target, str) and (headers or options.server_token_file):
        raise failures.WrongUsage("Headers and tokens are for addresses; a program has none.", ctx)
    if token is not None and isinstance(target, str):
        headers = (
            *(one for one in headers if one[0] != "authorization"),
            ("authorization", f"Bearer {token}"),
        )
    if isinstance(target, str) and "@" in urlsplit(target).netloc and "authorization" in dict(headers):
        raise failures.WrongUsage(
            "The address has a user name or password, and there is a token or an Authorization header as well; "
            "leave one of them out.",
            ctx,
        )
    for name in options.env:
        if name not in os.environ:
            log.warning("the variable named with --env is not set: %s", name)
    known = held(target, headers, options.env)

    def mask(text: str) -> str:
        return " ".join(secrets.without_secrets((secrets.without(text, known),)))

    return Reached(
        target=target,
        name=shown(target),
        mask=mask,
        secrets=known,
        options=Options(
            headers=headers,
            env=small_environment(options.env, os.environ),
            subprotocol=options.subprotocol or None,
            ca_file=options.ca_file,
            proxies=True,
            limits=limits,
        ),
    )


def held(target: str | Sequence[str], headers: Headers, env: Sequence[str]) -> frozenset[str]:
    """The secrets that we were given for a server, which may repeat them."""
    given = {value for name in env if is_secret(value := os.environ.get(name, ""))}
    return secrets.values_in(target, headers) | given


def shown(target: str | Sequence[str]) -> str:
    """An address or a command as it may appear in logs and errors."""
    text = secrets.safe_url(target) if isinstance(target, str) else " ".join(secrets.without_secrets(target))
    return shortened(printable(text), _SHOWN_CHARS)


def small_environment(names: Sequence[str], ours: Mapping[str, str]) -> dict[str, str]:
    """What a program gets to see of our environment."""
    kept = {name: value for name, value in ours.items() if name in _PASSED_ON or name.startswith("LC_")}
    return {**_UNBUFFERED, **kept, **{name: ours[name] for name in names if name in ours}}
