"""Log lines: on standard error, searchable, with the request's id, and never longer or stranger than they may be."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from qortal_mcp import logs
from qortal_mcp.limits import DEFAULT
from qortal_mcp.text import visible

log = logging.getLogger("qortal_mcp.test")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield io.StringIO()
    root.handlers[:] = handlers
    root.setLevel(level)


def only_line(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    parsed: dict[str, Any] = json.loads(line)
    return parsed


def test_a_json_line_holds_the_event_and_its_prefixed_fields(stream: io.StringIO) -> None:
    logs.configure("info", "json", stream)
    log.info("request answered", extra={"qortal_mcp.method": "tools/call", "qortal_mcp.ms": 1.5})
    line = only_line(stream)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "qortal_mcp.test",
        "event": "request answered",
        "qortal_mcp.method": "tools/call",
        "qortal_mcp.ms": 1.5,
    }


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_carries_the_id_of_the_request_at_hand(stream: io.StringIO, form: Any) -> None:
    logs.configure("info", form, stream)
    token = logs.request_id.set("abc-1")
    try:
        log.info("during")
    finally:
        logs.request_id.reset(token)
    log.info("after")
    during, after = stream.getvalue().splitlines()
    assert "abc-1" in during
    assert "request_id" not in after


def test_text_shows_fields_without_their_prefix(stream: io.StringIO) -> None:
    logs.configure("info", "text", stream)
    log.warning("node rested", extra={"qortal_mcp.tool": "get_block"})
    assert stream.getvalue().rstrip().endswith("warning node rested tool=get_block")


@pytest.mark.parametrize(("target", "is_json"), [(Terminal(), False), (io.StringIO(), True)])
def test_auto_is_text_on_a_terminal_and_json_elsewhere(
    stream: io.StringIO, target: io.StringIO, is_json: bool
) -> None:
    logs.configure("info", "auto", target)
    log.info("hello")
    assert target.getvalue().startswith("{") is is_json


@pytest.mark.promise(
    "Text of strangers",
    "Nothing that a stranger wrote can steer a terminal through the log or begin a log line of its own.",
)
@pytest.mark.parametrize("form", ["json", "text"])
def test_what_a_stranger_wrote_cannot_steer_a_terminal_or_begin_a_line(
    stream: io.StringIO, form: Any
) -> None:
    logs.configure("info", form, stream)
    hostile = "\x1b[2J\u202e\n2026-01-01T00:00:00Z error forged"
    log.info("name %s", hostile, extra={"qortal_mcp.name": hostile})
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()


def test_text_that_was_made_printable_before_is_not_escaped_twice() -> None:
    assert visible(r"a\u{202E}b") == r"a\u{202E}b"
    assert visible("a\U000e0170b") == r"a\u{E0170}b"
    assert visible("a\u202eb") == r"a\u{202E}b"
    assert visible(visible("\\u{zz}\x00")) == visible("\\u{zz}\x00")


@pytest.mark.promise("Operations", "A log line is bounded and, as JSON, always one line.")
def test_a_value_is_bounded_however_long_it_is(stream: io.StringIO) -> None:
    logs.configure("info", "json", stream)
    log.info("%s", "x" * 1_000_000, extra={"qortal_mcp.value": "y" * 1_000_000})
    assert len(stream.getvalue()) < 2000
    assert len(only_line(stream)["qortal_mcp.value"]) < DEFAULT.log_value_chars + 50


@pytest.mark.promise("Operations", "A log line is bounded and, as JSON, always one line.")
def test_a_json_line_with_a_traceback_is_still_one_line(stream: io.StringIO) -> None:
    logs.configure("info", "json", stream)
    try:
        raise ValueError("line one\nline two \x1b[0m")
    except ValueError:
        log.exception("internal error")
    line = only_line(stream)
    assert "Traceback" in line["traceback"]
    assert "line two" in line["traceback"]
    assert "\x1b" not in line["traceback"]


def test_in_text_a_traceback_is_indented_below_its_event(stream: io.StringIO) -> None:
    logs.configure("info", "text", stream)
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        log.exception("internal error")
    head, *rest = stream.getvalue().splitlines()
    assert head.endswith("internal error")
    assert rest
    assert all(line.startswith("    ") for line in rest)


def test_a_traceback_is_bounded_and_keeps_its_end(stream: io.StringIO) -> None:
    logs.configure("info", "json", stream)
    try:
        raise ValueError("x" * 100_000 + " the end")
    except ValueError:
        log.exception("internal error")
    traceback = only_line(stream)["traceback"]
    assert len(traceback) < 21_000
    assert traceback.endswith("the end")


def test_lines_below_the_level_are_left_out(stream: io.StringIO) -> None:
    logs.configure("warning", "json", stream)
    log.info("not this")
    log.warning("this")
    assert only_line(stream)["event"] == "this"


@pytest.mark.parametrize(
    "name", ["aiohttp.client", "aiohttp.access", "uvicorn.access", "uvicorn.error", "asyncio"]
)
def test_libraries_stay_quiet_about_their_daily_work(stream: io.StringIO, name: str) -> None:
    logs.configure("debug", "json", stream)
    logging.getLogger(name).info("GET /addresses/QdSnUy")
    assert stream.getvalue() == ""


def test_configuring_again_replaces_the_earlier_choice(stream: io.StringIO) -> None:
    logs.configure("info", "json", io.StringIO())
    logs.configure("info", "json", stream)
    log.info("once")
    assert only_line(stream)["event"] == "once"


def test_a_closed_standard_error_is_no_reason_to_fail(
    stream: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("info", "json", stream)
    stream.close()
    log.info("nobody hears this")
    assert capsys.readouterr().err == ""  # logging itself would complain at length


def test_a_standard_error_that_was_never_there_is_no_reason_to_fail(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    logs.configure("info", "auto")
    log.info("nobody hears this")
    assert logging.getLogger().handlers
