"""Who may use the server: web pages of other origins, and authorization."""

from collections.abc import Iterator
from typing import Any

from ...evidence import Http, Step
from ...judging.check import ADVICE, MUST, Check, Defect, check
from ...subjects import Exchange, Whole
from .exchanges import HTTP, JSON, seen_in, status_of

_AUTH = "basic/authorization"


@check(
    "origin-not-checked",
    MUST,
    Exchange,
    clause=f"{HTTP}: security warning",
    expected="A web page of another origin (header Origin) is refused with 403, unless every page may use the server.",
    fix="Compare Origin with a list of allowed origins; without that, any page a person opens can use a local server.",
    departs=(
        "The specification says MUST for every server. At an address that is not loopback it is advice here: nobody outside can "
        "tell which pages a public server is meant for."
    ),
)
def origin_not_checked(exchange: Exchange) -> Iterator[Defect]:
    """Any web page may use this server."""
    if exchange.step.name == "foreign-origin" and 0 < status_of(exchange) < 300:
        severity = None if exchange.is_loopback else ADVICE
        yield Defect(evidence=seen_in(exchange), severity=severity, note=_WHY if exchange.is_loopback else "")


_WHY = "every page that is open in a browser on this machine can call the tools"


@check(
    "auth-challenge-missing",
    MUST,
    Whole,
    clause=_AUTH,
    expected="401 comes with WWW-Authenticate, or the metadata is at /.well-known/oauth-protected-resource.",
    fix='Add WWW-Authenticate: Bearer resource_metadata="…", and serve that document.',
)
def auth_challenge_missing(whole: Whole) -> Iterator[Defect]:
    """401 without saying how to authorize."""
    refused = _unauthorized(whole)
    if refused is None or any(_is_document(step) for step in _metadata(whole)):
        return
    challenge = refused.header("www-authenticate") or ""
    if not challenge.lower().startswith("bearer"):
        yield Defect(evidence=f"HTTP 401 {challenge or 'without WWW-Authenticate'}")


@check(
    "auth-metadata-missing",
    MUST,
    Whole,
    clause=_AUTH,
    expected="The address in resource_metadata serves the metadata.",
    fix="Serve the RFC 9728 document there.",
)
def auth_metadata_missing(whole: Whole) -> Iterator[Defect]:
    """The authorization metadata is missing."""
    refused = _unauthorized(whole)
    if refused is None or "resource_metadata" not in (refused.header("www-authenticate") or ""):
        return
    asked = _metadata(whole)
    if asked and not any(_is_document(step) for step in asked):
        yield Defect(evidence=refused.header("www-authenticate"))


def _unauthorized(whole: Whole) -> Http | None:
    steps = [step for visit in whole.evidence.visits for step in visit.named("initialize", "server/discover")]
    good = any(step.http is None or step.http.status == 200 for step in steps if step.name == "initialize")
    refused = [step.http for step in steps if step.http is not None and step.http.status == 401]
    return refused[0] if refused and not good else None


def _metadata(whole: Whole) -> list[Step]:
    return [step for visit in whole.evidence.visits for step in visit.named("auth-metadata")]


def _is_document(step: Step) -> bool:
    return step.http is not None and step.http.status == 200 and step.http.media_type == JSON


CHECKS: tuple[Check[Any], ...] = (
    origin_not_checked,
    auth_challenge_missing,
    auth_metadata_missing,
)
