"""From evidence to a report: run the checks, report each defect once, and reach the verdict. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

from msgspec import Struct, structs

from ...protocol.versions import LEGACY, MODERN
from ...schemas.json_schema import can_judge
from ..checks import CHECKS
from ..checks.offers.lists import tokens_of
from ..evidence import Evidence, Gap, Step, Visit
from ..limits import DEFAULT, AuditLimits
from ..steps import words_of
from ..subjects import (
    MISSING,
    Asked,
    Called,
    Discovery,
    Exchange,
    Failed,
    Handshake,
    Listing,
    Piece,
    Reply,
    Said,
    Session,
    Subject,
    Tool,
    Whole,
)
from . import reproduce, sdks
from .baseline import Known, accepted
from .check import MUST, SEVERITIES, Check, Defect, Severity
from .clients import impact
from .finding import AFTER_REPAIR, Finding, NotJudged, Report, View, shown
from .model_view import views_of
from .no_server import no_server
from .outcome import Facts, Outcome, Watch
from .reading import subjects_of
from .suggestions import calls_to_try

CONFORMS = "conforms"
VIOLATES = "violates"
INCOMPLETE = "incomplete"
# A hostile server can be wrong in a million places; this many per code are enough.
_MOST_PLACES = 100
_GAP_CHARS = 1_000
_ORDER = (*LEGACY, *MODERN)


Groups: TypeAlias = "dict[tuple[str, str], list[Seen]]"


class Seen(Struct, frozen=True):
    """A defect, and what it was seen in."""

    check: Check[Any]
    subject: Subject
    defect: Defect

    @property
    def severity(self) -> Severity:
        return self.defect.severity or self.check.severity

    @property
    def visit(self) -> Visit:
        return self.subject.visit if self.defect.at is None else self.defect.at[0]

    @property
    def step(self) -> Step:
        return self.subject.step if self.defect.at is None else self.defect.at[1]

    @property
    def where(self) -> str:
        """The key of a place. Two places never have the same: a baseline that knows one would hide the other."""
        return self._located(label_of(self.subject))

    @property
    def place(self) -> str:
        """The same place as people read it."""
        return self._located(words_of(label_of(self.subject)))

    def _located(self, label: str) -> str:
        path = self.defect.path
        whole, is_clear = label, ": " not in label
        if path and path != label:
            is_inside = path.startswith((f"{label}.", "tool "))
            whole = path if is_inside else f"{label}: {path}"
            is_clear = is_clear and (is_inside or ": " not in path)
        if self.visit.is_repaired:
            whole = f"{AFTER_REPAIR}: {whole}"
        # Tool names come from the server: they may be long, or made to look like something else.
        safe = shown(whole)
        if safe == whole and is_clear:
            return safe
        key = repr((*([AFTER_REPAIR] if self.visit.is_repaired else []), label_of(self.subject), path))
        return f"{safe} #{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def judge(
    evidence: Evidence,
    known: Known | None = None,
    *,
    limits: AuditLimits = DEFAULT,
    left_out: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> Report:
    """What is wrong with a server.

    `known` maps the code and place of each accepted finding to the reason, `left_out` the code of each check that is not
    to be run to the reason. Hostile evidence can make this long and large: `confinement` bounds it.
    """
    known, left_out, watch = known or {}, left_out or {}, watch or Watch()
    if why := no_server(evidence):
        facts = Facts(gaps=(Gap("server", why, weighs=True),))
        return report_of(evidence, facts, [], has_baseline=bool(known))
    watch.looking(READING, "")
    # What a server says and what a bridge makes of it are two things: neither is judged by the other.
    parts = [subjects_of(part, limits.list_items) for part in _sides(evidence)]
    subjects = [subject for part in parts for subject in part]
    facts = _facts(evidence, subjects)
    watch.learned(facts)
    sdk = sdks.sdk_of(evidence)
    outcomes: list[Outcome] = []
    seen: list[tuple[str, str, Subject]] = []
    # Once for all checks: a hostile list has many tools.
    by_kind: dict[type[Subject], list[Subject]] = {}
    for subject in subjects:
        by_kind.setdefault(type(subject), []).append(subject)
    for check in CHECKS:
        mine = [subject for subject in by_kind.get(check.about, ()) if check.applies_to(subject)]
        if not mine:
            if (reason := _why_not(check, evidence)) is not None:
                outcomes.append(Outcome(code=check.code, not_judged=reason))
        elif check.code in left_out:
            outcomes.append(Outcome(code=check.code, not_judged=left_out[check.code], is_gap=True))
        else:
            found, failed = _defects(check, mine, watch)
            seen += [(check.code, one.defect.case, one.subject) for one in found]
            outcomes.append(_outcome(check, found, failed, evidence, sdk, known))
            watch.judged(outcomes[-1])
    watch.looking(SUMMING_UP, "")
    return report_of(evidence, facts, outcomes, has_baseline=bool(known), views=views_of(parts[0], seen))


def _sides(evidence: Evidence) -> list[Evidence]:
    """The evidence, and what clients got of it after repair, if it comes from a bridge."""
    repaired = tuple(visit for visit in evidence.visits if visit.is_repaired)
    if not repaired:
        return [evidence]
    own = tuple(visit for visit in evidence.visits if not visit.is_repaired)
    return [structs.replace(evidence, visits=own), structs.replace(evidence, visits=repaired)]


# What is being done while no check is running.
READING = "reading the answers"
SUMMING_UP = "what models get"


def report_of(
    evidence: Evidence,
    facts: Facts,
    outcomes: Sequence[Outcome],
    *,
    has_baseline: bool,
    views: tuple[View, ...] = (),
    more_gaps: tuple[Gap, ...] = (),
) -> Report:
    """The report on what the checks have found."""
    findings = [finding for one in outcomes for finding in one.findings]
    failed = [Gap(one.code, one.not_judged or "", weighs=True) for one in outcomes if one.is_gap]
    cut = [
        Gap(f"findings of {one.code}", f"only {_MOST_PLACES} of {one.places} places are listed")
        for one in outcomes
        if one.places > _MOST_PLACES
    ]
    gaps = (*facts.gaps, *failed, *cut, *more_gaps)
    broken = [one.code for one in outcomes if one.is_broken]
    verdict, because = _verdict(broken, has_baseline, gaps, facts.revisions)
    return Report(
        verdict=verdict,
        because=because,
        target=shown(evidence.target, _GAP_CHARS),
        transport=evidence.transport,
        server=facts.server,
        revisions=facts.revisions,
        revisions_asked=evidence.revisions_asked,
        findings=tuple(sorted(findings, key=_weight)),
        judged=tuple(one.code for one in outcomes if one.not_judged is None),
        not_judged=tuple(
            NotJudged(one.code, one.not_judged) for one in outcomes if one.not_judged is not None
        ),
        gaps=gaps,
        tools=facts.tools,
        tools_called=facts.tools_called,
        tools_succeeded=facts.tools_succeeded,
        tools_tokens=facts.tools_tokens,
        model_sees=views,
        calls_to_try=facts.calls_to_try,
        seconds=round(sum(step.seconds for visit in evidence.visits for step in visit.steps), 3),
        requests=sum(len(visit.steps) for visit in evidence.visits),
        clients=sum(visit.is_repaired for visit in evidence.visits),
    )


def _facts(evidence: Evidence, subjects: list[Subject]) -> Facts:
    listing = next((one for one in subjects if isinstance(one, Listing) and one.only == "tools/list"), None)
    called = {one.step.subject for one in subjects if isinstance(one, Called | Failed)}
    # What clients were told after repair is not what the server speaks.
    spoken = _looked_into(_sides(evidence)[0])
    return Facts(
        server=_server(subjects),
        revisions=tuple(one for one in _ORDER if one in spoken),
        tools=len(listing.items) if listing is not None else 0,
        tools_called=len(called),
        tools_succeeded=len({one.step.subject for one in subjects if _succeeded(one)}),
        tools_tokens=tokens_of(listing.items) if listing is not None else 0,
        calls_to_try=(
            calls_to_try(listing.items, called) if listing is not None and not _is_of_bridge(evidence) else ()
        ),
        gaps=safe((*evidence.gaps, *_gaps(evidence, subjects))),
    )


def safe(gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    """Gaps that can be shown: names in them come from the server."""
    return tuple(Gap(shown(gap.what), shown(gap.reason, _GAP_CHARS), gap.weighs) for gap in gaps)


def _outcome(
    check: Check[Any], found: list[Seen], failed: str, evidence: Evidence, sdk: sdks.Sdk | None, known: Known
) -> Outcome:
    grouped = _grouped(found)
    return Outcome(
        code=check.code,
        findings=tuple(
            _finding(group, evidence, sdk, accepted(known, key, _severity(group)))
            for key, group in islice(grouped.items(), _MOST_PLACES)
        ),
        places=len(grouped),
        is_broken=any(
            _severity(group) == MUST and not accepted(known, key, MUST) for key, group in grouped.items()
        ),
        not_judged=f"{FAILED}: {failed}" if failed else None,
        is_gap=bool(failed),
    )


FAILED = "the check itself failed"


def _defects(check: Check[Any], subjects: list[Subject], watch: Watch) -> tuple[list[Seen], str]:
    """What a check finds. Whatever a server sent can fail one check, but never the report."""
    found: list[Seen] = []
    failed = ""
    for subject in subjects:
        watch.looking(check.code, label_of(subject))
        try:
            found += [Seen(check, subject, defect) for defect in check.judge(subject)]
        except MemoryError:
            failed = "it needs more memory than an audit gives it"
        except Exception as exc:
            failed = type(exc).__name__
    return found, failed


_REASONS: dict[type[Subject], str] = {
    Piece: "nothing was received",
    Reply: "nothing was answered",
    Said: "the server sent nothing unasked",
    Asked: "this was not asked",
    Handshake: "initialize had no result",
    Discovery: "server/discover had no result",
    Session: "no revision was agreed on",
    Listing: "the list had no result",
    Tool: "there are no tools",
    Called: "no tool call succeeded",
    Failed: "no tool call ended in a protocol error",
    Exchange: "this was not asked",
    Whole: "nothing was asked",
}
_HTTP_ONLY = frozenset({"GET", "POST", "http"})
# Asked only where there is a prompt, a resource, completion or logging to ask about.
_OF_OPTIONAL_OFFERS = frozenset(
    {
        "prompts/get",
        "unknown-prompt",
        "prompt-without-argument",
        "unknown-reference",
        "resources/read",
        "unknown-resource",
        "completion/complete",
        "bad-log-level",
    }
)
# That there are none of these is good news, not a gap.
_BEST_ABSENT = (Said, Failed, Discovery)


def _why_not(check: Check[Any], evidence: Evidence) -> str | None:
    """Why a check had nothing to look at; None where it does not apply to this server."""
    if check.about in _BEST_ABSENT or not any(visit.revision for visit in evidence.visits):
        return None
    transports = {visit.transport for visit in evidence.visits}
    if (check.about is Exchange or check.only & _HTTP_ONLY) and "http" not in transports:
        return None
    if check.only & {"stdio", "websocket"} and not check.only & transports:
        return None
    looked_into = _looked_into(evidence)
    if check.revisions and not any(visit.revision for visit in evidence.visits):
        return _REASONS[Session]
    if check.revisions and looked_into and not check.revisions & looked_into:
        return None
    if check.about is not Asked or not check.only:
        return _REASONS[check.about]
    if check.only <= _OF_OPTIONAL_OFFERS:
        return None
    return f"{_REASONS[Asked]}: {', '.join(words_of(name) for name in sorted(check.only))}"


def _looked_into(evidence: Evidence) -> set[str]:
    """The revisions in which more was asked than whether the server speaks them."""
    return {visit.revision for visit in evidence.visits if any(visit.named("tools/list"))} - {""}


def label_of(subject: Subject) -> str:
    """What a subject is called in the key of a place."""
    step = subject.step
    if isinstance(subject, Tool):
        return f"tool {subject.label}"
    if isinstance(subject, Called | Failed) or (step.name == "tools/call" and step.subject):
        return f"tools/call {step.subject}"
    if isinstance(subject, Whole):
        return "server"
    if isinstance(subject, Exchange) and step.http is not None and step.http.method != "POST":
        return step.http.method
    return step.name


def _grouped(seen: Iterable[Seen]) -> Groups:
    grouped: Groups = {}
    for one in seen:
        grouped.setdefault((one.check.code, one.where), []).append(one)
    return grouped


def _severity(group: list[Seen]) -> Severity:
    return min((one.severity for one in group), key=SEVERITIES.index)


def _weight(finding: Finding) -> tuple[int, int]:
    """Among findings of one severity, those that break more clients come first."""
    return SEVERITIES.index(finding.severity), -len(finding.clients)


def _finding(group: list[Seen], evidence: Evidence, sdk: sdks.Sdk | None, known: str) -> Finding:
    first = min(group, key=lambda one: SEVERITIES.index(one.severity))
    check, defect = first.check, first.defect
    revisions = {one.visit.revision for one in group} - {""}
    return Finding(
        code=check.code,
        severity=first.severity,
        title=check.title,
        where=first.where,
        place=first.place,
        revisions=tuple(one for one in _ORDER if one in revisions),
        transport=first.visit.transport,
        evidence=shown(defect.evidence),
        expected=check.expected,
        clause=check.clause,
        clients=impact(
            check.code,
            defect.case,
            modern=bool(revisions) and revisions <= set(MODERN),
            step=first.step.name,
        ),
        fix=check.fix,
        reproduce=reproduce.line(evidence, first.visit, first.step),
        reproduce_note=reproduce.note(evidence, first.visit, first.step),
        note=shown(defect.note),
        source=sdks.cause(sdk, check.code, first.where, shown(defect.evidence)),
        known=shown(known),
    )


def _gaps(evidence: Evidence, subjects: list[Subject]) -> list[Gap]:
    gaps = []
    if not any(visit.revision for visit in evidence.visits):
        gaps.append(Gap("handshake", f"no revision could be agreed on{_refusals(evidence)}", weighs=True))
    gaps += _not_looked_at(subjects)
    gaps += _unusable(evidence, subjects)
    gaps += _too_costly(subjects)
    tools = any(isinstance(one, Tool) for one in subjects)
    if tools and not any(_succeeded(one) for one in subjects):
        # What the clients of a bridge call is not ours to choose.
        hint = "" if _is_of_bridge(evidence) else "; name calls with --call"
        gaps.append(Gap("results", f"no tool call succeeded{hint}", weighs=True))
    return gaps


def _is_of_bridge(evidence: Evidence) -> bool:
    return any(visit.is_repaired for visit in evidence.visits)


def _succeeded(subject: Subject) -> bool:
    """A call that ended in a result of which a server can be judged: neither a failure nor a question."""
    return isinstance(subject, Called) and not subject.is_error and not subject.is_unfinished


def _too_costly(subjects: list[Subject]) -> list[Gap]:
    """Results whose schema would take too long: some are made for that."""
    names = {
        one.step.subject
        for one in subjects
        if isinstance(one, Called)
        and isinstance(schema := one.tool.get("outputSchema"), dict)
        and one.structured is not MISSING
        and not can_judge(one.structured, schema)
    }
    return [
        Gap(f"tool {name}", "its outputSchema is too expensive to check", weighs=True)
        for name in sorted(names)
    ]


def _not_looked_at(subjects: list[Subject]) -> list[Gap]:
    """Lists with more items than are judged, each once."""
    pieces = [one for one in subjects if isinstance(one, Piece) and one.left_out]
    return list(
        dict.fromkeys(
            Gap(
                words_of(one.step.name),
                f"a list was longer than an audit reads; {one.left_out:,} items were not judged",
                weighs=True,
            )
            for one in pieces
        )
    )


def _unusable(evidence: Evidence, subjects: list[Subject]) -> list[Gap]:
    """What was asked for and could not be checked."""
    gaps = []
    promised = any(isinstance(one, Session) and _declares_tools(one) for one in subjects)
    if promised and not any(isinstance(one, Listing) and one.only == "tools/list" for one in subjects):
        gaps.append(Gap("tools/list", "it had no result in any revision", weighs=True))
    seen = {(id(one.visit), one.step.subject) for one in subjects if isinstance(one, Called | Failed)}
    for visit in evidence.visits:
        for step in visit.steps:
            if any(heard.too_long for heard in step.heard):
                gaps.append(Gap(words_of(step.name), "an answer was larger than an audit reads", weighs=True))
            elif (
                step.name == "tools/call" and step.end == "answered" and (id(visit), step.subject) not in seen
            ):
                gaps.append(Gap(f"tool {step.subject}", "its answer could not be read", weighs=True))
    return list(dict.fromkeys(gaps))


def _declares_tools(session: Session) -> bool:
    return isinstance(session.capabilities, dict) and "tools" in session.capabilities


def _refusals(evidence: Evidence) -> str:
    """The HTTP statuses of the answers to initialize."""
    steps = [step for visit in evidence.visits for step in visit.named("initialize")]
    statuses = dict.fromkeys(str(step.http.status) for step in steps if step.http and step.http.status)
    return f"; initialize is answered with HTTP {', '.join(statuses)}" if statuses else ""


def _verdict(
    broken: list[str], has_baseline: bool, gaps: tuple[Gap, ...], revisions: tuple[str, ...]
) -> tuple[str, str]:
    if broken:
        return VIOLATES, f"what the specification demands is not met: {', '.join(broken)}"
    weighty = [gap for gap in gaps if gap.weighs]
    if weighty:
        return INCOMPLETE, "; ".join(f"{gap.what}: {gap.reason}" for gap in weighty)
    beyond = "apart from the baseline, " if has_baseline else ""
    return CONFORMS, f"{beyond}no violation found in {', '.join(revisions)}"


def _server(subjects: list[Subject]) -> str:
    for one in subjects:
        if isinstance(one, Handshake):
            info = one.result.get("serverInfo")
        elif isinstance(one, Discovery):
            meta = one.result.get("_meta")
            info = meta.get("io.modelcontextprotocol/serverInfo") if isinstance(meta, dict) else None
        else:
            continue
        if isinstance(info, dict):
            return shown(f"{info.get('name')} {info.get('version')}", 100)
    return ""
