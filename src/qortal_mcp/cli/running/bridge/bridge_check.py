"""`bridge --check`: connect, list, call what is harmless or named, and see what has to be repaired."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from msgspec import Raw, Struct
from msgspec.structs import replace

from .... import tokens
from ....audit.visiting.calls import Call, Permission, ReadOnlyClaims, choose
from ....bridge.bridge import Bridge
from ....bridge.gathered.finding import search
from ....bridge.gathered.member import Source, Unusable
from ....bridge.gathered.names import offered_tools, parts_of
from ....bridge.way import Way
from ....bridge.words import explained
from ....protocol import jsonrpc
from ....protocol.versions import NEWEST_HANDSHAKE
from ....repairs import values
from ....repairs.chosen import REPAIRS
from ....repairs.repair import ABSENT, Change
from ....text import visible
from ....transports.memory import MemoryConnection
from ...output import bridge_report
from ...output.bridge_report import Checked, Seen, Unchecked
from ...output.progress import Progress
from .. import failures
from .bridging import bridge_of

# How long nobody wonders why nothing happens.
_PATIENCE_SECONDS = 2.0
# More calls say little more about the shape of the answers.
_MOST_CALLS = 20
# Not the key of our own servers: what they report is an answer.
_ERROR = "qortal-mcp/no-answer"
_OTHER_LISTS = {"prompts": ("prompts/list",), "resources": ("resources/list", "resources/templates/list")}
# The place of a change in a list of tools.
_LISTED = re.compile(r"tools\[(\d+)\]")


def check(way: Way, calls: Sequence[Call] = (), *, as_json: bool = False) -> int:
    """0 if nothing needs repair, 1 if something does, 3 if a call had no answer. Raises: Undetermined."""
    checked = _checked(way, tuple(calls))
    bridge_report.show(checked, as_json=as_json)
    return _code(checked)


def check_all(servers: Mapping[str, Source], calls: Sequence[Call] = (), *, as_json: bool = False) -> int:
    """The same for several servers, one after another: the worst of their codes.

    Raises: WrongUsage.
    """
    by_server = _shared_out(servers, calls)
    found: list[Checked | Unchecked] = []
    codes = []
    for name, source in servers.items():
        one: Checked | Unchecked
        try:
            if isinstance(source, Unusable):
                raise failures.Undetermined(source.reason)
            assert isinstance(source, Way), "the command line has no other servers"
            one = replace(_checked(source, by_server[name], name), name=name)
        except failures.Undetermined as exc:
            one = Unchecked(name, exc.message)
        found.append(one)
        codes.append(failures.UNDETERMINED if isinstance(one, Unchecked) else _code(one))
        if not as_json:
            bridge_report.show_one(one, is_first=len(found) == 1)
    if as_json:
        bridge_report.show_list(found)
    else:
        bridge_report.show_weights(found, _weight(search.DEFINITIONS))
    return max(codes)


def _shared_out(servers: Mapping[str, Source], calls: Sequence[Call]) -> dict[str, tuple[Call, ...]]:
    """Each call to the server that its name begins with. Raises: WrongUsage."""
    found: dict[str, tuple[Call, ...]] = dict.fromkeys(servers, ())
    for call in calls:
        parts = parts_of(call.tool)
        if parts is None or parts[0] not in found:
            raise failures.WrongUsage(
                f"--call {visible(call.tool)[:100]}: with several servers a tool is named as in {next(iter(servers))}__TOOL."
            )
        found[parts[0]] += (Call(parts[1], call.arguments),)
    return found


def _checked(way: Way, calls: tuple[Call, ...], name: str = "") -> Checked:
    """Raises: Undetermined."""
    # What is repaired is the report itself; what else is logged would only be in the way.
    logging.getLogger("qortal_mcp").setLevel(logging.ERROR)
    progress = Progress()
    try:
        checked = asyncio.run(_Look(way, progress, name).at(calls))
    finally:
        progress.clear()
    masked: Checked = _masked(checked, way.mask)
    return masked


def _code(checked: Checked) -> int:
    if checked.seen:
        return failures.BAD
    return failures.UNDETERMINED if checked.is_incomplete else failures.GOOD


def _weight(tools: Sequence[Any], server: str = "") -> int:
    """About how many tokens a model reads of these tools; under the names that they have in front of several servers."""
    own = [tool["name"] for tool in tools if isinstance(tool.get("name"), str)]
    names = offered_tools(server, own) if server else {}
    # An estimate everywhere: the same report whether there is a tokenizer or not.
    return sum(
        tokens.estimate(tokens.as_read({**tool, "name": names.get(tool.get("name"), tool.get("name"))}))
        for tool in tools
    )


class _Look:
    """One look at a server, through a bridge to it."""

    def __init__(self, way: Way, progress: Progress, name: str = "") -> None:
        """`name` is that of the server, if it is one of several."""
        self._way = way
        self._name = name
        self._progress = progress
        self._seen: dict[tuple[str, str, str], Seen] = {}
        self._failed: list[tuple[str, str]] = []
        self._errors: list[tuple[str, str]] = []
        self._ids = iter(range(1, 1_000_000))
        self._client: Any = None

    async def at(self, named: tuple[Call, ...]) -> Checked:
        """Raises: Undetermined."""
        way = replace(self._way, repairs=self._way.repairs.for_reading())
        bridge = bridge_of(way, error_key=_ERROR)
        bridge.journal.on_change = self._note
        try:
            async with MemoryConnection(bridge) as self._client:
                self._progress.say(f"connecting to {self._way.name}")
                waits = asyncio.get_running_loop().create_task(self._say_that_it_waits(bridge))
                try:
                    opened = await self._result("initialize", _HELLO)
                finally:
                    waits.cancel()
                revision = next(one.connection.revision for one in bridge.behind) or ""
                self._progress.say("tools/list")
                listed = await self._result("tools/list", {})
                found = listed.get("tools")
                tools = [tool for tool in found if isinstance(tool, dict)] if isinstance(found, list) else []
                await self._other_lists(opened.get("capabilities"))
                claims = ReadOnlyClaims()
                claims.add(tools, revision=NEWEST_HANDSHAKE)
                calls, gaps = choose(tools, Permission(named=named), _MOST_CALLS, claims)
                for call in calls:
                    self._progress.say(f"tools/call {call.tool}")
                    await self._call(call)
        finally:
            await bridge.shut()
        info = opened.get("serverInfo")
        return Checked(
            target=self._way.name,
            server=info if isinstance(info, dict) else {},
            revision=revision,
            level=self._way.repairs.level,
            tools=len(tools),
            tokens=_weight(tools, self._name),
            called=tuple(dict.fromkeys(call.tool for call in calls)),
            failed=tuple(self._failed),
            errors=tuple(self._errors),
            gaps=tuple(_plainly(gap.what, gap.reason) for gap in gaps),
            is_incomplete=bool(self._failed) or any(gap.weighs for gap in gaps),
            # Not in the order in which they were seen: over HTTP that changes.
            seen=tuple(self._named(one, tools) for one in sorted(self._seen.values(), key=_order)),
        )

    async def _say_that_it_waits(self, bridge: Bridge) -> None:
        """One line, also where there is no terminal: a server that is not there is waited for, which may take long."""
        await asyncio.sleep(_PATIENCE_SECONDS)
        found = [str(error) for one in bridge.behind if (error := one.connection.error) is not None]
        why = f" ({visible(self._way.mask(found[0]))})" if found else ""
        self._progress.clear()
        seconds = f"{self._way.start_timeout:g} s"
        click.echo(f"Waiting for {self._way.name}{why}, at most {seconds} (--start-timeout).", err=True)

    async def _other_lists(self, capabilities: Any) -> None:
        """What else the server offers. That it cannot be listed is no reason to stop."""
        for capability, methods in _OTHER_LISTS.items():
            for method in methods if isinstance(capabilities, dict) and capability in capabilities else ():
                self._progress.say(method)
                await self._ask(method, {})

    def _note(self, change: Change, tool: str) -> None:
        """Keep the first change of each code, for each tool: the rest looks alike."""
        listed = _LISTED.match(change.path)
        where = tool or (listed[0] if listed is not None else "")
        self._seen.setdefault((change.code, where, ""), Seen(change, tool))

    def _named(self, one: Seen, tools: list[Any]) -> Seen:
        """With the name of the tool, where a change is in the list and the list has kept its order."""
        listed = _LISTED.match(one.change.path)
        if one.tool or listed is None or any(_is_loss(other.change) for other in self._seen.values()):
            return one
        number = int(listed[1])
        name = tools[number].get("name") if number < len(tools) else None
        return Seen(one.change, "", name) if isinstance(name, str) else one

    async def _call(self, call: Call) -> None:
        message = await self._ask("tools/call", {"name": call.tool, "arguments": call.arguments})
        if message.result is None:
            error = values.read(message.error or Raw(b"{}"))
            # An answer all the same, at a level that leaves it as it is.
            self._errors.append((call.tool, f"{error.get('message', '')} ({error.get('code', '')})"))
            return
        result = values.read(message.result)
        meta = result.get("_meta") if isinstance(result, dict) else None
        if isinstance(meta, dict) and _ERROR in meta:
            # The bridge's own words: there was no answer.
            texts = [block.get("text", "") for block in result.get("content", ())]
            self._failed.append((call.tool, " ".join(texts)))

    async def _result(self, method: str, params: object) -> Any:
        """Raises: Undetermined."""
        message = await self._ask(method, params)
        if message.result is not None:
            found = values.read(message.result)
            return found if isinstance(found, dict) else {}
        error = values.read(message.error or Raw(b"{}"))
        data = error.get("data")
        reason = data.get("reason", "") if isinstance(data, dict) else ""
        said = explained(str(error.get("message", "no answer")), str(reason))
        first, *tail = said.splitlines()
        self._progress.clear()
        for line in tail:
            click.echo(f"  | {visible(line)}", err=True)
        words = visible(first)
        if tail:
            words = f"{words} Its last words on standard error are above."
        raise failures.Undetermined(words)

    async def _ask(self, method: str, params: object) -> jsonrpc.Response:
        id_ = next(self._ids)
        await self._client.send(jsonrpc.request(id_, method, values.write(params)))
        while True:
            message = jsonrpc.read(await self._client.receive())
            if isinstance(message, jsonrpc.Response) and message.id == id_:
                return message


_ORDER: dict[str, int] = {one.code: number for number, one in reversed(list(enumerate(REPAIRS)))}


def _order(one: Seen) -> int:
    return _ORDER.get(one.change.code, len(_ORDER))


def _is_loss(change: Change) -> bool:
    """Whether a tool is not in the list any more, so that numbers differ."""
    return _LISTED.fullmatch(change.path) is not None and change.after is ABSENT


def _masked(value: Any, mask: Callable[[str], str]) -> Any:
    """The same without the secrets that the bridge was given: a server may repeat them anywhere."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list | tuple):
        return type(value)(_masked(part, mask) for part in value)
    if isinstance(value, dict):
        return {mask(name): _masked(part, mask) for name, part in value.items()}
    if isinstance(value, Struct):
        return replace(value, **{name: _member(value, name, mask) for name in value.__struct_fields__})
    return value


def _member(owner: Struct, name: str, mask: Callable[[str], str]) -> Any:
    try:
        return _masked(getattr(owner, name), mask)
    except RecursionError:
        return "(nested too deeply to be shown)"


def _plainly(what: str, reason: str) -> tuple[str, str]:
    """Without the options that only `audit` has."""
    return what, reason.replace(", or use --call-all", "")


_HELLO = {
    "protocolVersion": NEWEST_HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "qortal-mcp", "version": "0"},
}
