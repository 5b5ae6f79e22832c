"""A server as a table of what it says, laid out as the capture that an audit of it would have kept."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from qortal_mcp.audit.evidence import Evidence, Headers, Heard, Http, Step, Transport, Visit
from qortal_mcp.protocol.versions import LEGACY

NO_METHOD = "qortal-mcp-audit/no-such-method"
NO_TOOL = "qortal_mcp_audit_no_such_tool"
JSON = (("content-type", "application/json"),)
_CLIENT = {"name": "qortal-mcp-audit", "version": "0"}
_MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": _CLIENT,
}


class Reply(Struct, frozen=True):
    """What goes over the wire. $ID, $VERSION and $METHOD stand for those of the question."""

    body: str = ""
    # Only HTTP has one.
    status: int = 200


NOTHING = Reply(status=202)


Calls = tuple[tuple[str, dict[str, Any]], ...]


class System(Struct, frozen=True, kw_only=True):
    """One server at one time of its life. What is not in the table is answered as an unknown method is."""

    name: str
    target: str
    transport: Transport
    says: Mapping[str, Reply]
    # Tools to call, with their arguments.
    calls: Calls
    # The revisions that its handshake agrees to: those of the visits.
    revisions: tuple[str, ...] = ("2025-06-18", "2025-03-26")

    def reply(self, name: str, subject: str, message: Any) -> Reply:
        known = self.says
        found = known.get(f"{name} {subject}") or known.get(name) or known["unknown-method"]
        question = message if isinstance(message, dict) else {}
        params = question.get("params")
        version = params.get("protocolVersion") if isinstance(params, dict) else None
        body = (
            found.body.replace("$ID", json.dumps(question.get("id")))
            .replace("$VERSION", str(version))
            .replace("$METHOD", str(question.get("method")))
        )
        return msgspec.structs.replace(found, body=body)


def named(message: Any) -> tuple[str, str]:
    """What the audit calls the step that sends a message, and the step's subject."""
    if not isinstance(message, dict):
        return "raw batch" if isinstance(message, list) else "raw garbage", ""
    method, params = message.get("method"), message.get("params") or {}
    if method == "tools/call":
        tool = params.get("name")
        if tool == NO_TOOL:
            return "unknown-tool", ""
        return ("tools/call", tool) if tool else ("call-without-name", "")
    if method == "initialize":
        return "initialize", params["protocolVersion"]
    if method == "tools/list" and "cursor" in params:
        return "bad-cursor", ""
    if method in (NO_METHOD, "notifications/qortal-mcp-audit-unknown"):
        return "unknown-method" if "id" in message else "unknown-notification", ""
    return str(method), ""


def capture(system: System) -> Evidence:
    """The visits of an audit, without what only repeats itself."""
    visits = [
        Visit(name="probe", transport=system.transport, steps=(_probe(system),)),
        *(_visit(system, revision, _questions(system, revision)) for revision in system.revisions),
        _visit(system, "", _rude_questions(), name="manners"),
    ]
    if system.transport == "websocket":
        page = (("origin", "https://attacker.example"),)
        opened = Http(method="GET", sent=page, status=system.reply("foreign-page", "", None).status)
        step = Step(name="foreign-origin", http=opened)
        visits.append(Visit(name="foreign page", transport="websocket", steps=(step,)))
    return Evidence(target=system.target, transport=system.transport, visits=tuple(visits))


# What is asked: the name of the step where its message does not tell it, the message, headers of its own.
Question = tuple[str, Any, Headers]


def _probe(system: System) -> Step:
    return _step(system, ("", {"id": 1, "method": "server/discover", "params": {"_meta": _MODERN_META}}, ()))


def _questions(system: System, revision: str) -> Iterator[Question]:
    is_first = revision == system.revisions[0]
    usual: Headers = (("mcp-protocol-version", revision),) if revision >= "2025-06-18" else ()
    yield "", _initialize(revision), ()
    yield "", {"method": "notifications/initialized"}, usual
    yield "", {"id": 2, "method": "ping"}, usual
    yield "", {"id": 3, "method": "tools/list", "params": {}}, usual
    for at, (tool, arguments) in enumerate(system.calls, 10):
        params = {"name": tool, "arguments": arguments}
        yield "", {"id": at, "method": "tools/call", "params": params}, usual
    if not is_first:
        yield "raw batch", [{"jsonrpc": "2.0", "id": 9001, "method": "ping"}], usual
        return
    yield "", {"id": 4, "method": NO_METHOD, "params": {}}, usual
    yield "", {"method": "notifications/qortal-mcp-audit-unknown"}, usual
    yield "", {"method": "notifications/cancelled", "params": {"requestId": 987654321}}, usual
    yield "", {"id": 5, "method": "tools/call", "params": {"name": NO_TOOL, "arguments": {}}}, usual
    yield "", {"id": 6, "method": "tools/call", "params": {"arguments": {}}}, usual
    if system.transport == "http":
        old = (("mcp-protocol-version", "1999-01-01"),)
        yield "bad-version-header", {"id": 7, "method": "tools/list", "params": {}}, old
        yield "get-stream", None, (("accept", "text/event-stream"), *usual)
        page = (("origin", "https://attacker.example"), *usual)
        yield "foreign-origin", {"id": 8, "method": "ping"}, page


def _rude_questions() -> Iterator[Question]:
    yield "", _initialize("1999-01-01"), ()
    yield "raw garbage", b"this is no JSON", ()
    yield "after-garbage", {"id": 2, "method": "ping"}, ()


def _initialize(version: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": _CLIENT}
    return {"id": 1, "method": "initialize", "params": params}


def _visit(system: System, revision: str, questions: Iterator[Question], name: str = "") -> Visit:
    steps = tuple(_step(system, question) for question in questions)
    opened = next(step for step in steps if step.name == "initialize")
    result = next((json.loads(heard.text).get("result") for heard in opened.heard), None)
    version = result["protocolVersion"] if isinstance(result, dict) else None
    agreed = "" if version is None else version if version in LEGACY else revision
    return Visit(name=name or revision, transport=system.transport, revision=agreed, steps=steps)


def _step(system: System, question: Question) -> Step:
    given, message, headers = question
    sent = _sent(message)
    name, subject = (given, "") if given else named(message)
    reply = system.reply(name, subject, message)
    is_notice = isinstance(message, dict) and "id" not in message
    http = None
    if system.transport == "http":
        http = Http(
            method="GET" if message is None else "POST",
            sent=headers,
            status=reply.status,
            headers=JSON if reply.body else (),
        )
    return Step(
        name=name,
        subject=subject,
        text=sent,
        heard=(Heard(text=reply.body),) if reply.body else (),
        http=http,
        end="sent" if is_notice else "answered" if reply.body or http else "silent",
    )


def _sent(message: Any) -> str:
    if message is None:
        return ""
    if isinstance(message, bytes):
        return message.decode()
    whole = {"jsonrpc": "2.0", **message} if isinstance(message, dict) else message
    return json.dumps(whole, separators=(",", ":"))
