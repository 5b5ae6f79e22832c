"""`initialize`: the version agreed on, and what the server says about itself."""

from collections.abc import Iterator
from typing import Any

from ...protocol.versions import LEGACY, MODERN
from ..judging.check import ADVICE, IN_LEGACY, MUST, PORTABILITY, SHOULD, Check, Defect, check
from ..subjects import MISSING, Asked, Handshake, Reply, Session, Whole

_INITIALIZE = "basic/lifecycle: initialization"
_VERSIONS = "basic/lifecycle: version negotiation"
_CAPABILITIES = "basic/lifecycle: capability negotiation"
# Codex and Gemini ask for this one, and Gemini refuses anything newer.
_ASKED_BY_AGENTS = "2025-06-18"
# These must be objects. Other capabilities are not known well enough to be judged.
_KNOWN = ("tools", "prompts", "resources", "logging", "completions", "experimental", "extensions", "tasks")
_SWITCHES = ("listChanged", "subscribe")
# Agents do not wait longer before they send their first question to the model.
_IN_TIME_SECONDS = 1.0
_TOO_LATE_SECONDS = 1.8


@check(
    "initialize-refused",
    MUST,
    Whole,
    clause=_INITIALIZE,
    expected="initialize is answered with a result, or server/discover is: without one of them there is no session.",
    fix="Answer initialize with protocolVersion, capabilities and serverInfo before you offer tools.",
)
def initialize_refused(whole: Whole) -> Iterator[Defect]:
    """The server does not know initialize."""
    if any(visit.revision for visit in whole.evidence.visits):
        return
    for asked in whole.all(Asked):
        if asked.step.name == "initialize" and asked.code == -32601 and asked.reply is not None:
            yield Defect(path="initialize", evidence=asked.reply.data, at=(asked.visit, asked.step))
            return


@check(
    "initialize-member-missing",
    MUST,
    Handshake,
    clause=_INITIALIZE,
    expected="The result has protocolVersion, capabilities, and serverInfo with name and version.",
    fix="Send all three; an empty object is enough for capabilities.",
)
def initialize_member_missing(handshake: Handshake) -> Iterator[Defect]:
    """The result of initialize is incomplete."""
    result = handshake.result
    if not isinstance(result.get("protocolVersion"), str):
        yield Defect(path="result.protocolVersion", evidence=handshake.data)
    if not isinstance(result.get("capabilities"), dict):
        yield Defect(path="result.capabilities", evidence=handshake.data)
    info = result.get("serverInfo")
    if not isinstance(info, dict):
        yield Defect(path="result.serverInfo", evidence=handshake.data)
        return
    for name in ("name", "version"):
        if not isinstance(info.get(name), str):
            yield Defect(path=f"result.serverInfo.{name}", evidence=info)


@check(
    "protocol-version-unknown",
    MUST,
    Handshake,
    clause=_VERSIONS,
    expected=f"The answer names a revision with a handshake: {', '.join(LEGACY)}.",
    fix="Answer with the requested version if you support it, otherwise with the newest of these that you support.",
)
def protocol_version_unknown(handshake: Handshake) -> Iterator[Defect]:
    """The version in the answer is not a revision with a handshake."""
    version = handshake.result.get("protocolVersion")
    if isinstance(version, str) and version not in LEGACY and version != handshake.step.subject:
        yield Defect(path="result.protocolVersion", evidence=version)


@check(
    "protocol-version-echoed",
    MUST,
    Handshake,
    clause=_VERSIONS,
    expected="A version that the server does not know is answered with one that it does.",
    fix="Compare with the list of versions you support instead of echoing the request.",
)
def protocol_version_echoed(handshake: Handshake) -> Iterator[Defect]:
    """A version that does not exist was agreed to."""
    version = handshake.result.get("protocolVersion")
    if version == handshake.step.subject and version not in (*LEGACY, *MODERN):
        yield Defect(path="result.protocolVersion", evidence=handshake.data)


@check(
    "protocol-version-forced",
    PORTABILITY,
    Handshake,
    clause=_VERSIONS,
    expected=f"A client that asks for {_ASKED_BY_AGENTS} gets that version, or an older one.",
    fix="Support 2025-06-18 too: for tools it is the same as 2025-11-25.",
    departs="A server MUST agree to a version it supports, and only its author knows which these are.",
)
def protocol_version_forced(handshake: Handshake) -> Iterator[Defect]:
    """A client that asks for an older version gets a newer one."""
    version = handshake.result.get("protocolVersion")
    if handshake.step.subject == _ASKED_BY_AGENTS and version in LEGACY and version > _ASKED_BY_AGENTS:
        yield Defect(path="result.protocolVersion", evidence=handshake.data)


