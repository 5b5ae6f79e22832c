"""The endpoint of the tests itself: other tests are worth as much as it is."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.agent.scripted_endpoint import ScriptedEndpoint, calls, refuses, says


def posted(endpoint: ScriptedEndpoint, body: dict[str, Any]) -> tuple[str, str]:
    request = Request(f"{endpoint.base_url}/chat/completions", data=json.dumps(body).encode())
    with urlopen(request, timeout=5) as reply:
        return reply.headers["content-type"], reply.read().decode()


def test_a_call_is_streamed_in_pieces_and_the_next_reply_follows() -> None:
    with ScriptedEndpoint([calls(("get_balance", {"address": "12345"})), says("Not valid.")]) as endpoint:
        kind, first = posted(endpoint, {"stream": True})
        _, second = posted(endpoint, {"stream": False})
    assert kind.startswith("text/event-stream")
    events = [json.loads(line[6:]) for line in first.splitlines() if line.startswith("data: {")]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    pieces = [delta["tool_calls"][0]["function"] for delta in deltas if "tool_calls" in delta]
    assert pieces[0]["name"] == "get_balance"
    assert json.loads("".join(piece["arguments"] for piece in pieces)) == {"address": "12345"}
    assert json.loads(second)["choices"][0]["message"]["content"] == "Not valid."
    assert [request.body["stream"] for request in endpoint.requests] == [True, False]


def test_a_script_that_is_used_up_says_so() -> None:
    with ScriptedEndpoint([refuses(429, "slow down", retry_after="3")]) as endpoint:
        with pytest.raises(HTTPError, match="429") as busy:
            posted(endpoint, {})
        with pytest.raises(HTTPError, match="400") as used_up:
            posted(endpoint, {})
    with busy.value, used_up.value:
        assert busy.value.headers["retry-after"] == "3"
        assert "no more replies" in used_up.value.read().decode()
