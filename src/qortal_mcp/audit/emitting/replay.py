"""Ask a server again and describe its answer. Copied whole into each test file that is written, so only the standard library."""

import http.client
import json
import os
import queue
import re
import shlex
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

SECONDS = float(os.environ.get("MCP_AUDIT_SECONDS", "10"))
# How long more may come after the answer.
GRACE_SECONDS = 0.3


@dataclass(frozen=True)
class Answer:
    """What came back: the pieces as bytes, each with the name of its event, and the HTTP around them."""

    pieces: tuple[tuple[bytes, str], ...] = ()
    status: int | None = None
    media_type: str = ""
    # The reply, or the program after the end of its input, ended by itself.
    is_whole: bool = True
    # The server was there at all.
    is_reached: bool = True


def ask_address(url: str, requests: list[dict[str, Any]]) -> Answer:
    """Send the requests in turn; the answer to the last one counts. A session id is passed on."""
    url = os.environ.get("MCP_AUDIT_URL", url)
    session = ""
    answer = Answer(is_reached=False)
    for request in requests:
        headers = {**_own_headers(), **request["headers"]}
        headers = {name: session if value == "$SESSION" else value for name, value in headers.items()}
        try:
            answer, opened = _exchange(url, request, headers)
        except (OSError, http.client.HTTPException):
            return Answer(is_reached=False)
        session = opened or session
    return answer


