"""The sample chain answers as the Core did that it was read from."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from qortal_mcp.qortal.sample import http
from qortal_mcp.qortal.sample.reader import answer

RECORDED = Path(__file__).with_name("recorded")
# The clock of the recording goes on; only the kind of these values can be compared.
CLOCKED = {"/admin/info", "/admin/uptime", "/utils/timestamp"}
# Several transactions may share a reference, and Core gives any one of them.
ANY_OF_SEVERAL = {"/transactions/reference/{reference}": "reference"}

# Files of resources with several are no part of the sample; nothing here can ask for one.
LEFT_OUT = {"filepath"}


def exchanges() -> Iterator[Any]:
    for file in sorted(RECORDED.glob("*.jsonl")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            row = json.loads(line)
            if any(name in LEFT_OUT for name, _ in row["query"]):
                continue
            yield pytest.param(row, id=f"{file.stem}-{number}-{row['case']}")


def target_of(row: dict[str, Any]) -> str:
    query = row.get("rawQuery") or urlencode([tuple(pair) for pair in row["query"]])
    return f"{row['path']}?{query}" if query else str(row["path"])


@pytest.mark.promise(
    "Data of the chain", "The sample chain answers every recorded question as Qortal Core did."
)
@pytest.mark.parametrize("row", list(exchanges()))
def test_a_recorded_question_gets_the_recorded_answer(row: dict[str, Any]) -> None:
    reply = answer(target_of(row))
    assert reply.status == row["status"]
    if row["status"] >= 500 or (row["body"] or "").startswith("<"):
        return
    assert reply.content_type == (row["contentType"] or "").partition(";")[0]
    if row["body"] is None:  # not text, or too large to be recorded
        assert "bodyBase64" not in row or reply.body == base64.b64decode(row["bodyBase64"])
        return
    if reply.content_type == "application/json":
        recorded, ours = json.loads(row["body"]), json.loads(reply.body)
        shared = ANY_OF_SEVERAL.get(row["endpoint"])
        if shared is not None and shared in recorded:
            recorded, ours = recorded[shared], ours[shared]
        assert kinds(ours) == kinds(recorded) if row["endpoint"] in CLOCKED else ours == recorded
    elif row["endpoint"] in CLOCKED:
        assert reply.body.decode().isdecimal() == row["body"].isdecimal()
    else:
        assert reply.body.decode() == row["body"]


def kinds(value: dict[str, Any]) -> dict[str, type]:
    return {name: type(member) for name, member in value.items()}


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/", 404),
        ("/admin/stop", 404),
        ("/names/../admin/status", 404),
        ("/admin%2Fstatus", 404),
        ("//admin/status", 400),
        ("/addresses/%2e%2e", 400),
        ("/addresses/%00", 400),
        ("/addresses/%zz", 400),
        ("/admin/status;x=1", 200),
        ("/admin/status/", 200),
    ],
)
def test_odd_paths_get_what_core_gives_them(target: str, status: int) -> None:
    assert answer(target).status == status


async def over_http(target: str, method: str = "GET") -> tuple[int, dict[bytes, bytes], bytes]:
    path, _, query = target.partition("?")
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("a GET has no body")

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
    }
    await http.app(scope, receive, send)
    start, body = sent
    return start["status"], dict(start["headers"]), body["body"]


async def test_its_http_door_gives_the_same_answers() -> None:
    for param in exchanges():
        row = param.values[0]
        status, headers, body = await over_http(target_of(row))
        reply = answer(target_of(row))
        assert (status, body) == (reply.status, reply.body)
        assert headers[b"content-length"] == str(len(body)).encode()


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("POST", 405), ("DELETE", 405)])
async def test_its_http_door_opens_for_reading_only(method: str, status: int) -> None:
    assert (await over_http("/admin/status", method))[0] == status


async def test_an_escaped_slash_stays_data_on_its_way_through_the_door() -> None:
    assert (await over_http("/addresses/a%2Fb"))[0] == 400
    assert (await over_http("/addresses/a/b"))[0] == 404
