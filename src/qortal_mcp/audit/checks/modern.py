"""2026-07-28: discovery, the fields every result carries there, and the same fields where they do not belong."""

from collections.abc import Iterator
from typing import Any

from ..judging.check import ADVICE, IN_LEGACY, IN_MODERN, MUST, PORTABILITY, SHOULD, Check, Defect, check
from ..subjects import Asked, Discovery, Reply

_DISCOVER = "2026-07-28 server/discover"
_CACHING = "2026-07-28 server/utilities/caching"
_CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
_MODERN_MEMBERS = ("resultType", "ttlMs", "cacheScope")


@check(
    "discover-unanswered",
    ADVICE,
    Asked,
    only="server/discover",
    clause="2026-07-28 basic/versioning: compatibility",
    expected="A server that does not know server/discover says so at once with -32601.",
    fix="Answer every unknown request with -32601; silence delays each client start by 1 to 10 seconds.",
)
def discover_unanswered(asked: Asked) -> Iterator[Defect]:
    """server/discover is never answered."""
    if asked.reply is None and asked.step.end == "silent":
        http = asked.step.http is not None
        yield Defect(
            evidence=asked.step.sent,
            severity=SHOULD if http else ADVICE,
            case="http-discover-hang" if http else "discover-silent",
        )


@check(
    "discover-malformed",
    MUST,
    Discovery,
    clause=_DISCOVER,
    expected="The result has supportedVersions and capabilities.",
    fix="Send both, or answer -32601 if you do not support 2026-07-28.",
)
def discover_malformed(discovery: Discovery) -> Iterator[Defect]:
    """The result of server/discover is incomplete."""
    result = discovery.result
    if "error" in result:
        return
    versions = result.get("supportedVersions")
    http = discovery.step.http is not None
    case = "http-discover-200-empty" if http else "discover-empty"
    if not isinstance(versions, list) or not all(isinstance(one, str) for one in versions):
        yield Defect(path="result.supportedVersions", evidence=discovery.data, case=case)
    elif not isinstance(result.get("capabilities"), dict):
        yield Defect(path="result.capabilities", evidence=discovery.data, case=case)


@check(
    "discover-5xx",
    SHOULD,
    Asked,
    only="server/discover",
    clause="2026-07-28 basic/versioning: compatibility",
    expected="An unknown request is the client's mistake: the status is 400 or 404, not 5xx.",
    fix="Answer 404 with -32601.",
)
def discover_5xx(asked: Asked) -> Iterator[Defect]:
    """server/discover ends in a server error."""
    http = asked.step.http
    if http is not None and (http.status or 0) >= 500:
        yield Defect(evidence=b"".join(one.data for one in asked.step.heard), note=f"HTTP {http.status}")


@check(
    "modern-resulttype-missing",
    MUST,
    Reply,
    revisions=IN_MODERN,
    clause="2026-07-28 basic: Result.resultType",
    expected='Every result carries "resultType", "complete" for a finished one.',
    fix='Add "resultType": "complete" to every result of 2026-07-28.',
)
def modern_resulttype_missing(reply: Reply) -> Iterator[Defect]:
    """A result without resultType."""
    if isinstance(reply.result, dict) and not isinstance(reply.result.get("resultType"), str):
        if _is_lacked_from_the_start(reply, b'"resultType"'):
            case = "modern-no-resulttype"
        else:
            is_list = reply.step.name in _CACHEABLE
            case = "modern-list-no-resulttype" if is_list else "modern-call-no-resulttype"
        yield Defect(path="result.resultType", evidence=reply.data, case=case)


def _is_lacked_from_the_start(reply: Reply, member: bytes) -> bool:
    """Whether the discovery lacks it as well: clients stop there and never see the rest."""
    return not any(
        member in heard.data for step in reply.visit.named("server/discover") for heard in step.heard
    )


@check(
    "modern-cache-hints-missing",
    MUST,
    Reply,
    revisions=IN_MODERN,
    clause=_CACHING,
    expected="ttlMs (a whole number, not negative) and cacheScope (public or private) on lists, reads and discovery.",
    fix='Add "ttlMs": 0 and "cacheScope": "private" if you have no better values.',
)
def modern_cache_hints_missing(reply: Reply) -> Iterator[Defect]:
    """A list without ttlMs and cacheScope."""
    result = reply.result
    if reply.step.name not in _CACHEABLE or not isinstance(result, dict):
        return
    if result.get("resultType", "complete") != "complete":
        return
    case = "modern-no-ttl" if _is_lacked_from_the_start(reply, b'"ttlMs"') else "modern-list-no-ttl"
    ttl = result.get("ttlMs")
    if not isinstance(ttl, int) or isinstance(ttl, bool) or ttl < 0:
        yield Defect(path="result.ttlMs", evidence=reply.data, case=case)
    elif result.get("cacheScope") not in ("public", "private"):
        yield Defect(path="result.cacheScope", evidence=reply.data, case=case)


@check(
    "modern-member-on-legacy",
    PORTABILITY,
    Reply,
    revisions=IN_LEGACY,
    clause="2026-07-28 basic: Result.resultType",
    expected="resultType, ttlMs and cacheScope belong to 2026-07-28.",
    fix="Add them only when you answer a request of 2026-07-28.",
)
def modern_member_on_legacy(reply: Reply) -> Iterator[Defect]:
    """Members of 2026-07-28 in a reply of an older revision."""
    result = reply.result
    if not isinstance(result, dict):
        return
    leaked = [name for name in _MODERN_MEMBERS if name in result]
    if not leaked:
        return
    # No older client knows how to go on from here: for it the call has neither a result nor an error.
    asks = result.get("resultType") == "input_required"
    yield Defect(path=f"result.{leaked[0]}", evidence=reply.data, severity=MUST if asks else None)


CHECKS: tuple[Check[Any], ...] = (
    discover_unanswered,
    discover_malformed,
    discover_5xx,
    modern_resulttype_missing,
    modern_cache_hints_missing,
    modern_member_on_legacy,
)
