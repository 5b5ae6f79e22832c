"""Representatives of what is repaired, over every pair of a transport in front and one behind."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.bridge.cases import CALLS, CASES, REPRESENTATIVES
from tests.bridge.fronts import Front, Session, Socket, Stateless, Stdio, call, without_marks
from tests.bridge.scripts import serving
from tests.bridge.standins import Loop, Serve, StandIn, http, http_sse, program, standing_in, websocket
from tests.cli.running import Listening

BACKS: dict[str, Serve] = {
    "command": program,
    "http": http(),
    "http-sse": http_sse,
    "websocket": websocket(),
}
LISTENED: dict[str, Callable[[str], Any]] = {"http": Stateless, "session": Session, "websocket": Socket}
FRONTS = ("stdio", *LISTENED)


@pytest.fixture(scope="module", params=BACKS)
def behind(request: pytest.FixtureRequest, loop: Loop) -> Iterator[StandIn]:
    with standing_in(loop, BACKS[request.param], serving(CALLS)) as found:
        yield found


@pytest.fixture(scope="module")
def listener(behind: StandIn) -> Iterator[Callable[[], Listening]]:
    """One listening bridge for all fronts that need one."""
    with contextlib.ExitStack() as stack:
        started: list[Listening] = []

        def start() -> Listening:
            if not started:
                # The command and its words come last.
                address = ("--listen", "127.0.0.1:0")
                started.append(Listening(("bridge", *address, *behind.target), None))
                stack.callback(started[0].stop)
            return started[0]

        yield start


@pytest.fixture(scope="module", params=FRONTS)
def front(
    request: pytest.FixtureRequest, behind: StandIn, listener: Callable[[], Listening]
) -> Iterator[Front]:
    if request.param == "stdio":
        found = Stdio(*behind.target)
        yield found
        assert found.end() == 0
    else:
        with contextlib.closing(LISTENED[request.param](listener().url)) as client:
            yield client


@pytest.mark.promise("Bridge", "Every repair works over every pair of transports in front and behind.")
@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_a_wrong_answer_is_repaired_over_every_pair_of_transports(
    behind: StandIn, front: Front, name: str
) -> None:
    arguments = {"a": [1, 2.50, "ø\u2028"]}
    before = len(behind.calls(name))
    answer = without_marks(call(front, name, arguments))
    assert {key: value for key, value in answer.items() if key not in ("jsonrpc", "id")} == CASES[name].safe
    (asked,) = behind.calls(name)[before:]
    assert asked["params"] == {"name": name, "arguments": arguments}


def test_the_list_is_the_same_over_every_pair_of_transports(behind: StandIn, front: Front) -> None:
    listed = front.ask("tools/list", {})["result"]
    assert [tool["name"] for tool in listed["tools"]] == list(CALLS)
