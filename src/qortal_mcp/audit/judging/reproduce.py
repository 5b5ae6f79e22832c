"""One line for a shell that shows a finding again: `printf` into a program, `curl` at an address."""

import json
import re
import shlex
from urllib.parse import urlsplit, urlunsplit

from ...protocol.headers import SESSION_ID
from ...text import printable
from ..evidence import Evidence, Http, Step, Visit
from ..secrets import HIDDEN, SECRET

# Headers that every POST here has.
_USUAL = ("content-type", "accept")
_POSTED = "-H 'content-type: application/json' -H 'accept: application/json, text/event-stream'"
# How long a program is given to answer before its input ends.
_PATIENCE = "sleep 2"
# Any sixteen bytes.
_UPGRADE = (
    "-H 'connection: Upgrade' -H 'upgrade: websocket' -H 'sec-websocket-version: 13' "
    "-H 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==' -H 'sec-websocket-protocol: mcp'"
)


def line(evidence: Evidence, visit: Visit, step: Step) -> str:
    """The commands that lead to a step and show its answer."""
    if visit.is_repaired:
        return _through_bridge(evidence, visit, step)
    if visit.transport == "http":
        command = _curl(evidence, visit, step)
        # Neither the file nor what is in it is shown.
        return (
            command.replace("curl -sS ", "curl -sS -H @HEADER_FILE ")
            if evidence.has_secret_headers
            else command
        )
    if visit.transport == "websocket" and step.http is not None:
        return _upgrade(evidence.target, step.http)
    return _pipe(evidence, visit, step)


_RATE = "it takes many requests in a short time"
_CURSOR = "the cursor comes from the page before, which has to be asked for first"
_SESSION = "opens a session first, and sends its id along"
_DELETED = "opens a session first, and deletes it"
_HANDSHAKE = "the handshake comes first, on the same connection"
_MODERN = "a good request comes first, on the same connection"
_GARBAGE = "the handshake and the message that is not JSON come first, on the same connection"
_PAGE = "a page of a stranger does the same in the browser of whoever opens it: "
_REBOUND = (
    "a page of a stranger does the same in the browser of whoever opens it, once the name of its host, attacker.example here, "
    "points to the address of this server (DNS rebinding): "
)


def note(evidence: Evidence, visit: Visit, step: Step) -> str:
    """What has to come before a step, in words; empty where the one request is enough."""
    if step.name == "foreign-origin":
        return (_PAGE if visit.transport == "websocket" else _REBOUND) + _page(evidence, visit, step)
    if step.http is not None and step.http.status == 429:
        return _RATE
    if step.name.endswith("/list") and step.subject:
        return _CURSOR
    if visit.transport == "http":
        if not _opens_session(visit, step):
            return ""
        return _DELETED if step.name == "after-delete" else _SESSION
    if visit.transport == "sse" or len(way_to(visit, step)) < 2:
        return ""
    if step.name.startswith("modern-"):
        return _MODERN
    return _GARBAGE if step.name == "after-garbage" else _HANDSHAKE


def _page(evidence: Evidence, visit: Visit, step: Step) -> str:
    """What such a page holds. Over HTTP its own name points to the server (DNS rebinding): that is the host of the address."""
    target = printable(evidence.target)
    if visit.transport == "websocket":
        ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        return (
            f"<script>s = new WebSocket({json.dumps(target)}, 'mcp'); s.onopen = () => s.send('{ping}'); "
            "s.onmessage = e => alert(e.data)</script>"
        )
    try:
        parts = urlsplit(target)
        port = f":{parts.port}" if parts.port else ""
        url = urlunsplit(parts._replace(netloc=f"attacker.example{port}", path=parts.path or "/"))
    except ValueError:  # not an address, in a made-up capture
        url = target
    sent = json.dumps(_typed(step.sent))
    headers = "{'content-type': 'application/json', accept: 'application/json, text/event-stream'}"
    return (
        f"<script>fetch({json.dumps(url)}, {{method: 'POST', headers: {headers}, body: {sent}}})"
        ".then(r => r.text()).then(alert)</script>"
    )


def _opens_session(visit: Visit, step: Step) -> bool:
    """Whether the line for a step over HTTP begins with a handshake of its own."""
    sent = step.http.sent if step.http is not None else ()
    opening = next(visit.named("initialize"), None)
    has_session = any(name.lower() == SESSION_ID for name, _ in sent)
    return has_session and opening not in (None, step) and step.name != "unknown-session"


def _through_bridge(evidence: Evidence, visit: Visit, step: Step) -> str:
    words = " ".join(_quoted(_typed(one.sent)) for one in way_to(visit, step) if one.sent.strip())
    server = ["--", *evidence.argv] if evidence.argv else [evidence.target]
    command = " ".join(["qortal-mcp bridge", *(_quoted(word) for word in server)])
    return f"{{ printf '%s\\n' {words}; {_PATIENCE}; }} | {command}"


