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
from .messages import INFO, answer_in, result_in, said_in
from .probes import (
    LISTEN_ID,
    NO_CURSOR,
    NO_LEVEL,
    NO_MEMBER,
    NO_METHOD,
    NO_NOTIFICATION,
    NO_PROMPT,
    NO_REQUEST,
    NO_RESOURCE,
    NO_REVISION,
    NO_TOOL,
    NOT_JSON,
    STRING_ID,
)
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
    visitor.capabilities = _capabilities(result)
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
    offers = await _lists(visitor, plan)
    tools = offers["tools/list"]
    # Before the probes: a server that one of them ends has shown its results by then.
    await _calls(visitor, tools, plan)
    await _reads(visitor, offers, plan)
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
    await _unusual_requests(visitor, "ping")
    await _log_levels(visitor)
    if not visitor.is_over:
        await visitor.ask("ping", "ping")
    # Late: it is the end of programs that expect an object.
    if visitor.revision == "2025-03-26" and not visitor.is_over:
        await visitor.probe_batch()
    # Last, as it ends the session.
    await visitor.probe_session()


def _capabilities(result: Mapping[str, Any]) -> Mapping[str, Any]:
    declared = result.get("capabilities")
    return declared if isinstance(declared, dict) else {}


Offers = Mapping[str, list[Mapping[str, Any]]]


async def _lists(visitor: Visitor, plan: Plan) -> Offers:
    """What the server offers, by the method that lists it. What is not an object is left out."""
    offers: dict[str, list[Mapping[str, Any]]] = {method: [] for method in _LISTS}
    for method in _LISTS:
        if visitor.is_over:
            break
        items = await _all_pages(visitor, method, plan)
        offers[method] = [item for item in items if isinstance(item, dict)]
    return offers


async def _reads(visitor: Visitor, offers: Offers, plan: Plan) -> None:
    """One prompt and one resource, and one of each that does not exist. Both are made for reading."""
    prompts = [one for one in offers["prompts/list"] if isinstance(one.get("name"), str)]
    resources = [one for one in offers["resources/list"] if isinstance(one.get("uri"), str)]
    if plan.permission.by_itself:
        for prompt in [one for one in prompts if not _required(one)][:1]:
            await _ask_if_there(visitor, "prompts/get", {"name": prompt["name"]}, str(prompt["name"]))
        for resource in resources[:1]:
            await _ask_if_there(visitor, "resources/read", {"uri": resource["uri"]}, str(resource["uri"]))
        await _completion(visitor, prompts)
        for prompt in [one for one in prompts if _required(one)][:1]:
            name = str(prompt["name"])
            await _ask_if_there(visitor, "prompts/get", {"name": name}, name, step="prompt-without-argument")
    if prompts and not visitor.is_over:
        await visitor.ask("unknown-prompt", "prompts/get", {"name": NO_PROMPT}, subject=NO_PROMPT)
    if resources and not visitor.is_over:
        await visitor.ask("unknown-resource", "resources/read", {"uri": NO_RESOURCE}, subject=NO_RESOURCE)


async def _ask_if_there(
    visitor: Visitor,
    method: StepName,
    params: Mapping[str, Any],
    subject: str,
    step: StepName | None = None,
) -> None:
    if not visitor.is_over and visitor.can_name(subject):
        await visitor.ask(step or method, method, params, subject=subject)


def _arguments_of(prompt: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = prompt.get("arguments")
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _required(prompt: Mapping[str, Any]) -> bool:
    return any(one.get("required") is True for one in _arguments_of(prompt))


async def _completion(visitor: Visitor, prompts: list[Mapping[str, Any]]) -> None:
    if "completions" not in visitor.capabilities or visitor.is_over:
        return
    unknown = {"ref": {"type": "ref/prompt", "name": NO_PROMPT}, "argument": {"name": "x", "value": ""}}
    await visitor.ask("unknown-reference", "completion/complete", unknown)
    for prompt in prompts:
        for argument in _arguments_of(prompt):
            if isinstance(argument.get("name"), str):
                ref = {"type": "ref/prompt", "name": prompt["name"]}
                params = {"ref": ref, "argument": {"name": argument["name"], "value": ""}}
                await _ask_if_there(visitor, "completion/complete", params, "")
                return


async def _log_levels(visitor: Visitor) -> None:
    if "logging" not in visitor.capabilities or visitor.is_over:
        return
    await visitor.ask("logging/setLevel", "logging/setLevel", {"level": "error"})
    if not visitor.is_over:
        await visitor.ask("bad-log-level", "logging/setLevel", {"level": NO_LEVEL})


async def _listen(visitor: Visitor, plan: Plan) -> None:
    """A subscription, for as long as its first message may take; where changes are promised at all."""
    promised = {
        f"{name}ListChanged": True
        for name in ("tools", "prompts", "resources")
        if isinstance(given := visitor.capabilities.get(name), dict) and given.get("listChanged") is True
    }
    if not promised or visitor.is_over:
        return
    step = await visitor.ask(
        "modern-listen",
        "subscriptions/listen",
        {"notifications": promised},
        id_=LISTEN_ID,
        seconds=2 * plan.limits.grace_seconds,
    )
    if step.http is None and not visitor.is_over:
        await visitor.tell("notifications/cancelled", "notifications/cancelled", {"requestId": LISTEN_ID})


async def _unusual_requests(visitor: Visitor, method: str) -> None:
    """An id that is a string, and a member that nobody knows: both are allowed."""
    if not visitor.is_over:
        await visitor.ask("string-id", method, {}, id_=STRING_ID)
    if not visitor.is_over and "tools" in visitor.capabilities:
        await visitor.ask("extra-member", "tools/list", {NO_MEMBER: True})


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
        reason = f"the call was refused (HTTP {step.http.status}){said_in(step)}"
        plan.gap(Gap(f"tool {call.tool}", reason, weighs=True))
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
    visitor.capabilities = _capabilities(result)
    return True


async def modern_visit(visitor: Visitor, plan: Plan) -> None:
    """Everything that is asked of a server of 2026-07-28 after its discovery."""
    offers = await _lists(visitor, plan)
    tools = offers["tools/list"]
    await _calls(visitor, tools, plan)
    await _reads(visitor, offers, plan)
    if visitor.is_over:
        return
    if tools:
        await visitor.ask("modern-list-again", "tools/list", {})
    await visitor.ask("modern-unknown-method", NO_METHOD, {})
    await visitor.ask("modern-removed-method", "ping", {})
    await visitor.probe_modern()
    await _tool_probes(visitor, tools)
    if tools and not visitor.is_over:
        await visitor.probe_names(NO_TOOL)
    await _unusual_requests(visitor, "server/discover")
    await _listen(visitor, plan)


async def manners_visit(visitor: Visitor, plan: Plan) -> None:
    """A version that does not exist, a message that is not JSON, and the end of input."""
    agreed = await shake_hands(visitor, NO_REVISION, plan)
    if agreed:
        await visitor.ask("ping", "ping")
    await visitor.send("raw garbage", NOT_JSON)
    if not visitor.is_over and agreed:
        await visitor.ask("after-garbage", "ping", seconds=plan.limits.probe_seconds)
    await visitor.end_input()
