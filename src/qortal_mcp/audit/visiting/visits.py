"""The visits, in the order of their steps. Says what to ask; a visitor asks it, `checks` judge what came."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from ...protocol.errors import METHOD_NOT_FOUND
from ...protocol.versions import LEGACY, MODERN, MODERN_ERA
from ..evidence import Gap
from ..limits import AuditLimits
from ..steps import StepName
from ..subjects import LISTS, items_of
from .calls import Call, Permission, ReadOnlyClaims, choose
from .messages import INFO, answer_in, result_in
from .probes import NO_CURSOR, NO_METHOD, NO_NOTIFICATION, NO_REQUEST, NO_REVISION, NO_TOOL, NOT_JSON
from .visitor import Visitor

# The tools first: the rest is worth less where the connection breaks.
_LISTS: tuple[StepName, ...] = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
)


class Plan(Struct, kw_only=True):
    """What an audit is about, and what it learns on its way."""

    permission: Permission
    limits: AuditLimits
    gaps: list[Gap]
    # Tools that did not answer are not called again: each silence costs its full time.
    hanging: set[str]
    claims: ReadOnlyClaims
    say: Callable[[str], None]

    def gap(self, gap: Gap) -> None:
        if gap not in self.gaps:
            self.gaps.append(gap)


async def shake_hands(visitor: Visitor, revision: str, plan: Plan) -> bool:
    """`initialize` and what follows it. True where there is a server to go on with."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": INFO}
    step = await visitor.ask(
        "initialize", "initialize", params, subject=revision, seconds=plan.limits.start_seconds
    )
    step = await visitor.resolve_refusal(step, params, plan.gap)
    result = result_in(step)
    if not isinstance(result, dict):
        return False
    version = result.get("protocolVersion")
    # What is not a revision is judged by the one asked for: its clients will do the same.
    visitor.agree(version if version in LEGACY else revision if revision in LEGACY else "", step)
    await visitor.tell("notifications/initialized", "notifications/initialized")
    return True


async def without_handshake(visitor: Visitor, plan: Plan) -> None:
    """A server that does not know `initialize` may still have tools, and its author wants to know about them."""
    refused = answer_in(visitor.steps[-1])
    error = refused.get("error") if refused is not None else None
    if isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND and not visitor.is_over:
        pages = await _all_pages(visitor, "tools/list", plan)
        tools: list[Mapping[str, Any]] = [tool for tool in pages if isinstance(tool, dict)]
        await _calls(visitor, tools, plan)
        await _tool_probes(visitor, tools)


async def legacy_visit(visitor: Visitor, plan: Plan) -> None:
    """Everything that is asked of a server of a handshake revision after the handshake."""
    # Also a fence: what came by then without being asked for is an answer to the notification.
    await visitor.ask("ping", "ping")
    tools = await _lists(visitor, plan)
    # Before the probes: a server that one of them ends has shown its results by then.
    await _calls(visitor, tools, plan)
    if visitor.is_over:
        return
    await visitor.probe_version_headers()
    await visitor.ask("unknown-method", NO_METHOD, {})
    if visitor.is_over:
        return
    await visitor.tell("unknown-notification", NO_NOTIFICATION)
    await visitor.ask("ping", "ping")
    await visitor.tell("notifications/cancelled", "notifications/cancelled", {"requestId": NO_REQUEST})
    await visitor.ask("ping", "ping")
    await _tool_probes(visitor, tools)
    if not visitor.is_over:
        await visitor.ask("ping", "ping")
    # Late: it is the end of programs that expect an object.
    if visitor.revision == "2025-03-26" and not visitor.is_over:
        await visitor.probe_batch()
    # Last, as it ends the session.
    await visitor.probe_session()


async def _lists(visitor: Visitor, plan: Plan) -> list[Mapping[str, Any]]:
    tools: list[Mapping[str, Any]] = []
    for method in _LISTS:
        if visitor.is_over:
            break
        items = await _all_pages(visitor, method, plan)
        if method == "tools/list":
            tools = [item for item in items if isinstance(item, dict)]
    return tools


