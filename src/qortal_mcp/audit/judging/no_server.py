"""What is not an MCP server at all: a program that repeats its input, an address where nothing is served, a website."""

import re

from ...protocol import lenient
from ..evidence import Evidence, Step

NOTHING_HERE = "nothing is served at this path (HTTP 404); MCP servers often use /mcp, /sse or /ws"
ECHO = "this program repeats what it is sent; it is not an MCP server"
WEBSITE = "this does not look like an MCP server"
# How a website refuses a POST.
_REFUSALS = (404, 405, 501)
# How a wire says that no WebSocket opens at an address where something else is served.
_NO_WEBSOCKET = re.compile(r"HTTP status (200|404|405|501)")


def no_server(evidence: Evidence) -> str:
    """Why there is nothing to judge; empty where there is."""
    if any(visit.revision for visit in evidence.visits):
        return ""
    steps = [step for visit in evidence.visits for step in visit.steps if step.name != "foreign-origin"]
    if evidence.transport == "http":
        return _elsewhere(steps)
    return ECHO if _is_echo(steps) else ""


def unreachable(reason: str) -> str:
    """Why no connection could be made, in words that say what is there instead."""
    if (refused := _NO_WEBSOCKET.fullmatch(reason)) is not None:
        return NOTHING_HERE if refused[1] == "404" else f"{WEBSITE} (HTTP {refused[1]})"
    return reason


def _is_echo(steps: list[Step]) -> bool:
    """Whether each question comes back first, and nothing has a result. What follows it are our answers to our own questions."""
    answered = [step for step in steps if step.end != "sent" and step.heard]
    return bool(answered) and all(
        step.heard[0].data.strip() == step.sent.strip()
        and not any(b'"result"' in heard.data for heard in step.heard)
        for step in answered
        if step.name in _QUESTIONS
    )


# Asked before a revision is agreed on.
_QUESTIONS = ("server/discover", "initialize")


def _elsewhere(steps: list[Step]) -> str:
    statuses = {step.http.status for step in steps if step.http is not None}
    if not statuses or any(_is_message(step) for step in steps):
        return ""
    if statuses == {404}:
        return NOTHING_HERE
    if all(_is_of_website(step) for step in steps):
        return f"{WEBSITE} (HTTP {', '.join(str(status) for status in sorted(statuses - {None}, key=str))})"
    return ""


def _is_of_website(step: Step) -> bool:
    http = step.http
    return http is not None and (
        http.status in _REFUSALS or (http.status == 200 and http.media_type == "text/html")
    )


def _is_message(step: Step) -> bool:
    """Whether an answer is a message of JSON-RPC, or nearly one."""
    return any(
        isinstance(value, list) or (isinstance(value, dict) and value.keys() & {"jsonrpc", "result", "error"})
        for heard in step.heard
        for value in lenient.read(heard.data).values
    )
