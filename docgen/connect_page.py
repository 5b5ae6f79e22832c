"""docs/connect.md and the table in the README: how each client is set up, from the table of clients."""

import json
from collections.abc import Mapping
from typing import Any

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client, Target
from qortal_mcp.connect.guide import files
from qortal_mcp.connect.rendering import (
    document,
    entry,
    install_command,
    shell_command,
    snippet,
    web_link,
    written,
)
from qortal_mcp.settings import TOKEN_VARIABLE

from .markdown import code, table

# As a reader has it who followed the README.
_PLAIN = Target(("qortal-mcp", "stdio"), "http://127.0.0.1:8000/mcp")
_WITH_TOKEN = Target(_PLAIN.command, _PLAIN.url, needs_token=True)

_HEAD = """\
# How to connect a client

Written by `scripts/docs` from `src/qortal_mcp/connect/clients.py`. The page of `qortal-mcp serve` at `/` shows the same under Connect, with the full
path of the program, your node, the address of the server and, where a client has them, links that add the entry.

## With one command

`qortal-mcp install CLIENT` writes the entry: the full path of the program, in the file that the client reads on your system. It shows the change, keeps a copy of the file
beside it, changes nothing else in it (comments, order and line ends stay), and does nothing the second time. A file that is broken, or that another program changed meanwhile, is
left alone, with the place of the mistake and what to paste. `CLIENT` is one of {names}.

| option | |
| --- | --- |
| `--print` | show the change and write nothing |
| `--undo` | take the entry out again, and bring back one that it replaced; in a file that nobody changed since, every byte is as it was |
| `--project` | the file of the project in this folder |
| `--file FILE` | another file, such as that of another profile |
| `--name NAME` | another name than `qortal` |
| `--replace` | replace another entry of that name; without it both are shown and nothing is written |
| `--node`, `--sample`, `--toolsets`, … | options of `qortal-mcp stdio` that go into the entry |
| `--http URL` | the client asks a running server; beyond loopback, or with `--token`, the entry names the variable `{variable}` in the way of that client. A token is never written: a client that cannot read a variable is refused, and a bridge is offered |
| `-- bridge URL` | another server, through the [bridge](bridge.md): `qortal-mcp install codex --name max -- bridge ws://localhost:7400` |

`qortal-mcp install --list` shows what each client has configured, starts every entry of this program with the PATH and variables that its client would give it, and says whether it
answers; entries of others are never started. It also names files that look right and are never read. `--json` is for programs. Exit codes: 0 done or nothing to do, 1 something listed does
not work, 2 wrong usage, 3 could not be done. What was installed is remembered in `~/.local/state/qortal-mcp` (macOS: `~/Library/Application Support/qortal-mcp`, Windows:
`%LOCALAPPDATA%\\qortal-mcp`): hashes and places, no contents.

## By hand

A client either starts `qortal-mcp stdio` itself, or asks a running `qortal-mcp serve` over HTTP. Without a node, add `--sample` after `stdio`. Programs
with windows do not have the PATH of your shell: write the full path that `command -v qortal-mcp` prints. Keep what is in a settings file, and add the entry.

If the server wants a token, put it into the variable `{variable}` where the client is started, and add what is given for “with a token”. Where a
client is not known to read variables, TOKEN stands for the token itself, and the file then holds a secret.
"""


def page() -> str:
    return "\n".join(
        [
            _HEAD.format(variable=TOKEN_VARIABLE, names=_names()),
            *(_section(client) for client in clients.CLIENTS),
        ]
    )


def _names() -> str:
    return ", ".join(code(client.name) for client in clients.CLIENTS)


def _section(client: Client) -> str:
    where = "; ".join(f"{code(file.path)} {file.used_for}" for file in files(client.places))
    parts = [f"### {client.title}\n", f"{where}. {client.evidence.in_words()}\n"]
    parts.append(_fenced("sh", _commands(client)))
    parts.append(_fenced(client.form, snippet(client, client.stdio, _PLAIN)))
    if client.http is not None:
        parts.append(
            f"Over HTTP the entry is {_members(client, entry(client, client.http, _PLAIN))}{_token(client)}.\n"
        )
    parts += [f"- {remark}" for remark in client.remarks]
    return "\n".join(parts) + ("\n" if client.remarks else "")


def _commands(client: Client) -> str:
    setups = [client.stdio, *([client.http] if client.http else [])]
    ours = install_command(client, client.stdio, _PLAIN)
    return "\n".join([ours, *filter(None, (shell_command(client, setup, _PLAIN) for setup in setups))])


def _token(client: Client) -> str:
    assert client.http is not None, "only called for clients that have HTTP"
    plain, whole = (document(client, client.http, target) for target in (_PLAIN, _WITH_TOKEN))
    added = _more(entry(client, client.http, _PLAIN), entry(client, client.http, _WITH_TOKEN))
    beside = _more(plain, whole)
    also = f", and next to {code(client.key[-1])} {_members(client, beside)}" if beside else ""
    return f"; with a token also {_members(client, added)}{also}"


def _more(less: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in whole.items() if name not in less}


def _members(client: Client, members: Mapping[str, Any]) -> str:
    """On one line; YAML takes JSON as it is."""
    return code(written("toml", members) if client.form == "toml" else json.dumps(members))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


def readme_table() -> str:
    """What install takes, and the other short ways: commands of clients, and links of the web for a server that runs."""
    by_command = (clients.CODEX, clients.CLAUDE_CODE, clients.GEMINI)
    rows = [[client.title, code(shell_command(client, client.stdio, _PLAIN))] for client in by_command]
    rows.append([", ".join(_links()), f"with a server at `{_PLAIN.url}` (`qortal-mcp serve`)"])
    names = f"`CLIENT` is one of {_names()}."
    return f"{names}\n\n{table(['client, or link that adds it', 'without install'], rows)}"


def _links() -> list[str]:
    """Pages of the makers: links to programs do not work in a README."""
    return [
        f"[{client.title}]({address})"
        for client in clients.CLIENTS
        if client.http is not None and (address := web_link(client, client.http, _PLAIN))
    ]
