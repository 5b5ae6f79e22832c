"""What is asked in each visit, in order. Says what to ask; `visitor` asks it, `checks` judge what came."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from ...protocol import headers as mcp_headers
from ...protocol.errors import METHOD_NOT_FOUND
from ...protocol.headers import header_params
from ...protocol.lenient import has_surrogate
from ...protocol.versions import LEGACY, MODERN, MODERN_ERA
from ..evidence import Gap, Step
from ..limits import AuditLimits
from ..subjects import LISTS, items_of
from .calls import Leave, Reputation, choose
from .http_visitor import HttpVisitor
from .line_visitor import LineVisitor
from .visitor import INFO, Visitor, answer_in, encoded, modern_params, request, result_in

# A revision that does not exist, a method, a tool and a cursor likewise.
NO_REVISION = "1999-01-01"
NO_METHOD = "qortal-mcp-audit/no-such-method"
NO_TOOL = "qortal_mcp_audit_no_such_tool"
NO_CURSOR = "qortal-mcp-audit-no-such-cursor"
NO_SESSION = "00000000-0000-4000-8000-000000000000"
STRANGER = "https://attacker.example"
_RAW_ID = 9001
_INITIALIZED = "notifications/initialized"

Open = Callable[[], Awaitable[Visitor]]


class Plan(Struct, kw_only=True):
    """What an audit is about, and what it learns on its way."""

    leave: Leave
    limits: AuditLimits
    gaps: list[Gap]
    # Tools that did not answer are not asked again: their silence costs its full time each time.
    hanging: set[str]
    reputation: Reputation
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
    if isinstance(visitor, HttpVisitor):
        step = await _through_the_door(visitor, step, params, revision, plan)
    result = result_in(step)
    if not isinstance(result, dict):
        return False
    version = result.get("protocolVersion")
    # What is no revision is judged by the one asked for: its clients will do the same.
    visitor.revision = version if version in LEGACY else revision if revision in LEGACY else ""
    if isinstance(visitor, HttpVisitor) and step.http is not None:
        visitor.session_id = step.http.header(mcp_headers.SESSION_ID)
    await visitor.tell(_INITIALIZED, _INITIALIZED)
    return True


async def _through_the_door(
    visitor: HttpVisitor, step: Step, params: Mapping[str, Any], revision: str, plan: Plan
) -> Step:
    """Follow one redirect inside the same origin, and look for the way in where the door is closed."""
    http = step.http
    if http is None or http.status is None:
        return step
    location = http.header("location")
    if 300 <= http.status < 400 and location is not None:
        target = _joined(visitor.url, location)
        if _origin(target) == _origin(visitor.url):
            await visitor.move(target)
            return await visitor.ask("initialize", "initialize", params, subject=revision)
        plan.gap(Gap("server", "it redirects to another host; audit that address", weighs=True))
    elif http.status in (401, 403):
        how = "give it with --header-file"
        plan.gap(Gap("server", f"it wants an authorization (HTTP {http.status}); {how}", weighs=True))
        if http.status == 401:
            await _look_for_metadata(visitor, http.header("www-authenticate") or "")
    return step


async def _look_for_metadata(visitor: HttpVisitor, challenge: str) -> None:
    parts = urlsplit(visitor.url)
    root = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource"
    named = challenge.partition('resource_metadata="')[2].partition('"')[0]
    urls = [named] if named else [f"{root}{parts.path.rstrip('/')}", root]
    for url in dict.fromkeys(urls):
        # A stranger's server may name any address; only its own is asked.
        if _origin(url) == _origin(visitor.url):
            await visitor.get("auth-metadata", url=url)


def _joined(url: str, location: str) -> str:
    """Where a redirect leads; empty where that is no address."""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()


async def without_handshake(visitor: Visitor, plan: Plan) -> None:
    """A server that does not know `initialize` may have tools all the same. Its author wants to hear about them."""
    refused = answer_in(visitor.steps[-1])
    error = refused.get("error") if refused is not None else None
    if isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND and not visitor.is_over:
        pages = await _all_pages(visitor, "tools/list", "tools", plan)
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
    if isinstance(visitor, HttpVisitor):
        await _version_headers(visitor)
    await visitor.ask("unknown-method", NO_METHOD, {})
    if visitor.is_over:
        return
    await visitor.tell("unknown-notification", "notifications/qortal-mcp-audit-unknown")
    await visitor.ask("ping", "ping")
    await visitor.tell("notifications/cancelled", "notifications/cancelled", {"requestId": 987654321})
    await visitor.ask("ping", "ping")
    await _tool_probes(visitor, tools)
    if not visitor.is_over:
        await visitor.ask("ping", "ping")
    # Late: it is the end of programs that expect an object.
    if visitor.revision == "2025-03-26" and not visitor.is_over:
        await _batch(visitor, plan)
    # Last, as it ends the session.
    if isinstance(visitor, HttpVisitor):
        await _legacy_http(visitor)


async def _batch(visitor: Visitor, plan: Plan) -> None:
    """One request as a batch. Where it is passed over, the next answer shows it sooner than silence does."""
    message, limits = encoded([request(_RAW_ID, "ping")]), plan.limits
    if isinstance(visitor, HttpVisitor):
        await visitor.send("raw batch", message, expects=_RAW_ID, seconds=limits.probe_seconds)
        return
    step = await visitor.send("raw batch", message, expects=_RAW_ID, seconds=limits.grace_seconds)
    if step.end == "silent" and not visitor.is_over:
        await visitor.ask("after-batch", "ping", seconds=limits.probe_seconds)


async def _lists(visitor: Visitor, plan: Plan) -> list[Mapping[str, Any]]:
    tools: list[Mapping[str, Any]] = []
    for method, member in LISTS.items():
        if visitor.is_over:
            break
        items = await _all_pages(visitor, method, member, plan)
        if method == "tools/list":
            tools = [item for item in items if isinstance(item, dict)]
    return tools


async def _all_pages(visitor: Visitor, method: str, member: str, plan: Plan) -> list[Any]:
    items: list[Any] = []
    cursor: str | None = None
    given: set[str] = set()
    for _ in range(plan.limits.list_pages):
        step = await visitor.ask(
            method, method, {"cursor": cursor} if cursor is not None else {}, subject=cursor or ""
        )
        result = result_in(step)
        items += items_of(result, member)
        following = result.get("nextCursor") if isinstance(result, dict) else None
        if not isinstance(following, str) or not following or following in given:
            return items
        given.add(following)
        cursor = following
    plan.gap(Gap(method, f"only {plan.limits.list_pages} pages were read", weighs=True))
    return items


async def _version_headers(visitor: HttpVisitor) -> None:
    """Requests with, without, and with a wrong version header (since 2025-06-18)."""
    name = mcp_headers.PROTOCOL_VERSION
    if visitor.revision < "2025-06-18":
        return
    await visitor.ask("no-version-header", "tools/list", {}, headers={name: None})
    await visitor.ask("bad-version-header", "tools/list", {}, headers={name: NO_REVISION})


async def _tool_probes(visitor: Visitor, tools: list[Mapping[str, Any]]) -> None:
    if not tools or visitor.is_over or any(tool.get("name") == NO_TOOL for tool in tools):
        return
    await visitor.ask("unknown-tool", "tools/call", {"name": NO_TOOL, "arguments": {}})
    if not visitor.is_over:
        await visitor.ask("call-without-name", "tools/call", {"arguments": {}})
    if not visitor.is_over:
        await visitor.ask("bad-cursor", "tools/list", {"cursor": NO_CURSOR})


async def _calls(visitor: Visitor, tools: list[Mapping[str, Any]], plan: Plan) -> None:
    plan.reputation.hear(tools, revision=visitor.revision)
    calls, gaps = choose(tools, plan.leave, plan.limits.calls, plan.reputation)
    for gap in gaps:
        plan.gap(gap)
    if isinstance(visitor, HttpVisitor):
        visitor.header_params = {
            tool["name"]: _header_params(tool) for tool in tools if isinstance(tool.get("name"), str)
        }
    for number, call in enumerate(calls):
        if visitor.is_over:
            left = ", ".join(one.tool for one in calls[number:])
            plan.gap(Gap(f"tools {left}", "not called, as the connection was gone", weighs=True))
            return
        if isinstance(visitor, HttpVisitor) and visitor.revision in MODERN and has_surrogate(call.tool):
            plan.gap(Gap(f"tool {call.tool}", "no header can carry its name", weighs=True))
            continue
        if call.tool in plan.hanging:
            plan.gap(Gap(f"tool {call.tool}", "it did not answer once, so it was not asked again"))
            continue
        plan.say(f"{visitor.revision}: calling {call.tool}")
        params = {"name": call.tool, "arguments": dict(call.arguments)}
        step = await visitor.ask("tools/call", "tools/call", params, subject=call.tool)
        if step.end == "silent":
            plan.hanging.add(call.tool)
        if step.http is not None and step.http.status in (401, 403, 429):
            plan.gap(Gap(f"tool {call.tool}", f"the call was refused (HTTP {step.http.status})", weighs=True))
        if isinstance(visitor, HttpVisitor):
            await _new_session(visitor, step, plan)


def _header_params(tool: Mapping[str, Any]) -> Any:
    schema = tool.get("inputSchema")
    try:
        return header_params(schema) if isinstance(schema, dict) else ()
    except ValueError:
        return ()


async def _new_session(visitor: HttpVisitor, step: Step, plan: Plan) -> None:
    """A session that is gone is opened again, once for each step that found it so."""
    if visitor.session_id is None or step.http is None or step.http.status not in (400, 404):
        return
    if answer_in(step) is None or step.http.status == 404:
        revision = visitor.revision
        visitor.session_id = None
        await shake_hands(visitor, revision, plan)


async def _legacy_http(visitor: HttpVisitor) -> None:
    usual = tuple(
        (name, value)
        for name, value in (
            (mcp_headers.SESSION_ID, visitor.session_id),
            (mcp_headers.PROTOCOL_VERSION, visitor.revision if visitor.revision >= "2025-06-18" else None),
        )
        if value is not None
    )
    await visitor.get("get-stream", usual)
    await visitor.ask("foreign-origin", "ping", headers={"origin": STRANGER})
    if visitor.session_id is None:
        return
    await visitor.ask("unknown-session", "ping", headers={mcp_headers.SESSION_ID: NO_SESSION})
    ended = await visitor.delete("delete-session")
    if ended.http is not None and ended.http.status is not None and 200 <= ended.http.status < 300:
        await visitor.ask("after-delete", "ping")


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
    old = {**modern_params({}, NO_REVISION)}
    message = encoded(request(_RAW_ID, "tools/list", old))
    if isinstance(visitor, HttpVisitor):
        version, method = mcp_headers.PROTOCOL_VERSION, mcp_headers.METHOD
        await visitor.post(
            "modern-old-version", message, ((version, NO_REVISION), (method, "tools/list")), _RAW_ID
        )
        await visitor.ask("modern-header-mismatch", "tools/list", {}, headers={method: "prompts/list"})
        bare = encoded(request(_RAW_ID + 1, "tools/list", {}))
        await visitor.post(
            "modern-no-meta", bare, ((version, MODERN_ERA), (method, "tools/list")), _RAW_ID + 1
        )
        await visitor.ask("foreign-origin", "tools/list", {}, headers={"origin": STRANGER})
    else:
        await visitor.send("modern-old-version", message, expects=_RAW_ID)
    await _tool_probes(visitor, tools)


async def manners_visit(visitor: Visitor, plan: Plan) -> None:
    """A version that does not exist, rubbish, and the end of input."""
    agreed = await shake_hands(visitor, NO_REVISION, plan)
    if agreed:
        await visitor.ask("ping", "ping")
    await visitor.send("raw garbage", b"this is no JSON")
    if not visitor.is_over and agreed:
        await visitor.ask("after-garbage", "ping", seconds=plan.limits.probe_seconds)
    if isinstance(visitor, LineVisitor):
        await visitor.end_input()