async def _all_pages(visitor: Visitor, method: StepName, plan: Plan) -> list[Any]:
    items: list[Any] = []
    cursor: str | None = None
    given: set[str] = set()
    for _ in range(plan.limits.list_pages):
        step = await visitor.ask(
            method, method, {"cursor": cursor} if cursor is not None else {}, subject=cursor or ""
        )
        result = result_in(step)
        items += items_of(result, LISTS[method])
        following = result.get("nextCursor") if isinstance(result, dict) else None
        if not isinstance(following, str) or not following or following in given:
            return items
        given.add(following)
        cursor = following
    plan.gap(Gap(method, f"only {plan.limits.list_pages} pages were read", weighs=True))
    return items


async def _tool_probes(visitor: Visitor, tools: list[Mapping[str, Any]]) -> None:
    if not tools or visitor.is_over or any(tool.get("name") == NO_TOOL for tool in tools):
        return
    await visitor.ask("unknown-tool", "tools/call", {"name": NO_TOOL, "arguments": {}})
    if not visitor.is_over:
        await visitor.ask("call-without-name", "tools/call", {"arguments": {}})
    if not visitor.is_over:
        await visitor.ask("bad-cursor", "tools/list", {"cursor": NO_CURSOR})


async def _calls(visitor: Visitor, tools: list[Mapping[str, Any]], plan: Plan) -> None:
    plan.claims.add(tools, revision=visitor.revision)
    calls, gaps = choose(tools, plan.permission, plan.limits.calls, plan.claims)
    for gap in gaps:
        plan.gap(gap)
    visitor.learn(tools)
    for number, call in enumerate(calls):
        if visitor.is_over:
            left = ", ".join(one.tool for one in calls[number:])
            plan.gap(Gap(f"tools {left}", "not called, as the connection was gone", weighs=True))
            return
        if not visitor.can_name(call.tool):
            plan.gap(Gap(f"tool {call.tool}", "no header can carry its name", weighs=True))
        elif call.tool in plan.hanging:
            plan.gap(Gap(f"tool {call.tool}", "it did not answer once, so it was not called again"))
        else:
            await _call(visitor, call, plan)


async def _call(visitor: Visitor, call: Call, plan: Plan) -> None:
    plan.say(f"{visitor.revision}: calling {call.tool}")
    params = {"name": call.tool, "arguments": dict(call.arguments)}
    step = await visitor.ask("tools/call", "tools/call", params, subject=call.tool)
    if step.end == "silent":
        plan.hanging.add(call.tool)
    if step.http is not None and step.http.status in (401, 403, 429):
        plan.gap(Gap(f"tool {call.tool}", f"the call was refused (HTTP {step.http.status})", weighs=True))
    # A session that is gone is opened again, once for each step that found it so.
    if visitor.has_lost_session(step):
        await shake_hands(visitor, visitor.revision, plan)


async def discover(visitor: Visitor, plan: Plan) -> bool:
    """The probe. True where the server is of the modern era."""
    step = await visitor.ask("server/discover", "server/discover", {}, seconds=plan.limits.probe_seconds)
    result = result_in(step)
    versions = result.get("supportedVersions") if isinstance(result, dict) else None
    if not isinstance(versions, list) or not any(version in MODERN for version in versions):
        return False
    visitor.revision = MODERN_ERA
    return True


async def modern_visit(visitor: Visitor, plan: Plan) -> None:
    """Everything that is asked of a server of 2026-07-28 after its discovery."""
    tools = await _lists(visitor, plan)
    await _calls(visitor, tools, plan)
    if visitor.is_over:
        return
    await visitor.ask("modern-unknown-method", NO_METHOD, {})
    await visitor.ask("modern-removed-method", "ping", {})
    await visitor.probe_modern()
    await _tool_probes(visitor, tools)


async def manners_visit(visitor: Visitor, plan: Plan) -> None:
    """A version that does not exist, a message that is not JSON, and the end of input."""
    agreed = await shake_hands(visitor, NO_REVISION, plan)
    if agreed:
        await visitor.ask("ping", "ping")
    await visitor.send("raw garbage", NOT_JSON)
    if not visitor.is_over and agreed:
        await visitor.ask("after-garbage", "ping", seconds=plan.limits.probe_seconds)
    await visitor.end_input()
