"""A server that is right gives no findings, on every wire and in every revision, and nothing is left unjudged."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from tests.audit.audits import LIMITS
from tests.audit.stub import LEGACY, MODERN, Server
from tests.audit.wires import command, http_server, websocket_server

from qortal_mcp.audit.judging.finding import Report
from qortal_mcp.audit.judging.judge import CONFORMS, judge
from qortal_mcp.audit.visiting.runner import Order, Target, collect

WIRES = ["stdio", "http, JSON", "http, streams", "http, sessions", "http, streams and sessions", "websocket"]


@contextlib.asynccontextmanager
async def right_server(wire: str) -> AsyncIterator[Target]:
    if wire == "stdio":
        yield command("right")
    elif wire == "websocket":
        async with websocket_server(Server()) as url:
            yield url
    else:
        async with http_server(Server(streams="streams" in wire, sessions="sessions" in wire)) as url:
            yield url


async def report_of(wire: str, *revisions: str) -> Report:
    async with right_server(wire) as target:
        return judge(await collect(Order(target=target, revisions=revisions, limits=LIMITS)))


@pytest.mark.promise("Audit", "A server that follows the specification conforms in all five revisions.")
@pytest.mark.parametrize("wire", WIRES)
async def test_a_right_server_conforms_in_all_revisions_and_every_check_was_judged(wire: str) -> None:
    report = await report_of(wire)
    assert report.findings == ()
    assert report.verdict == CONFORMS, report.because
    assert report.revisions == (*LEGACY, MODERN)
    assert report.not_judged == ()
    assert report.gaps == ()
    assert report.tools_called == report.tools == 2


# The oldest has no word for "read-only", so an audit of it alone calls nothing by itself.
@pytest.mark.promise("Audit", "A server that follows the specification conforms in all five revisions.")
@pytest.mark.parametrize("revision", [*LEGACY[1:], MODERN])
@pytest.mark.parametrize("wire", ["http, JSON", "stdio"])
async def test_a_right_server_conforms_in_each_revision_alone(wire: str, revision: str) -> None:
    report = await report_of(wire, revision)
    assert (report.findings, report.verdict, report.revisions) == ((), CONFORMS, (revision,))


@pytest.mark.parametrize("wire", ["http, JSON", "stdio", "websocket"])
async def test_what_the_model_sees_of_a_right_server_is_what_its_tools_say(wire: str) -> None:
    report = await report_of(wire, LEGACY[-1])
    shown = {(view.client, view.tool): view.shows for view in report.model_sees}
    assert shown["Codex CLI", "ok"] == '{"word":"healthy"}'
    assert shown["Gemini CLI", "t"] == "fine"