def _own_headers() -> dict[str, str]:
    """Headers with secrets: from a file that is named only when the tests run."""
    path = os.environ.get("MCP_AUDIT_HEADER_FILE")
    if not path:
        return {}
    with open(path, encoding="latin-1") as file:
        pairs = [line.partition(":") for line in file if line.strip()]
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _exchange(url: str, request: dict[str, Any], headers: dict[str, str]) -> tuple[Answer, str]:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
    path = request.get("path") or (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        body = request["body"]
        connection.request(request["method"], path, None if body is None else body.encode(), headers)
        response = connection.getresponse()
        media_type = (response.getheader("content-type") or "").partition(";")[0].strip().lower()
        data, is_whole = _read(response, time.monotonic() + (SECONDS if body is not None else 2.0))
    finally:
        connection.close()
    pieces = events(data) if media_type == "text/event-stream" else ((data, ""),) if data else ()
    # Who is not let in, or meets a server that is down, has not seen what is to be tested.
    is_reached = response.status < 500 and response.status != 401
    answer = Answer(tuple(pieces), response.status, media_type, is_whole, is_reached)
    return answer, response.getheader("mcp-session-id") or ""


def _read(response: http.client.HTTPResponse, end: float) -> tuple[bytes, bool]:
    data = b""
    while time.monotonic() < end:
        try:
            more = response.read1(65536)
        except (OSError, http.client.HTTPException):
            return data, False
        if not more:
            return data, True
        data += more
        if has_reply(events(data)):
            # It should end now; the connection has that long.
            end = min(end, time.monotonic() + GRACE_SECONDS)
            response.fp.raw._sock.settimeout(GRACE_SECONDS)  # type: ignore[attr-defined]
    return data, False


def has_reply(pieces: tuple[tuple[bytes, str], ...]) -> bool:
    return any(
        isinstance(value, dict) and ("result" in value or "error" in value)
        for value in map(_json, (data for data, _ in pieces))
    )


def events(data: bytes) -> tuple[tuple[bytes, str], ...]:
    """The Server-Sent Events in a body: the data and the name of each."""
    found = []
    for block in re.split(rb"\r?\n\r?\n", data)[:-1]:
        fields = [line.partition(b":") for line in block.splitlines()]
        lines = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
        names = [value.strip().decode("latin-1") for name, _, value in fields if name == b"event"]
        if lines:
            found.append((b"\n".join(lines), names[-1] if names else "message"))
    return tuple(found)


def ask_program(command: list[str], lines: list[str], *, until_end: bool = False) -> Answer:
    """Write the lines in turn; what comes after the last one counts. `until_end`: its input ends, and it should end too."""
    override = os.environ.get("MCP_AUDIT_COMMAND")
    words = shlex.split(override) if override else command
    assert "***" not in " ".join(words), "a secret of the command is hidden: set MCP_AUDIT_COMMAND"
    process = subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None, "opened with a pipe"
    assert process.stdout is not None, "opened with a pipe"
    heard: queue.Queue[bytes] = queue.Queue()
    reader = threading.Thread(target=_copy, args=(process.stdout, heard))
    reader.start()
    pieces: list[bytes] = []
    is_reached, is_whole = not lines, True
    try:
        for number, line in enumerate(lines):
            pieces = []
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            pieces = _heard(heard, line, is_last=number == len(lines) - 1)
            is_reached = is_reached or bool(pieces)
        process.stdin.close()
        if until_end:
            is_whole = _ends(process)
    except OSError:
        is_whole = False
    finally:
        process.kill()
        process.wait()
        reader.join(SECONDS)
        process.stdout.close()
    return Answer(
        tuple((piece, "") for piece in pieces if piece),
        is_whole=is_whole,
        is_reached=is_reached or len(lines) == 1,
    )


def _copy(stream: Any, heard: "queue.Queue[bytes]") -> None:
    for line in stream:
        heard.put(line)
    heard.put(b"")


def _ends(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _heard(heard: "queue.Queue[bytes]", line: str, *, is_last: bool) -> list[bytes]:
    """What comes until a request is answered; after a notification, and after the answer to the last request, a moment longer."""
    asked = _json(line.encode())
    waits = isinstance(asked, dict) and "id" in asked
    end = time.monotonic() + (SECONDS if waits else GRACE_SECONDS if is_last else 0.0)
    pieces: list[bytes] = []
    while True:
        try:
            piece = heard.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            return pieces
        if not piece:
            heard.put(b"")
            return pieces
        pieces.append(piece)
        value = _json(piece)
        if waits and isinstance(value, dict) and value.get("id") == asked["id"]:
            if not is_last:
                return pieces
            end = min(end, time.monotonic() + GRACE_SECONDS)


def _json(data: bytes) -> Any:
    """The value of bytes that are JSON; None for others."""
    try:
        return json.loads(data.decode("utf-8-sig").strip(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(name)


def described(answer: Answer, question: str, place: list[Any]) -> list[Any]:
    """What a test compares: the HTTP, the form of each piece, and what stands at the place that was wrong."""
    asked = _json(question.encode())
    id_ = asked.get("id") if isinstance(asked, dict) else None
    values = [_json(data) for data, _ in answer.pieces]
    replies = [one for one in values if isinstance(one, dict) and ("result" in one or "error" in one)]
    reply = next((one for one in replies if one.get("id") == id_), replies[0] if replies else None)
    if place[:1] == ["params"]:
        reply = next((one for one in values if isinstance(one, dict) and "method" in one), None)
    kinds = [
        f"{name} {_kind(data, value, id_)}".strip()
        for (data, name), value in zip(answer.pieces, values, strict=True)
    ]
    return [answer.status, answer.media_type, answer.is_whole, kinds[:20], _at(reply, place)]


def _kind(data: bytes, value: Any, id_: Any) -> str:
    """The form of a piece in words: how it is framed, what it is, whose answer it is."""
    words = []
    if data.startswith(b"\xef\xbb\xbf"):
        words.append("with a byte order mark")
    if data.endswith(b"\r\n"):
        words.append("with a carriage return")
    if isinstance(value, dict):
        words.append(_message(value, id_))
    elif isinstance(value, list):
        words.append("array")
    else:
        words.append("blank" if not data.strip() else "not a message")
    if _has_member_twice(data):
        words.append("with a member twice")
    if b"\\ud8" in data.lower() or len(data.strip().splitlines()) > 1:
        words.append("with half a character or on several lines")
    return " ".join(words)


def _has_member_twice(data: bytes) -> bool:
    twice = []

    def members(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            twice.append(pairs)

    try:
        json.loads(data.decode("utf-8-sig"), object_pairs_hook=members)
    except (ValueError, RecursionError):
        return False
    return bool(twice)


def _message(value: dict[str, Any], id_: Any) -> str:
    known = {"jsonrpc", "id", "method", "params", "result", "error"}
    error = value.get("error")
    given = value.get("id")
    names = sorted(name for name in ("method", "result", "error") if name in value)
    same = "same id" if given == id_ and type(given) is type(id_) else f"{type(given).__name__} id"
    code = f"code {error.get('code')!r}" if isinstance(error, dict) else ""
    more = [name[:40] for name in sorted(set(value) - known)]
    return " ".join([*names, str(value.get("method", "")), same, code, str(value.get("jsonrpc")), *more])


def _at(value: Any, place: list[Any]) -> Any:
    """What stands at a place; where there is nothing, what stands around it."""
    for number, key in enumerate(place):
        if (isinstance(value, dict) and key in value) or (
            isinstance(value, list) and isinstance(key, int) and key < len(value)
        ):
            value = value[key]
        elif isinstance(value, list) and str(key).startswith("name="):
            named = [one for one in value if isinstance(one, dict) and one.get("name") == key[5:]]
            value = named[0] if len(named) == 1 else named
        else:
            return ["(nothing)", number, _sketch(value, 0)]
    if isinstance(value, str):
        return value[:200]
    return value if isinstance(value, int | float | None) else _sketch(value, 0)


def _sketch(value: Any, depth: int) -> Any:
    """The form of a value. Words with digits in them, and numbers, may differ from one answer to the next."""
    if isinstance(value, dict) and depth < 12:
        return {key: _sketch(inner, depth + 1) for key, inner in list(value.items())[:100]}
    if isinstance(value, list) and depth < 12:
        return [_sketch(inner, depth + 1) for inner in value[:20]]
    if isinstance(value, str):
        return value if len(value) <= 40 and not re.search(r"\d", value) else "(string)"
    return value if value is None or isinstance(value, bool) else f"({type(value).__name__})"
