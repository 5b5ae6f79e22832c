"""2026-07-28: discovery, the fields every result carries there, and the same fields where they do not belong."""

from collections.abc import Iterator
from typing import Any

from ...protocol.messages import SERVER_INFO, SUBSCRIPTION_ID
from ..judging.check import (
    ADVICE,
    IN_LEGACY,
    IN_MODERN,
    MUST,
    PORTABILITY,
    SHOULD,
    Check,
    Defect,
    check,
    count_note,
)
from ..matching import question_of
from ..subjects import Asked, Called, Discovery, Exchange, Listing, Reply, Session, Whole, items_of

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
            note=f"nothing came within {asked.step.seconds:.1f} s",
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
            is_list = _method(reply) in _CACHEABLE
            case = "modern-list-no-resulttype" if is_list else "modern-call-no-resulttype"
        yield Defect(path="result.resultType", evidence=reply.data, case=case)


def _method(reply: Reply) -> Any:
    return (question_of(reply.step) or {}).get("method")


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
    if _method(reply) not in _CACHEABLE or not isinstance(result, dict):
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


@check(
    "modern-server-info-missing",
    SHOULD,
    Whole,
    clause="2026-07-28 basic: Result._meta",
    expected=f"Every result of 2026-07-28 says in _meta who gives it: {SERVER_INFO}.",
    fix="Add name and version of the server to _meta of every result.",
)
def modern_server_info_missing(whole: Whole) -> Iterator[Defect]:
    """A result that does not say which server it is from."""
    bare = [
        reply
        for reply in whole.all(Reply)
        if reply.is_modern and isinstance(reply.result, dict) and not _names_server(reply.result)
    ]
    for reply in bare[:1]:
        yield Defect(
            path="result._meta", evidence=reply.data, note=count_note(bare), at=(reply.visit, reply.step)
        )


def _names_server(result: dict[str, Any]) -> bool:
    meta = result.get("_meta")
    return isinstance(meta, dict) and isinstance(meta.get(SERVER_INFO), dict)


@check(
    "cache-scope-differs",
    MUST,
    Listing,
    revisions=IN_MODERN,
    clause=_CACHING,
    expected="All pages of a list have the same cacheScope.",
    fix="Decide about the list once, not about each page.",
)
def cache_scope_differs(listing: Listing) -> Iterator[Defect]:
    """The pages of a list have different cacheScopes."""
    scopes = [page.get("cacheScope") for page in listing.pages if isinstance(page, dict)]
    if {"public", "private"} <= {scope for scope in scopes if isinstance(scope, str)}:
        yield Defect(path="result.cacheScope", evidence=scopes)


@check(
    "list-order-changed",
    MUST,
    Session,
    revisions=IN_MODERN,
    clause="2026-07-28 server/tools: listing tools",
    expected="tools/list names the same tools in the same order every time.",
    fix="Sort the tools, or keep them in the order they were registered in; do not list a set.",
)
def list_order_changed(session: Session) -> Iterator[Defect]:
    """tools/list asked twice gives two different lists."""
    first = [_tool_names(one) for one in session.answers("tools/list")[:1]]
    again = [_tool_names(one) for one in session.answers("modern-list-again")]
    if first and again and None not in (first[0], again[0]) and first[0] != again[0]:
        is_same_set = sorted(map(str, first[0] or ())) == sorted(map(str, again[0] or ()))
        severity = SHOULD if is_same_set else MUST
        yield Defect(path="tools/list", evidence=[first[0], again[0]], severity=severity)


def _tool_names(asked: Asked) -> list[Any] | None:
    if not isinstance(asked.result, dict):
        return None
    return [tool.get("name") for tool in items_of(asked.result, "tools") if isinstance(tool, dict)]


# Only these may end in a question to the client.
_MAY_ASK = ("tools/call", "prompts/get", "resources/read")


@check(
    "input-required-malformed",
    MUST,
    Reply,
    revisions=IN_MODERN,
    clause="2026-07-28 client input",
    expected="input_required answers only tools/call, prompts/get and resources/read, with inputRequests or requestState.",
    fix="Put what you need into inputRequests; answer other methods with a result or an error.",
)
def input_required_malformed(reply: Reply) -> Iterator[Defect]:
    """A result that asks for input where it may not, or for nothing."""
    result = reply.result
    if not isinstance(result, dict) or result.get("resultType") != "input_required":
        return
    if reply.step.name not in _MAY_ASK:
        yield Defect(path="result.resultType", evidence=reply.data, note="this method cannot ask for input")
    elif not {"inputRequests", "requestState"} & result.keys():
        yield Defect(path="result.inputRequests", evidence=reply.data)


@check(
    "input-request-undeclared",
    MUST,
    Called,
    revisions=IN_MODERN,
    clause="2026-07-28 client input",
    expected="A server asks a client only for what the request declared; this client declares nothing.",
    fix="Look at clientCapabilities in _meta first; answer -32021 if you cannot go on without it.",
)
def input_request_undeclared(called: Called) -> Iterator[Defect]:
    """A question to a client that did not declare that it can answer it."""
    asks = called.result.get("inputRequests") if isinstance(called.result, dict) else None
    if isinstance(asks, dict) and asks:
        yield Defect(path="result.inputRequests", evidence=called.data)