@check(
    "protocol-version-not-newest",
    SHOULD,
    Whole,
    clause=_VERSIONS,
    expected="A version that the server does not know is answered with the newest one that it supports.",
    fix="Answer with the newest handshake revision you support, not with the oldest.",
)
def protocol_version_not_newest(whole: Whole) -> Iterator[Defect]:
    """A client with an unknown version gets an older one than it could."""
    spoken = [visit.revision for visit in whole.evidence.visits if visit.revision in LEGACY]
    for handshake in whole.all(Handshake):
        version = handshake.result.get("protocolVersion")
        unknown = handshake.step.subject not in (*LEGACY, *MODERN)
        if unknown and version in LEGACY and version < max(spoken, default=version):
            yield Defect(
                path="result.protocolVersion",
                evidence=handshake.data,
                note=f"the server also speaks {max(spoken)}",
                at=(handshake.visit, handshake.step),
            )
            return


@check(
    "capability-malformed",
    MUST,
    Session,
    clause=_CAPABILITIES,
    expected="A capability is an object, and its switches are booleans.",
    fix='Write "tools": {} or "tools": {"listChanged": false}; leave out what you do not offer.',
)
def capability_malformed(session: Session) -> Iterator[Defect]:
    """A capability that is not an object, or a switch that is not a boolean."""
    declared = session.capabilities
    for name in _KNOWN if isinstance(declared, dict) else ():
        if name not in declared:
            continue
        path = f"result.capabilities.{name}"
        if not isinstance(declared[name], dict):
            case = "init-caps-tools-null" if declared[name] is None else "init-caps-tools-true"
            yield Defect(path=path, evidence=declared, case=case)
            continue
        for switch in _SWITCHES:
            if not isinstance(declared[name].get(switch, False), bool):
                yield Defect(path=f"{path}.{switch}", evidence=declared)


# The methods that a capability promises.
_SERVES = {
    "tools": ("tools/list",),
    "prompts": ("prompts/list",),
    "resources": ("resources/list",),
    "logging": ("logging/setLevel",),
}


@check(
    "capability-not-declared",
    MUST,
    Session,
    clause=_CAPABILITIES,
    expected="A server declares what it offers.",
    fix="Declare the capability in the answer to initialize or server/discover.",
)
def capability_not_declared(session: Session) -> Iterator[Defect]:
    """A list is served although its capability is not declared."""
    declared = session.capabilities if isinstance(session.capabilities, dict) else None
    for name in ("tools", "prompts", "resources"):
        for asked in session.answers(f"{name}/list")[:1] if declared is not None else ():
            items = asked.result.get(name) if isinstance(asked.result, dict) else None
            if name not in (declared or {}) and isinstance(items, list) and items:
                yield Defect(path=f"result.capabilities.{name}", evidence=declared)


@check(
    "capability-not-served",
    MUST,
    Session,
    clause=_CAPABILITIES,
    expected="A server offers what it declares.",
    fix="Remove the capability, or answer its methods.",
)
def capability_not_served(session: Session) -> Iterator[Defect]:
    """A capability is declared, but its method does not exist."""
    declared = session.capabilities if isinstance(session.capabilities, dict) else {}
    for name, methods in _SERVES.items():
        if name not in declared:
            continue
        for method in methods:
            for asked in session.answers(method)[:1]:
                if asked.code == -32601:
                    reply = asked.reply.data if asked.reply is not None else b""
                    yield Defect(
                        path=f"result.capabilities.{name}",
                        note=f"{method} does not exist",
                        evidence=reply,
                        at=(asked.visit, asked.step),
                    )


# The optional members of each result, none of which may be null.
_OPTIONAL = {
    "initialize": ("instructions", "_meta"),
    "server/discover": ("instructions", "_meta"),
    "tools/list": ("nextCursor", "_meta"),
    "prompts/list": ("nextCursor", "_meta"),
    "resources/list": ("nextCursor", "_meta"),
    "resources/templates/list": ("nextCursor", "_meta"),
    "tools/call": ("_meta",),
}
_OPTIONAL_IN_TOOL = ("title", "description", "annotations", "outputSchema", "icons", "execution", "_meta")
_OPTIONAL_IN_BLOCK = ("annotations", "_meta", "title", "description", "size")
_OPTIONAL_IN_INFO = ("title", "description", "icons", "websiteUrl")


