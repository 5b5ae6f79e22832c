"""The Qortal server as an ASGI application: MCP, the console, and the routes for operators.

`qortal_mcp.asgi:app` reads its settings from the environment and the file that QORTAL_MCP_CONFIG names, for any ASGI server; `make_app` takes them as
arguments. `qortal-mcp serve` runs the same application, and adds the bounds that an ASGI server does not have.

The ASGI server decides where it can be reached from, which this code cannot see: set QORTAL_MCP_TOKEN.
"""

import os
from collections.abc import Mapping

from .application import make_app
from .console.setup import ConsoleSetup
from .from_settings import store_of
from .settings import (
    ListenOptions,
    NodeOptions,
    ShareOptions,
    WatchOptions,
    WrongSetting,
    cache_password,
    read,
    read_settings_file,
    refuse_unknown_variables,
    token,
)
from .settings.asking import ModelOptions, QuestionOptions
from .settings.console import ConsoleOptions, audit_targets_of
from .transports.http import HttpApp

__all__ = ["make_app"]


def __getattr__(name: str) -> HttpApp:
    """`app` is created on first access: importing this module does not read the environment.

    Raises: WrongSetting, one sentence without its cause: an ASGI server shows it to an operator.
    """
    if name != "app":
        raise AttributeError(name)
    try:
        found = _app_of(os.environ)
    except WrongSetting as exc:
        raise WrongSetting(str(exc)) from None
    globals()["app"] = found
    return found


def _app_of(environ: Mapping[str, str]) -> HttpApp:
    refuse_unknown_variables(environ)
    file = read_settings_file({}, environ, "serve")
    door = read(ListenOptions, {}, environ, file)
    # Whether others can reach it is not known here, so it is taken for granted.
    console = ConsoleSetup(
        model=read(ModelOptions, {}, environ, file),
        question=read(QuestionOptions, {}, environ, file),
        audit_targets=audit_targets_of(read(ConsoleOptions, {}, environ, file), is_loopback=False),
        environ=environ,
    )
    sharing = read(ShareOptions, {}, environ, file)
    return make_app(
        read(NodeOptions, {}, environ, file),
        door,
        token(door, environ),
        console=console,
        watching=read(WatchOptions, {}, environ, file),
        store=store_of(sharing, cache_password(sharing, environ)),
    )
