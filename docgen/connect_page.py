"""docs/connect.md and the table in the README: how each client is set up, from the table of clients."""

import json
from collections.abc import Mapping
from typing import Any

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client, Target
from qortal_mcp.connect.guide import files
from qortal_mcp.connect.rendering import document, entry, shell_command, snippet, written
from qortal_mcp.settings import TOKEN_VARIABLE

from .markdown import code, table

# As a reader has it who followed the README.
_PLAIN = Target(("qortal-mcp", "stdio"), "http://127.0.0.1:8000/mcp")
_WITH_TOKEN = Target(_PLAIN.command, _PLAIN.url, needs_token=True)

_HEAD = """\
# How to connect a client

Written by `scripts/docs` from `src/qortal_mcp/connect/clients.py`. The page of `qortal-mcp serve` at `/` shows the same under Connect, with the full
path of the program, your node, the address of the server and, where a client has them, links that add the entry.

A client either starts `qortal-mcp stdio` itself, or asks a running `qortal-mcp serve` over HTTP. Without a node, add `--sample` after `stdio`. Programs
with windows do not have the PATH of your shell: write the full path that `command -v qortal-mcp` prints. Keep what is in a settings file, and add the entry.

If the server wants a token, put it into the variable `{variable}` where the client is started, and add what is given for “with a token”. Where a
client is not known to read variables, TOKEN stands for the token itself, and the file then holds a secret.
"""


def page() -> str:
    return "\n".join(
        [_HEAD.format(variable=TOKEN_VARIABLE), *(_section(client) for client in clients.CLIENTS)]
    )


def _section(client: Client) -> str:
    where = "; ".join(f"{code(file.path)} {file.used_for}" for file in files(client.places))
    parts = [f"## {client.title}\n", f"{where}. {client.evidence.in_words()}\n"]
    parts += [_fenced("sh", commands)] if (commands := _commands(client)) else []
    parts.append(_fenced(client.form, snippet(client, client.stdio, _PLAIN)))
    if client.http is not None:
        parts.append(
            f"Over HTTP the entry is {_members(client, entry(client, client.http, _PLAIN))}{_token(client)}.\n"
        )
    parts += [f"- {remark}" for remark in client.remarks]
    return "\n".join(parts) + ("\n" if client.remarks else "")


def _commands(client: Client) -> str:
    setups = [client.stdio, *([client.http] if client.http else [])]
    return "\n".join(filter(None, (shell_command(client, setup, _PLAIN) for setup in setups)))


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
    """The clients that most people have, one row each."""
    by_command = (clients.CODEX, clients.CLAUDE_CODE, clients.GEMINI, clients.VSCODE)
    by_file = (clients.CURSOR, clients.CLAUDE_DESKTOP)
    rows = [[client.title, code(shell_command(client, client.stdio, _PLAIN))] for client in by_command]
    shared = {json.dumps(document(client, client.stdio, _PLAIN)) for client in by_file}
    assert len(shared) == 1, "clients with different files need rows of their own"
    rows.append([", ".join(client.title for client in by_file), code(shared.pop())])
    return table(["client", "set-up"], rows)
