"""docs/settings.md: every option with its variable and default, from the fields of `settings.py`."""

from importlib import import_module

from qortal_mcp import settings
from qortal_mcp.cli.input.options import SettingsCommand
from qortal_mcp.cli.program import COMMANDS, module_of
from qortal_mcp.cli.running.failures import EXIT_CODES
from qortal_mcp.settings import Option, Options
from qortal_mcp.settings.groups import GROUPS

from .markdown import code, table

_HEAD = """\
# Settings

Every setting is a flag, a variable, and a key in the file that `--config` names. A flag beats a variable, a variable the file, and the file the default. Several values are separated by
commas in a variable; their flag is repeated. Options of single commands, such as `--json` or those of `audit`, are in their `--help`. A variable that starts with `{prefix}` and is not on this page
stops the start with an error that names it.
"""

_FILE = """\
## A settings file

TOML. The keys are the names of options without dashes in front, a list where an option may be repeated, `true` for a switch. What stands in a table with the
name of a command is for that command alone, and beats what is set for all. An unknown key or table, a wrong value and a secret are refused at the start,
each with its place. Paths are as on the command line: relative to where the command runs.

```toml
node = ["http://127.0.0.1:12391", "http://192.0.2.7:12391"]
log-level = "warning"

[serve]
listen = "0.0.0.0:8000"
allow-host = ["mcp.example"]
token-file = "/etc/qortal-mcp/token"
```
"""

_TOKEN = """\
## The token

`{token}` holds the token that clients must send as `Authorization: Bearer TOKEN`; `--token-file` names a file that
holds it and comes first. It is one word of at least 16 characters, such as `openssl rand -hex 16` makes. No flag holds
a secret, since other users of a machine can read command lines. Beyond loopback a token is needed unless
`--without-token` is given, and `--allow-host` must name the server as its clients do.
"""

_KEY = """\
## The key for a model

`{key}` holds the key that `ask` sends to the endpoint of a model; `--key-file` names a file that holds it and comes first. It
is sent only to an address that was named with `--base-url` or `{address}`. [ask.md](ask.md) says what else is sent there.
"""

_EXIT = """\
## Exit codes

Every command ends with one of these, or with 130 or 143 if it was interrupted or terminated (`serve` and `stdio` end with 0
then). An error is one line on standard error. What a tool refuses, such as an argument it does not know, is the tool's
error (1), not wrong usage.
"""

_OLD = """\
## Variables of the server that came before

Those who set one of these get a warning at start. Their values are neither used nor shown.
"""


def page() -> str:
    parts = [_HEAD.format(prefix=settings.PREFIX)]
    for group in GROUPS:
        also, which = _partly(group)
        parts.append(f"## {group.title}: {', '.join([*_takers(group), *also])}\n\n{group.__doc__}{which}\n")
        parts.append(options_table(group))
    parts.append(_FILE)
    parts.append(_TOKEN.format(token=settings.TOKEN_VARIABLE))
    parts.append(_KEY.format(key=settings.KEY_VARIABLE, address=settings.BASE_URL_VARIABLE))
    parts.append(_EXIT)
    parts.append(table(["code", "meaning"], [(str(n), words) for n, words in EXIT_CODES.items()]))
    parts.append(_OLD)
    parts.append(table(["variable", "instead"], [(code(_starred(n)), i) for n, i in settings.OLD_VARIABLES]))
    return "\n".join(parts)


def options_table(group: type[Options]) -> str:
    return table(["option", "variable", "default", "meaning"], [_row(o) for o in settings.options_of(group)])


def _row(option: Option) -> list[str]:
    flag = f"{option.flag} {option.metavar}".strip()
    meaning = option.description + (" Repeatable." if option.repeatable else "")
    default = option.default_text
    return [code(flag), code(option.variable), code(default) if " " not in default else default, meaning]


def _takers(group: type[Options]) -> list[str]:
    """The commands that take a group."""
    return [
        code(name)
        for name in COMMANDS
        if isinstance(command := import_module(module_of(name)).command, SettingsCommand)
        and group in command.groups
    ]


def _partly(group: type[Options]) -> tuple[list[str], str]:
    """The commands that take only what a group has from its base, and a sentence that says so."""
    base = group.__mro__[1]
    if base is Options or not issubclass(base, Options) or base in GROUPS:
        return [], ""
    flags = ", ".join(code(option.flag) for option in settings.options_of(base))
    takers = _takers(base)
    return takers, f" {', '.join(takers)}: only {flags}." if takers else ""


def _starred(name: str) -> str:
    return name + "*" if name.endswith("_") else name
