"""`read`: a resource of this server or of any other, shown or saved."""

import base64
import binascii
import sys
from pathlib import Path
from typing import Any

import click
from msgspec import Raw

from ..repairs import values
from ..text import visible
from .input import files
from .input.any_server import GROUPS, takes_server
from .input.forms import one_form
from .input.options import SettingsCommand
from .output import terminal, view
from .output.any_server import blocks, offers, results, written
from .program import PROGRAM
from .running import failures
from .running.any_server.asking import Asker, listed, members_of, result_of, use
from .running.any_server.chosen import Chosen, OwnServer

_STDOUT = "-"


@click.command(cls=SettingsCommand, groups=GROUPS, asks_once=True)
@takes_server
@click.argument("uri", required=False)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Show a resource that is JSON as JSON, the contents of any other, or the lists.",
)
@click.option("--raw", "as_raw", is_flag=True, help="Show the whole result as JSON.")
@click.option(
    "--output",
    metavar="FILE",
    help="Save the contents, exactly as they are, to this file; - for standard output.",
)
@click.option("--force", is_flag=True, help="With --output: replace a file that is there.")
def command(
    where: Chosen, uri: str | None, as_json: bool, as_raw: bool, output: str | None, force: bool
) -> None:
    """Read a resource, or list what can be read.

    Without a URI: the resources and the templates of their addresses.

    \b
      qortal-mcp read --sample
      qortal-mcp read qortal://name/Bob --sample
      qortal-mcp read qortal://guide --sample --output guide.md
      qortal-mcp read --server 'qortal-mcp stdio --sample'

    Exit codes: 0 read; 1 the server answered with an error; 2 wrong usage; 3 could not be determined: no server or
    node answers.
    """
    one_form(as_json=as_json, as_raw=as_raw)
    if (force and output is None) or (output is not None and (as_json or as_raw or uri is None)):
        raise failures.WrongUsage("--output saves one resource: give its URI, without --json and --raw.")
    if output is not None:
        _check_output(output, force)
    if uri is None:
        _list(where, as_json or as_raw)
        return
    result = result_of(where, "resources/read", {"uri": uri})
    if as_raw:
        written.write_json(result)
        return
    contents = members_of(result).get("contents")
    found = contents if isinstance(contents, list) else []
    if as_json:
        whole = _json_of(found)
        written.write_json(values.write(contents) if whole is None else whole)
    elif output is None:
        terminal.write(_shown(found, is_ours=isinstance(where, OwnServer)))
    else:
        _save(found, output, force)


def _list(where: Chosen, as_json: bool) -> None:
    async def work(asker: Asker) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        return (
            await listed(where, asker, "resources/list", "resources"),
            await listed(where, asker, "resources/templates/list", "resourceTemplates"),
        )

    resources, templates = use(where, work)
    if as_json:
        written.write_json(values.write({"resources": resources, "resourceTemplates": templates}))
        return
    palette = written.palette()
    lines = [offers.resources(resources, templates, terminal.width(), palette)]
    if resources or templates:
        lines += ["", palette.quiet(f"{PROGRAM} read URI{where.hint} shows one.")]
    terminal.write("\n".join(lines))


def _json_of(contents: list[Any]) -> bytes | None:
    """The JSON that a resource is; None if it is anything else."""
    part = blocks.part_of(contents[0]) if len(contents) == 1 else None
    if part is None or part.text is None or not part.is_json:
        return None
    text = part.text.encode(errors="replace")
    return text if written.pretty(text) is not None else None


def _readable(encoded: bytes, *, is_ours: bool) -> str:
    """As `call` shows a structured answer."""
    structured = values.read(Raw(encoded))
    if is_ours and isinstance(structured, dict):
        return view.answer(structured, view.paper(), view.palette())
    return results.structured_shown(structured, view.paper(), view.palette())


def _shown(contents: list[Any], *, is_ours: bool) -> str:
    """One part as it is, or readable if it is JSON; several below their addresses."""
    if (encoded := _json_of(contents)) is not None:
        return _readable(encoded, is_ours=is_ours)
    palette = written.palette()
    lines: list[str] = []
    for value in contents:
        part = blocks.part_of(value)
        if part is None:
            lines.append(palette.quiet(f"contents that are neither text nor data; {blocks.RAW}"))
            continue
        if len(contents) > 1:
            lines.append(blocks.heading(part, palette))
        lines.append(blocks.part_shown(part, palette, blocks.SAVE if len(contents) == 1 else blocks.RAW))
    return "\n".join(lines) or "The resource is empty."


def _check_output(path: str, force: bool) -> None:
    """Raises: WrongUsage, Undetermined."""
    if path == _STDOUT:
        if sys.stdout.isatty():
            # They may hold commands to the terminal.
            raise failures.WrongUsage("--output - is for pipes; without it the contents are shown here.")
        return
    if (Path(path).is_file() or Path(path).is_symlink()) and not force:
        raise failures.WrongUsage(f"The file {path} is there already; --force replaces it.")
    files.check_writable(path, "output")


def _save(contents: list[Any], path: str, force: bool) -> None:
    """Raises: Bad, Undetermined."""
    parts = [part for value in contents if (part := blocks.part_of(value)) is not None]
    if len(parts) != 1 or len(contents) != 1:
        raise failures.Bad(f"The resource has {len(contents)} parts, and a file takes one; --raw shows them")
    (part,) = parts
    data = part.text.encode(errors="replace") if part.text is not None else _decoded(part.blob or "")
    if path == _STDOUT:
        click.echo(data, nl=False)
        return
    files.write(path, data, "output", replaces=force)
    terminal.note(f"{len(data):,} bytes written to {visible(path)}.")


def _decoded(blob: str) -> bytes:
    try:
        return base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        raise failures.Bad("The data of the resource is not Base64; --raw shows it") from None