@check(
    "unsupported-version-data",
    MUST,
    Asked,
    only="modern-old-version",
    revisions=IN_MODERN,
    clause="2026-07-28 basic/versioning",
    expected="The error -32022 has data with the versions supported, and the one requested.",
    fix='Send "data": {"supported": ["2026-07-28"], "requested": "…"}.',
)
def unsupported_version_data(asked: Asked) -> Iterator[Defect]:
    """An unsupported version is refused without naming those that are supported."""
    if asked.code != -32022 or asked.reply is None:
        return
    data = asked.reply.error.get("data")
    supported = data.get("supported") if isinstance(data, dict) else None
    is_list = isinstance(supported, list) and supported and all(isinstance(one, str) for one in supported)
    if not is_list:
        yield Defect(path="error.data.supported", evidence=asked.reply.data)
    elif not isinstance(data.get("requested"), str):
        yield Defect(path="error.data.requested", evidence=asked.reply.data)


_RESERVED = range(-32099, -32019)
_KNOWN_CODES = (-32020, -32021, -32022)
# Codes of older revisions that this one withdrew.
_WITHDRAWN = (-32002, -32042)


@check(
    "modern-error-reserved",
    MUST,
    Reply,
    revisions=IN_MODERN,
    clause="2026-07-28 basic: error codes",
    expected="Codes from -32099 to -32020 are only those that the specification defines; -32002 and -32042 are withdrawn.",
    fix="Use -32603, or a code of your own outside -32768 to -32000.",
)
def modern_error_reserved(reply: Reply) -> Iterator[Defect]:
    """An error code that belongs to the specification."""
    code = reply.error.get("code") if isinstance(reply.error, dict) else None
    if not isinstance(code, int) or (code == -32002 and reply.step.name == "unknown-resource"):
        return  # the second is reported by the check of resources
    if code in _WITHDRAWN or (code in _RESERVED and code not in _KNOWN_CODES):
        yield Defect(path="error.code", evidence=reply.data)


@check(
    "encoded-name-refused",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_MODERN,
    clause="2026-07-28 basic/transports: header encoding",
    expected="A header value in the form =?base64?…?= is decoded before it is compared with the body.",
    fix="Decode Mcp-Name and Mcp-Param headers first: names that are not plain ASCII can only be sent so.",
)
def encoded_name_refused(exchange: Exchange) -> Iterator[Defect]:
    """A name in Base64 is not recognised."""
    error = exchange.reply.error if exchange.reply is not None else None
    if (
        exchange.step.name == "modern-encoded-name"
        and isinstance(error, dict)
        and error.get("code") == -32020
    ):
        yield Defect(evidence=exchange.reply.data if exchange.reply is not None else b"")


@check(
    "unknown-header-refused",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_MODERN,
    clause="2026-07-28 basic/transports: Streamable HTTP",
    expected="A session id of an older revision, and Mcp-Param headers that no tool declares, are ignored.",
    fix="Look only at the headers you know; what a proxy or an older client adds does no harm.",
)
def unknown_header_refused(exchange: Exchange) -> Iterator[Defect]:
    """A request with headers that it does not know is refused."""
    reply = exchange.reply
    if exchange.step.name == "modern-foreign-headers" and reply is not None and reply.is_error:
        yield Defect(evidence=reply.data)


_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


@check(
    "subscription-not-acknowledged",
    MUST,
    Session,
    revisions=IN_MODERN,
    clause="2026-07-28 server/utilities/subscriptions",
    expected=f"The first message of a subscription is {_ACKNOWLEDGED}, with the id of the request in _meta.",
    fix=f"Send {_ACKNOWLEDGED} first, with {SUBSCRIPTION_ID} as it came: same value, same type.",
)
def subscription_not_acknowledged(session: Session) -> Iterator[Defect]:
    """A subscription that does not begin with its acknowledgement."""
    for asked in session.answers("modern-listen"):
        if asked.code is not None:
            continue
        wanted = (question_of(asked.step) or {}).get("id")
        for said in [one for one in session.said if one.step is asked.step][:1]:
            meta = said.params.get("_meta") if isinstance(said.params, dict) else None
            given = meta.get(SUBSCRIPTION_ID) if isinstance(meta, dict) else None
            if said.method != _ACKNOWLEDGED or given != wanted or type(given) is not type(wanted):
                yield Defect(path="subscriptions/listen", evidence=said.data, at=(said.visit, said.step))


CHECKS: tuple[Check[Any], ...] = (
    discover_unanswered,
    discover_malformed,
    discover_5xx,
    modern_resulttype_missing,
    modern_cache_hints_missing,
    modern_member_on_legacy,
    modern_server_info_missing,
    cache_scope_differs,
    list_order_changed,
    input_required_malformed,
    input_request_undeclared,
    unsupported_version_data,
    modern_error_reserved,
    encoded_name_refused,
    unknown_header_refused,
    subscription_not_acknowledged,
)