@check(
    "optional-null",
    MUST,
    Reply,
    clause="schema: optional members have a type, and it is not null",
    expected="An optional member is left out, never null.",
    fix="Omit members without a value when you serialise (exclude_none, omitempty, NON_NULL…).",
)
def optional_null(reply: Reply) -> Iterator[Defect]:
    """null where a member should be left out."""
    result = reply.result
    if not isinstance(result, dict):
        return
    for name in _OPTIONAL.get(reply.step.name, ()):
        if result.get(name, MISSING) is None:
            case = {"instructions": "init-instructions-null", "nextCursor": "list-cursor-null"}.get(name, "")
            yield Defect(path=f"result.{name}", evidence=reply.data, case=case)
    info = result.get("serverInfo")
    yield from _nulls(info, _OPTIONAL_IN_INFO, "result.serverInfo", "init-instructions-null")
    if reply.step.name == "tools/list" and isinstance(result.get("tools"), list):
        for at, tool in enumerate(result["tools"]):
            yield from _nulls(tool, _OPTIONAL_IN_TOOL, _place(tool, at), "tool-title-null")
            hints = tool.get("annotations") if isinstance(tool, dict) else None
            yield from _nulls(hints, ("title",), f"{_place(tool, at)}.annotations", "tool-title-null")
    if reply.step.name == "tools/call" and isinstance(result.get("content"), list):
        for at, block in enumerate(result["content"]):
            yield from _nulls(block, _OPTIONAL_IN_BLOCK, f"result.content[{at}]", "")


def _place(tool: Any, at: int) -> str:
    name = tool.get("name") if isinstance(tool, dict) else None
    return f"tool {name}" if isinstance(name, str) and name else f"result.tools[{at}]"


def _nulls(holder: Any, names: tuple[str, ...], place: str, case: str) -> Iterator[Defect]:
    for name in names if isinstance(holder, dict) else ():
        if holder.get(name, MISSING) is None:
            near = case or ("ann-null" if name == "annotations" else "block-meta-null")
            yield Defect(path=f"{place}.{name}", evidence=holder, case=near)


@check(
    "slow-start",
    ADVICE,
    Asked,
    only="initialize",
    expected="The first answer comes within a second of the start: agents do not wait longer.",
    fix="Answer initialize first and load the rest afterwards.",
)
def slow_start(asked: Asked) -> Iterator[Defect]:
    """The handshake took too long."""
    seconds = asked.step.seconds
    is_first = next(iter(asked.visit.steps), None) is asked.step
    if asked.reply is None or not is_first or seconds < _IN_TIME_SECONDS:
        return
    late = seconds >= _TOO_LATE_SECONDS
    yield Defect(
        note=f"answered after {seconds:.1f} s",
        evidence=b"",
        severity=PORTABILITY if late else ADVICE,
        case="init-slow-2s" if late else "init-slow-1s",
    )


@check(
    "legacy-not-served",
    SHOULD,
    Whole,
    clause="2026-07-28 basic/versioning: compatibility",
    expected="initialize is answered as well: most clients today begin with it.",
    fix="Answer initialize as well, with the newest handshake revision you support; or name your versions in the error.",
    departs="A server may serve one era only; a SHOULD is broken where its refusal of initialize does not name its versions.",
)
def legacy_not_served(whole: Whole) -> Iterator[Defect]:
    """Only clients of 2026-07-28 can use this server."""
    revisions = {visit.revision for visit in whole.evidence.visits}
    tried = [one for one in whole.all(Asked) if one.step.name == "initialize"]
    if revisions & set(MODERN) and tried and not revisions & IN_LEGACY:
        first = next((one for one in tried if one.reply is not None), tried[0])
        answer = b"" if first.reply is None else first.reply.data
        # Whoever refuses it should at least say what it speaks instead.
        names_versions = any(version.encode() in answer for version in MODERN)
        severity = PORTABILITY if names_versions else SHOULD
        yield Defect(evidence=answer, severity=severity, at=(first.visit, first.step))


CHECKS: tuple[Check[Any], ...] = (
    initialize_refused,
    initialize_member_missing,
    protocol_version_unknown,
    protocol_version_echoed,
    protocol_version_forced,
    protocol_version_not_newest,
    capability_malformed,
    capability_not_declared,
    capability_not_served,
    optional_null,
    slow_start,
    legacy_not_served,
)
