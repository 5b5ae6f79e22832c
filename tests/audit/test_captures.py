"""What was seen can be kept in a file, and is judged from there like from the wire."""

import pytest
from tests.audit.audits import evidence_of
from tests.audit.cases import BY_NAME

from qortal_mcp.audit.evidence import (
    FORMAT,
    Evidence,
    Heard,
    Http,
    NotACapture,
    Step,
    Visit,
    from_file,
    to_file,
)
from qortal_mcp.audit.judging.judge import judge

_STEP = Step(name="ping", text="{}", heard=(Heard.of(b"{}\n"),))
_SMALL = Evidence(
    target="x", transport="stdio", visits=(Visit(name="probe", transport="stdio", steps=(_STEP,)),)
)


@pytest.mark.promise("Audit", "A capture gives the same report as the server it came from.")
@pytest.mark.parametrize(
    "name",
    ["block-object", "bad-utf8", "banner", "crlf", "http-sse-priming", "http-401-www", "ws-binary", "nan"],
)
async def test_a_capture_gives_the_same_report(name: str) -> None:
    evidence = await evidence_of(BY_NAME[name])
    kept = from_file(to_file(evidence))
    assert kept == evidence
    assert judge(kept) == judge(evidence)


def test_bytes_of_every_kind_are_kept() -> None:
    every = bytes(range(256)) + "\u2028\x85\r\n".encode()
    step = Step(
        name="raw", text="\u2028\x85", heard=(Heard.of(every), Heard.of("\u2028\x85".encode())), http=Http()
    )
    evidence = Evidence(
        target="\u2028", transport="http", visits=(Visit(name="v", transport="http", steps=(step,)),)
    )
    kept = from_file(to_file(evidence))
    assert kept == evidence
    assert kept.visits[0].steps[0].heard[0].data == every


_TITLE = to_file(_SMALL).splitlines()[0]
NOT_CAPTURES = [
    pytest.param(b"", FORMAT, id="empty"),
    pytest.param(b"\n\n", FORMAT, id="blank"),
    pytest.param(b"hello\n", FORMAT, id="words"),
    pytest.param(b"[]\n", FORMAT, id="another JSON"),
    pytest.param(b'{"jsonrpc":"2.0"}\n', FORMAT, id="a message"),
    pytest.param(b"\xff\xfe\x00", FORMAT, id="bytes"),
    pytest.param(b"[" * 100_000, FORMAT, id="deep"),
    pytest.param(_TITLE.replace(b"{", b'{"version":2,', 1), "version 2", id="a later version"),
    pytest.param(_TITLE + b'\n{"name":"ping"}\n', "line 2", id="a step without a visit"),
    pytest.param(_TITLE + b"\nhello\n", "line 2", id="words inside"),
    pytest.param(_TITLE + b'\n{"name":5,"transport":"stdio"}\n', "line 2", id="a visit of the wrong types"),
    pytest.param(_TITLE + b'\n{"name":"v","transport":"pigeon"}\n', "line 2", id="an unknown transport"),
    pytest.param(_TITLE + b"\n" + b"[" * 100_000, "line 2", id="deep inside"),
    pytest.param(_TITLE + b"\n\xff\n", "line 2", id="bytes inside"),
]


@pytest.mark.parametrize(("data", "words"), NOT_CAPTURES)
def test_a_foreign_file_is_refused_with_a_reason(data: bytes, words: str) -> None:
    with pytest.raises(NotACapture, match=words):
        from_file(data)


def test_a_file_that_was_cut_is_refused_or_shorter_and_never_different() -> None:
    whole = to_file(_SMALL)
    for at in range(len(whole)):
        try:
            kept = from_file(whole[:at])
        except NotACapture:
            pass
        else:
            steps = [step for visit in kept.visits for step in visit.steps]
            assert steps in ([], [_STEP])
