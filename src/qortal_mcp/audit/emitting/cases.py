"""From findings to what has to be sent again, and what was answered: the cases that both kinds of tests are made of."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from ...protocol.headers import SESSION_ID
from ..evidence import Evidence, Http, Step, Visit
from ..judging import reproduce
from ..judging.check import ADVICE
from ..judging.finding import Finding, Report
from ..matching import is_reply, pieces_of, question_of
from ..secrets import SECRET
from .replay import Answer, described

# What has a client of the standard library, and of a shell.
TRANSPORTS = ("stdio", "http")


class Case(Struct, frozen=True, kw_only=True):
    """One finding, and how to see it again."""

    finding: Finding
    # Unique, and a sentence.
    name: str
    # HTTP: requests in order. A program: the lines to write.
    requests: tuple[dict[str, Any], ...] = ()
    lines: tuple[str, ...] = ()
    until_end: bool = False
    # What was asked last, and where in the answer to look.
    question: str
    place: tuple[Any, ...]
    recorded: list[Any]
    # The bytes that show the defect; empty where nothing came.
    said: str


# What is seen only after a while, in several answers, or depends on what was asked before.
NOT_AT_ONCE = frozenset(
    {
        "event-id-repeated",
        "list-order-changed",
        "rate-limit-status",
        "session-id-characters",
        "session-id-guessable",
        "session-id-not-issued",
        "session-lost",
        "slow-start",
        "sse-buffered",
        "stale-session-status",
    }
)


def cases_of(report: Report, evidence: Evidence) -> list[Case]:
    """A case for each finding that breaks something and can be seen again in one exchange."""
    asked = {
        reproduce.line(evidence, visit, step): (visit, step)
        for visit in evidence.visits
        if visit.transport in TRANSPORTS and not visit.is_repaired
        for step in visit.steps
    }
    names: set[str] = set()
    found = []
    for finding in report.findings:
        if finding.severity == ADVICE or finding.known or finding.code in NOT_AT_ONCE:
            continue
        if finding.reproduce not in asked:
            continue
        name = _name(finding, names)
        found.append(_case(finding, name, *asked[finding.reproduce]))
    return found


def _case(finding: Finding, name: str, visit: Visit, step: Step) -> Case:
    question, place = step.sent.decode("utf-8", "replace"), tuple(_place(finding))
    is_http = visit.transport == "http"
    way = reproduce.way_to(visit, step)
    return Case(
        finding=finding,
        name=name,
        requests=tuple(_requests(visit, step)) if is_http else (),
        lines=()
        if is_http
        else tuple(one.sent.decode("utf-8", "replace") for one in way if one.sent.strip()),
        until_end=step.name == "end-of-input",
        question=question,
        place=place,
        recorded=described(_answer(visit, step), question, list(place)),
        said=next((heard.text.strip() for heard in step.heard if heard.text.strip()), ""),
    )


def _answer(visit: Visit, step: Step) -> Answer:
    http = step.http
    pieces = tuple((heard.data, heard.event) for heard in step.heard)
    if http is None:
        late = tuple(_late(visit, step)) if step.end == "sent" else ()
        return Answer((*pieces, *late), is_whole=step.end != "silent" or step.name != "end-of-input")
    return Answer(pieces, http.status, http.media_type, http.is_whole)


def _late(visit: Visit, step: Step) -> Iterator[tuple[bytes, str]]:
    """Answers to what nobody waited for: they are heard with the next step."""
    after = [one for earlier, one in pairwise(visit.steps) if earlier is step]
    for one in after:
        question = question_of(one) or {}
        for piece in pieces_of(visit, one):
            replies = [
                value for value in piece.values if is_reply(value) and value.get("id") != question.get("id")
            ]
            if replies:
                yield piece.data, ""


def _requests(visit: Visit, step: Step) -> Iterator[dict[str, Any]]:
    http = step.http or Http()
    session = next((value for name, value in http.sent if name.lower() == SESSION_ID), None)
    before = reproduce.session_way(visit, step) if session is not None else []
    for one in (*before, step):
        yield _request(one, session)


def _request(step: Step, session: str | None) -> dict[str, Any]:
    http = step.http or Http()
    headers = {name.lower(): value for name, value in http.sent if not SECRET.search(name)}
    if session is not None and headers.get(SESSION_ID) == session and step.name != "unknown-session":
        headers[SESSION_ID] = "$SESSION"
    request: dict[str, Any] = {"method": http.method, "headers": headers, "body": None}
    if http.method == "POST":
        request["body"] = step.sent.decode("utf-8", "replace")
        headers.setdefault("content-type", "application/json")
        headers.setdefault("accept", "application/json, text/event-stream")
    if http.path:
        request["path"] = urlsplit(http.path).path
    return request


_KEYS = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_TOOL = re.compile(r"tool (.+?)(?:: (.*))?", re.DOTALL)
_UNNAMED = re.compile(r"tools\[(\d+)\]")


def _place(finding: Finding) -> Iterator[Any]:
    """The keys that lead from a reply to the place of a finding."""
    label, _, path = finding.where.partition(": ")
    if finding.code == _MISMATCH and finding.note.startswith("structuredContent"):
        path = f"result.{finding.note.partition(': ')[0]}"
    if tool := _TOOL.fullmatch(finding.where):
        number = _UNNAMED.fullmatch(tool[1])
        yield from ("result", "tools", int(number[1]) if number else f"name={tool[1]}")
        path = tool[2] or ""
    elif label == "server" and not path.startswith("result."):
        return
    for index, key in _KEYS.findall(path):
        yield int(index) if index else key


_MISMATCH = "structured-content-schema-mismatch"
_NOT_A_WORD = re.compile(r"[^a-z0-9]+")
_NAME_CHARS = 90


def _name(finding: Finding, taken: set[str]) -> str:
    """What is expected, as the name of a test; the place where that alone is not unique."""
    sentence = _slug(re.split(r"[.:;] |\.$", finding.expected)[0])
    for name in (sentence, f"{sentence}_in_{_slug(finding.place)}"):
        if name not in taken:
            taken.add(name)
            return name
    number = 2
    while f"{sentence}_{number}" in taken:
        number += 1
    taken.add(f"{sentence}_{number}")
    return f"{sentence}_{number}"


def _slug(text: str) -> str:
    text = text.replace("'s ", "s ").lower()
    return _NOT_A_WORD.sub("_", text).strip("_")[:_NAME_CHARS].rstrip("_")