def _pipe(evidence: Evidence, visit: Visit, step: Step) -> str:
    words = " ".join(_quoted(_typed(one.sent)) for one in way_to(visit, step) if one.sent.strip())
    target = _quoted(evidence.target)
    if visit.transport == "sse":
        return f"curl -sS -N -m 5 {target} -H 'accept: text/event-stream'"
    if visit.transport == "websocket":
        return f"{{ printf '%s\\n' {words}; {_PATIENCE}; }} | python -m websockets {target}"
    command = " ".join(_quoted(word) for word in evidence.argv)
    if step.name == "end-of-input":
        return f"printf '%s\\n' {words} | timeout 10 {command}; echo \"exit code $?\""
    return f"{{ printf '%s\\n' {words}; {_PATIENCE}; }} | {command}"


def way_to(visit: Visit, step: Step) -> list[Step]:
    """What has to be sent before: the handshake, where there was one; and the invalid message before the ping that follows it.

    A good request goes before the bad ones of 2026-07-28: some servers decide about a connection by its first request.
    """
    if step.name == "initialize":
        return [step]
    before = list(visit.named("tools/list"))[:1] if step.name.startswith("modern-") else []
    for one in visit.steps:
        if one is step:
            break
        if one.name in _OPENING or (one.name == "raw garbage" and step.name == "after-garbage"):
            before.append(one)
    return [*before, step]


_OPENING = ("initialize", "notifications/initialized")


def _curl(evidence: Evidence, visit: Visit, step: Step) -> str:
    http = step.http or Http()
    target = http.path or evidence.target
    session = next((value for name, value in http.sent if name.lower() == SESSION_ID), None)
    opening = next(visit.named("initialize"), None)
    command = _one_curl(target, step, http)
    if session is None or opening is None or not _opens_session(visit, step):
        return command
    find = "tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip'"
    opened = _one_curl(target, opening, opening.http or Http(), "-D - -o /dev/null")
    way = [f"S=$({opened} | {find})"]
    for one in session_way(visit, step)[1:]:
        way.append(_one_curl(target, one, one.http or Http(), "-o /dev/null"))
    return "; ".join([*way, command]).replace(_quoted(f"{SESSION_ID}: {session}"), f'"{SESSION_ID}: $S"')


def session_way(visit: Visit, step: Step) -> list[Step]:
    """What has to be sent before a request in a session: what opens it, and where it is about an ended one what ends it."""
    opening = next(visit.named("initialize"), None)
    if opening is None or opening is step or step.name == "unknown-session":
        return []
    between = ["notifications/initialized", *(["delete-session"] if step.name == "after-delete" else [])]
    return [opening, *(one for one in visit.named(*between) if one.http is not None and one is not step)]


def _one_curl(target: str, step: Step, http: Http, how: str = "-i") -> str:
    parts = [f"curl -sS {how}"]
    is_post = http.method == "POST"
    if not is_post:
        parts.append(f"-m 5 -X {_quoted(http.method)}")
    # The target of a hostile capture must not be read as an option.
    parts.append(f"--url {_quoted(target)}" if target.startswith("-") else _quoted(target))
    if is_post:
        parts.append(_POSTED)
    parts += [_header(name, value) for name, value in http.sent if not (is_post and name.lower() in _USUAL)]
    if is_post:
        # Not -d: what begins with @ would be the name of a file.
        parts.append(f"--data-raw {_quoted(_typed(step.sent))}")
    return " ".join(parts)


def _upgrade(target: str, http: Http) -> str:
    """Whether a WebSocket opens: its first line is the answer."""
    try:
        parts = urlsplit(target)
        url = urlunsplit(parts._replace(scheme={"wss": "https"}.get(parts.scheme, "http")))
    except ValueError:  # not an address, in a made-up capture
        url = target
    headers = " ".join(_header(name, value) for name, value in http.sent)
    return f"curl -sS -i -m 2 {_quoted(url)} {_UPGRADE} {headers}"


def _header(name: str, value: str) -> str:
    return f"-H {_quoted(f'{name.lower()}: {HIDDEN if SECRET.search(name) else value}')}"


def _quoted(text: str) -> str:
    """One word of a shell, which cannot control the terminal it is shown on."""
    return shlex.quote(" ".join(printable(text).splitlines()))


_UNUSUAL = re.compile(r"[^\x20-\x7e]")


def _typed(data: bytes) -> str:
    """A message as it can be shown and typed: invisible and control characters become JSON escapes, which mean the same."""
    text = data.decode("utf-8", "replace").strip("\r\n")
    return _UNUSUAL.sub(lambda match: _escaped(match[0]), text)


def _escaped(character: str) -> str:
    if printable(character) == character and character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
