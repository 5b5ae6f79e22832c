"""`install`: puts this server, or a bridge to another, into the settings file of an AI client."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from ..settings import TOKEN_VARIABLE, NodeOptions
from .input import completion
from .input.options import SettingsCommand
from .input.targets import TakesCommand, check_address
from .program import COMMANDS, module_of, unknown
from .running import failures

if TYPE_CHECKING:
    from ..connect.client import Client, Setup, Target

_OF_OUR_SERVER = ("node", "confirm", "max_tip_age", "sample", "toolsets")


class InstallCommand(TakesCommand, SettingsCommand):
    """Settings, a client, and a command of ours after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from ..connect.trying import SERVING

        for before, word in pairwise(args if "--" not in args else ()):
            if word in SERVING and not before.startswith("-"):
                raise failures.WrongUsage(
                    f"Put -- before the command that the client starts: -- {word} …", ctx
                )
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] (CLIENT [-- COMMAND [ARGUMENT]...] | --list)")


@click.command(cls=InstallCommand, groups=(NodeOptions,), asks_once=True)
@click.argument("named", required=False, metavar="[CLIENT]", shell_complete=completion.clients)
@click.option(
    "--list", "lists", is_flag=True, help="Show what clients have configured, and whether ours works."
)
@click.option("--json", "as_json", is_flag=True, help="With --list: show it as JSON.")
@click.option("--print", "only_prints", is_flag=True, help="Show the change, and write nothing.")
@click.option("--undo", is_flag=True, help="Take the entry out again, if nobody changed it since.")
@click.option("--replace", is_flag=True, help="Replace another entry of the same name.")
@click.option(
    "--project", is_flag=True, help="Use the client's file for the project in this folder, not yours."
)
@click.option(
    "--file", "given_file", metavar="FILE", help="Use this file, for example that of another profile."
)
@click.option("--name", metavar="NAME", help="What the server is called there.  [default: qortal]")
@click.option("--http", "url", metavar="URL", help="The client asks a running server at this address.")
@click.option(
    "--token/--no-token",
    "wants_token",
    default=None,
    help=f"With --http: whether the entry refers to the variable {TOKEN_VARIABLE}.  [default: beyond loopback]",
)
@click.pass_context
def command(
    ctx: click.Context,
    chain: NodeOptions,
    named: str | None,
    lists: bool,
    as_json: bool,
    only_prints: bool,
    undo: bool,
    replace: bool,
    project: bool,
    given_file: str | None,
    name: str | None,
    url: str | None,
    wants_token: bool | None,
) -> int:
    """Put this server into the settings of an AI client, or take it out again.

    CLIENT is one of: codex, claude-code, claude-desktop, cursor, vscode, copilot-cli, gemini-cli, antigravity, devin, zed,
    goose, lm-studio, kiro, opencode, or mcp-json for a plain mcp.json in this folder. The change is shown, a copy of the
    file is kept beside it, and nothing else in the file is touched. A file that cannot be read safely is left alone.

    \b
      qortal-mcp install codex                          your node, started by the client
      qortal-mcp install cursor --sample --print        what would be written, and where
      qortal-mcp install claude-code --http https://mcp.example/mcp
      qortal-mcp install codex --name max -- bridge ws://localhost:7400
      qortal-mcp install codex --undo
      qortal-mcp install --list                         what is configured, and does ours answer?

    A token is never written: with --http the entry names the variable from which the client reads it.

    Exit codes: 0 done, or nothing to do; 1 --list: something of ours does not work, or a file is broken; 2 wrong usage;
    3 could not be done: the file is broken, not writable, changed meanwhile, or has another entry of this name.
    """
    from ..connect.installing import is_entry_name
    from .running import installing

    if lists:
        if named is not None or undo or only_prints or replace or ctx.obj is not None:
            raise failures.WrongUsage("--list stands alone; only --json goes with it.", ctx)
        return installing.list_all(as_json=as_json)
    if as_json:
        raise failures.WrongUsage("--json belongs to --list.", ctx)
    client = _client(ctx, named)
    if undo and (replace or url is not None or ctx.obj is not None):
        raise failures.WrongUsage("--undo takes only a client, --name, --project, --file and --print.", ctx)
    if name is not None and not is_entry_name(name):
        raise failures.WrongUsage(
            "--name takes a letter or digit, then up to 59 letters, digits, hyphens and underscores.", ctx
        )
    job = installing.job(client, name or "qortal", is_project=project, given_file=given_file)
    if undo:
        return installing.undo(job, only_prints=only_prints)
    setup, target = _target(ctx, client, chain, name, url, wants_token, is_project=project)
    return installing.install(job, setup, target, replaces=replace, only_prints=only_prints)


def _client(ctx: click.Context, named: str | None) -> Client:
    from ..connect.clients import CLIENTS, client_named

    if named is None:
        raise failures.WrongUsage("Name a client, or give --list.", ctx)
    client = client_named(named)
    if client is None:
        known = [one.name for one in CLIENTS]
        raise failures.WrongUsage(f"{unknown('client', named, known)} Known are {', '.join(known)}.", ctx)
    return client


