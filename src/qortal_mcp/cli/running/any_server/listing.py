"""`tools` for any server: the list, or one tool in full."""

from collections.abc import Callable
from typing import Any

from ....repairs import values
from ... import program
from ...output import terminal, view
from ...output.any_server import tools as output
from ...output.any_server import written
from .. import failures
from .asking import listed, use
from .chosen import OtherServer
from .other import Other

Weighed = Callable[[list[dict[str, Any]], view.Palette], str]


def show_tools(where: OtherServer, name: str | None, *, as_json: bool, weighed: Weighed | None) -> None:
    """Raises: NoSuchTool, Bad, Undetermined."""

    async def work(asker: Any) -> tuple[str, list[dict[str, Any]]]:
        assert isinstance(asker, Other), "the server is not ours"
        asker.shows_tools = True
        return _title(asker.info) or where.way.name, await listed(where, asker, "tools/list", "tools")

    title, tools = use(where, work)
    palette = written.palette()
    if name is not None:
        tools = [named(tools, name)]
    if as_json:
        written.write_json(values.write({"tools": tools} if name is None else tools[0]))
    elif weighed is not None:
        terminal.write(weighed(_readable(tools), palette))
    elif name is not None:
        terminal.write(output.detail(tools[0], terminal.width(), palette))
    else:
        hint = palette.quiet(f"{program.PROGRAM} tools TOOL{where.hint} shows one in full.")
        page = output.listed(title, tools, terminal.width(), palette)
        terminal.write(f"{page}\n\n{hint}" if tools else page)


def named(tools: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Raises: NoSuchTool."""
    known = {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str)}
    if name not in known:
        near = program.unknown("tool", name, [one for one in known if len(one) <= 200][:1000])
        raise failures.NoSuchTool(f"{near} See {program.PROGRAM} tools --server ….")
    return known[name]


def _title(info: dict[str, Any]) -> str:
    words = [
        written.label(info[name], 100) for name in ("name", "version") if isinstance(info.get(name), str)
    ]
    return " ".join(words)


def _readable(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With names that can be shown in a column."""
    return [{**tool, "name": written.label(tool.get("name"))} for tool in tools]
