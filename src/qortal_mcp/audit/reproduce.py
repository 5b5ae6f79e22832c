"""One line for a shell that shows a finding again: `printf` into a program, `curl` at an address."""

import re
import shlex
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from .evidence import Evidence, Http, Step, Visit

# What is sent under these names stays out of every report.
SECRET = re.compile(
    r"authorization|cookie|token|secret|password|passwd|api[-_]?key|credential", re.IGNORECASE
)
HIDDEN = "***"
# Headers that curl sends by itself, or that every request carries.
_USUAL = ("content-type", "accept")
# How long a program is given to answer before its input ends.
_PATIENCE = "sleep 2"


def without_secrets(argv: Sequence[str]) -> tuple[str, ...]:
    """A command line that can be shown: what follows an option with a telling name is hidden."""
    shown: list[str] = []
    hide = False
    for word in argv:
        name, equals, _ = word.partition("=")
        if hide:
            shown.append(HIDDEN)
            hide = False
        elif equals and SECRET.search(name):
            shown.append(f"{name}={HIDDEN}")
        else:
            shown.append(word)
            hide = word.startswith("-") and not equals and SECRET.search(name) is not None
    return tuple(shown)


def safe_url(url: str) -> str:
    """An address without name, password, and values of telling parameters."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(
        f"{piece.partition('=')[0]}={HIDDEN}" if SECRET.search(piece.partition("=")[0]) else piece
        for piece in parts.query.split("&")
    )
    return urlunsplit((parts.scheme, host, parts.path, query if parts.query else "", ""))


def line(evidence: Evidence, visit: Visit, step: Step) -> str:
    """The commands that lead to a step and show its answer."""
    if visit.transport == "http":
        return _curl(evidence, visit, step)
    return _pipe(evidence, visit, step)


def _pipe(evidence: Evidence, visit: Visit, step: Step) -> str:
    sent = [one.sent.decode("utf-8", "replace").rstrip("\r\n") for one in _way_to(visit, step)]
    words = " ".join(shlex.quote(text) for text in sent if text)
    if visit.transport == "websocket":
        return f"{{ printf '%s\\n' {words}; {_PATIENCE}; }} | python -m websockets {shlex.quote(evidence.target)}"
    if visit.transport == "sse":
        return f"curl -sS -N {shlex.quote(evidence.target)} -H 'accept: text/event-stream'"
    command = shlex.join(evidence.argv)
    if step.name == "end-of-input":
        return f"printf '%s\\n' {words} | timeout 10 {command}; echo \"exit code $?\""
    return f"{{ printf '%s\\n' {words}; {_PATIENCE}; }} | {command}"


def _way_to(visit: Visit, step: Step) -> list[Step]:
    """What has to be sent before: the handshake, where there was one."""
    way = [one for one in visit.steps if one.name in ("initialize", "notifications/initialized")]
    before = []
    for one in way:
        if one is step:
            break
        before.append(one)
    if step.name == "initialize":
        before = []
    return [*before, step]


def _curl(evidence: Evidence, visit: Visit, step: Step) -> str:
    http = step.http or Http()
    session = next((value for name, value in http.sent if name.lower() == "mcp-session-id"), None)
    opening = next(visit.named("initialize"), None)
    command = _one_curl(evidence.target, step, http)
    if session is None or opening is None or opening is step or step.name == "unknown-session":
        return command
    opened = _one_curl(evidence.target, opening, opening.http or Http(), "-D - -o /dev/null")
    find = "tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip'"
    return f"S=$({opened} | {find}); {command}".replace(
        shlex.quote(f"mcp-session-id: {session}"), '"mcp-session-id: $S"'
    )


def _one_curl(target: str, step: Step, http: Http, how: str = "-i") -> str:
    parts = [f"curl -sS {how}"]
    if http.method != "POST":
        parts.append(f"-m 5 -X {http.method}")
    parts.append(shlex.quote(target))
    if http.method == "POST":
        parts.append("-H 'content-type: application/json' -H 'accept: application/json, text/event-stream'")
    for name, value in http.sent:
        if name.lower() in _USUAL and http.method == "POST":
            continue
        parts.append(f"-H {shlex.quote(f'{name.lower()}: {HIDDEN if SECRET.search(name) else value}')}")
    if http.method == "POST":
        parts.append(f"-d {shlex.quote(step.sent.decode('utf-8', 'replace'))}")
    return " ".join(parts)
