"""`tools`: what is offered, and what it costs a model to read it."""

from typing import Any

import click
import msgspec
from msgspec import UNSET

from ..settings import NodeOptions
from . import failures, terminal, view, weights
from .chain import ask
from .options import SettingsCommand


@click.command(cls=SettingsCommand, groups=(NodeOptions,))
@click.option("--json", "as_json", is_flag=True, help="The tools/list result as JSON.")
@click.option("--tokens", "as_tokens", is_flag=True, help="What each tool weighs in tokens, and all of them.")
def command(chain: NodeOptions, as_json: bool, as_tokens: bool) -> None:
    """List the tools, or what they cost a model to read.

    Tokens are counted as o200k where the package `tiktoken` and its table are at hand, else estimated and
    marked with ~.
    """
    if as_json and as_tokens:
        raise failures.WrongUsage("--json and --tokens exclude each other; give one of them.")
    _, response = ask(chain, "tools/list", {})
    assert response.error is UNSET, "a list without a cursor is always answered"
    if as_json:
        terminal.write_json(bytes(response.result))
        return
    tools = msgspec.json.decode(response.result)["tools"]
    palette = view.COLOURED if terminal.has_colours() else view.PLAIN
    terminal.write(_weighed(tools, palette) if as_tokens else _listed(tools, terminal.width(), palette))


def _listed(tools: list[dict[str, Any]], width: int, palette: view.Palette) -> str:
    """Each tool with its arguments and the first sentence about it."""
    lines: list[str] = []
    for tool in tools:
        arguments = " ".join(
            _argument(name, tool["inputSchema"]) for name in tool["inputSchema"]["properties"]
        )
        lines += [f"{palette.heading(tool['name'])} {palette.name(arguments)}".rstrip()]
        lines += [f"  {line}" for line in terminal.wrapped(_first_sentence(tool["description"]), width - 2)]
    return "\n".join(lines)


def _argument(name: str, schema: dict[str, Any]) -> str:
    return name if name in schema.get("required", ()) else f"[{name}]"


def _first_sentence(text: str) -> str:
    sentence, dot, _ = " ".join(text.split()).partition(". ")
    return sentence + dot.strip()


def _weighed(tools: list[dict[str, Any]], palette: view.Palette) -> str:
    counter = weights.best_counter()
    counted = {tool["name"]: counter.count(weights.as_read(tool)) for tool in tools}
    rows = {**counted, f"total of {len(tools)}": sum(counted.values())}
    names = max(len(name) for name in rows)
    figures = max(len(counter.written(tokens)) for tokens in rows.values())
    lines = [
        f"{palette.name(name.ljust(names))}  {counter.written(n).rjust(figures)}" for name, n in rows.items()
    ]
    how = (
        f"Tokens by {weights.ENCODING}."
        if counter.is_exact
        else f"Tokens estimated at {weights.CHARS_PER_TOKEN} characters each; with the package tiktoken they are counted."
    )
    return "\n".join([*lines, palette.quiet(how)])
