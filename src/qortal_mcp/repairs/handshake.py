"""What `initialize` is answered with."""

from collections.abc import Iterator
from typing import Any

from ..protocol.versions import LEGACY, negotiate
from . import nulls, spoken
from .repair import ABSENT, SAFE, Change, Repair, repair
from .subjects import Handshake
from .unknown import is_error, is_unknown_method

_KNOWN = ("tools", "prompts", "resources", "logging", "completions", "experimental", "extensions", "tasks")
_SWITCHES = ("listChanged", "subscribe")
# Servers that do not say have one all the same; clients need some text.
_NO_VERSION = "0"
_NO_NAME = "unnamed"


@repair(
    "initialize-refused",
    SAFE,
    Handshake,
    makes="A handshake with the revision that was asked for and the capability tools.",
)
def initialize_refused(handshake: Handshake) -> Iterator[Change]:
    """The server does not know initialize."""
    error = handshake.error
    if is_error(handshake.value):
        error = handshake.value["error"]
    if error is ABSENT or not is_unknown_method(error):
        return
    handshake.error = ABSENT
    handshake.value = {
        "protocolVersion": negotiate(handshake.asked.revision),
        "capabilities": _capabilities(handshake),
        "serverInfo": {"name": handshake.target or _NO_NAME, "version": _NO_VERSION},
    }
    yield Change(path="error", before=error)


def _capabilities(handshake: Handshake) -> dict[str, Any]:
    if not handshake.serves:
        return {"tools": {}}
    return {name: {} for name in _KNOWN if handshake.serves.get(name)}


@repair(
    "initialize-member-missing",
    SAFE,
    Handshake,
    makes="The revision that was asked for, the capability tools, the server's address as its name, version 0.",
)
def initialize_member_missing(handshake: Handshake) -> Iterator[Change]:
    """The result of initialize is incomplete."""
    if handshake.error is not ABSENT:
        return
    if not isinstance(handshake.value, dict):
        before, handshake.value = handshake.value, {}
        yield Change(path="result", before=before)
    result = handshake.value
    if not isinstance(before := result.get("protocolVersion"), str):
        result["protocolVersion"] = negotiate(handshake.asked.revision)
        yield Change(path="protocolVersion", before=before, after=result["protocolVersion"], keep=True)
    if not isinstance(before := result.get("capabilities"), dict):
        result["capabilities"] = _capabilities(handshake)
        yield Change(path="capabilities", before=before, after=result["capabilities"], keep=True)
    yield from _server_info(handshake, result)


def _server_info(handshake: Handshake, result: dict[str, Any]) -> Iterator[Change]:
    before = result.get("serverInfo")
    name = before if isinstance(before, str) and before else handshake.target or _NO_NAME
    if not isinstance(before, dict):
        result["serverInfo"] = {"name": name, "version": _NO_VERSION}
        yield Change(path="serverInfo", before=before, after=result["serverInfo"], keep=True)
        return
    for member, otherwise in (("name", name), ("version", _NO_VERSION)):
        given = before.get(member)
        if not isinstance(given, str):
            before[member] = otherwise if given is None else spoken.text(given)
            yield Change(path=f"serverInfo.{member}", before=given, after=before[member])


@repair("protocol-version-unknown", SAFE, Handshake, makes="The revision that was asked for.")
def protocol_version_unknown(handshake: Handshake) -> Iterator[Change]:
    """The version in the answer is not a revision with a handshake."""
    result = handshake.value
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    if isinstance(version, str) and version not in LEGACY:
        result["protocolVersion"] = negotiate(handshake.asked.revision)
        yield Change(path="protocolVersion", before=version, after=result["protocolVersion"], keep=True)


@repair(
    "capability-malformed",
    SAFE,
    Handshake,
    makes="{} for the capability; null and false leave it out, except for tools. Switches become booleans.",
)
def capability_malformed(handshake: Handshake) -> Iterator[Change]:
    """A capability that is not an object, or a switch that is not a boolean."""
    declared = _declared(handshake)
    for name in _KNOWN:
        value = declared.get(name, {})
        path = f"capabilities.{name}"
        if not isinstance(value, dict):
            is_meant = name == "tools" or (value is not None and spoken.boolean(value) is not False)
            after: Any = {} if is_meant else ABSENT
            if is_meant:
                declared[name] = after
            else:
                del declared[name]
            yield Change(path=path, before=value, after=after)
            continue
        for switch in _SWITCHES:
            if isinstance(before := value.get(switch, False), bool):
                continue
            if (after := spoken.boolean(before)) is ABSENT:
                del value[switch]
            else:
                value[switch] = after
            yield Change(path=f"{path}.{switch}", before=before, after=after)


def _declared(handshake: Handshake) -> dict[str, Any]:
    declared = handshake.value.get("capabilities") if isinstance(handshake.value, dict) else None
    return declared if isinstance(declared, dict) else {}


@repair("capability-not-declared", SAFE, Handshake, makes="The capability is added.")
def capability_not_declared(handshake: Handshake) -> Iterator[Change]:
    """A list is served although its capability is not declared."""
    declared = _declared(handshake)
    for name, is_served in handshake.serves.items():
        if is_served and name not in declared and _has_capabilities(handshake):
            declared[name] = {}
            yield Change(path=f"capabilities.{name}", after={})


def _has_capabilities(handshake: Handshake) -> bool:
    return isinstance(handshake.value, dict) and isinstance(handshake.value.get("capabilities"), dict)


@repair("capability-not-served", SAFE, Handshake, makes="The capability is left out.")
def capability_not_served(handshake: Handshake) -> Iterator[Change]:
    """A capability is declared, but its method does not exist."""
    declared = _declared(handshake)
    for name, is_served in handshake.serves.items():
        if not is_served and name in declared:
            yield Change(path=f"capabilities.{name}", before=declared.pop(name))


@repair("optional-null", SAFE, Handshake, makes="The member is left out.")
def handshake_null(handshake: Handshake) -> Iterator[Change]:
    """instructions or another optional member of the handshake is null."""
    yield from nulls.dropped(handshake.value, ("instructions", "_meta"))
    info = handshake.value.get("serverInfo") if isinstance(handshake.value, dict) else None
    yield from nulls.dropped(info, ("title", "description", "icons", "websiteUrl"), "serverInfo")


HANDSHAKE: tuple[Repair[Any], ...] = (
    initialize_refused,
    handshake_null,
    initialize_member_missing,
    protocol_version_unknown,
    capability_malformed,
    capability_not_declared,
    capability_not_served,
)