def _target(
    ctx: click.Context,
    client: Client,
    chain: NodeOptions,
    name: str | None,
    url: str | None,
    wants_token: bool | None,
    *,
    is_project: bool,
) -> tuple[Setup, Target]:
    from ..connect.client import Target
    from ..connect.program import program, stdio_command

    if url is None:
        if wants_token is not None:
            raise failures.WrongUsage("--token and --no-token belong to --http.", ctx)
        if ctx.obj is None:
            _check_toolsets(ctx, chain)
            return client.stdio, Target(stdio_command(chain), "", name=name or "qortal")
        words = _own_words(ctx, name, is_project=is_project)
        about = f"{name or 'qortal'}, through qortal-mcp"
        return client.stdio, Target((*program(), *words), "", name=name or "qortal", description=about)
    if ctx.obj is not None or any(_is_flag(ctx, field) for field in _OF_OUR_SERVER):
        raise failures.WrongUsage("--http names a server that runs; its options are its own.", ctx)
    check_address(ctx, url)
    if url.partition("://")[0].lower() not in ("http", "https"):
        raise failures.WrongUsage("Clients need http:// or https://; for ws:// install a bridge.", ctx)
    url = _with_path(url)
    needs_token = not _is_near(url) if wants_token is None else wants_token
    setup = _http_setup(client, url, needs_token=needs_token)
    return setup, Target(program(), url, needs_token, name=name or "qortal")


def _with_path(url: str) -> str:
    """Servers of MCP hardly ever answer at an address without a path; ours does at /mcp."""
    from .output import terminal

    parts = urlsplit(url)
    if parts.path:
        return url
    terminal.warn(
        "The address has no path, so /mcp is added. If the server answers at /, end the address with it."
    )
    return parts._replace(path="/mcp").geturl()


def _http_setup(client: Client, url: str, *, needs_token: bool) -> Setup:
    """Raises: Undetermined if the client cannot do it, with what can be done instead."""
    from ..audit.secrets import safe_url

    instead = f"Instead, let it start a bridge: qortal-mcp install {client.name} --name NAME -- bridge {safe_url(url)}"
    if safe_url(url) != url:
        raise failures.Undetermined(
            "The address holds a secret, which would be written into the file; give it without one, and --token."
        )
    if needs_token:
        instead += " --server-token-file FILE"
    if client.http is None:
        raise failures.Undetermined(f"{client.title} takes only programs that it starts. {instead}")
    if needs_token and (client.token is None or client.token.source == "file"):
        raise failures.Undetermined(
            f"{client.title}: no way is known to have a token read from a variable, and this command never writes one into a file. "
            f"{instead}. Or give --no-token if the server wants none."
        )
    return client.http


def _own_words(ctx: click.Context, name: str | None, *, is_project: bool) -> tuple[str, ...]:
    """A command of ours that serves the client that starts it. Raises: WrongUsage."""
    from importlib import import_module

    from ..connect.trying import SERVING
    from .input.placed_words import placed, refuse_relative

    words: tuple[str, ...] = ctx.obj
    if not words or words[0] not in SERVING:
        raise failures.WrongUsage(
            f"After -- comes a command of ours that serves a client: {' or '.join(SERVING)}.", ctx
        )
    if any(_is_flag(ctx, field) for field in _OF_OUR_SERVER):
        raise failures.WrongUsage(f"Put the options of {words[0]} behind it.", ctx)
    if words[0] == "bridge" and name is None:
        raise failures.WrongUsage("Name the server behind the bridge with --name.", ctx)
    if any(word in ("--check", "-h", "--help") or word.startswith("--listen") for word in words):
        raise failures.WrongUsage("A client talks to the command it starts on its standard input.", ctx)
    if _holds_secret(words):
        raise failures.WrongUsage(
            "A word of the command looks like a secret, which would be written into the file; name a file that holds it.",
            ctx,
        )
    assert words[0] in COMMANDS, "those that serve are commands"
    inner = import_module(module_of(words[0])).command
    # A wrong option, and a file that is not there, are found now, not by the client.
    inside = inner.make_context(words[0], list(words[1:]), parent=ctx.parent)
    found = placed(words, inside.params.get("target"), ctx)
    if is_project:
        return words  # it is started in the project's folder, wherever that is
    refuse_relative(found, ctx)
    return found


def _holds_secret(words: tuple[str, ...]) -> bool:
    """Whether a word looks like a secret, or one inside a word that is a command itself, as that of `--server`."""
    from ..audit.secrets import without_secrets

    inner = [tuple(word.partition("=")[2].split()) for word in words] + [
        tuple(word.split()) for word in words
    ]
    return any(without_secrets(each) != each for each in (words, *inner))


def _check_toolsets(ctx: click.Context, chain: NodeOptions) -> None:
    from ..qortal.tools import select

    try:
        select(chain.toolsets)
    except ValueError as exc:
        raise failures.WrongUsage(f"--toolsets: {exc}", ctx) from None


def _is_flag(ctx: click.Context, field: str) -> bool:
    return ctx.get_parameter_source(field) is ParameterSource.COMMANDLINE


def _is_near(url: str) -> bool:
    from ..transports.guard import is_loopback

    return is_loopback(urlsplit(url).hostname or "")
