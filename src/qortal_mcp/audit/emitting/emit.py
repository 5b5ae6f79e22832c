"""The two files that `--emit-tests` writes: tests for pytest, and the same as a script for a shell."""

import inspect
import pprint
import shlex
from collections.abc import Sequence

from ..evidence import Evidence
from ..judging.finding import Report, shown
from . import replay
from .cases import TRANSPORTS, Case, cases_of

TESTS = "test_mcp_audit.py"
SCRIPT = "mcp_audit.sh"


class NotPossible(Exception):
    """No tests can be written for this server; the text says why."""


def files_of(report: Report, evidence: Evidence) -> dict[str, str]:
    """The text of each file by its name; none where nothing was found that a test can show.

    Raises: NotPossible.
    """
    if evidence.transport not in TRANSPORTS:
        raise NotPossible("tests can be written for programs and for Streamable HTTP only")
    cases = cases_of(report, evidence)
    if not cases:
        return {}
    return {TESTS: _tests(cases, evidence), SCRIPT: _script(cases, evidence)}


_USE = """\
Each test sends what the audit sent and fails as long as the answer is the same where it was wrong.

MCP_AUDIT_{target} says where the server is, if not where it was audited. Headers with secrets are read from the file that
MCP_AUDIT_HEADER_FILE names, one 'Name: value' per line; they are written nowhere."""


def _use(evidence: Evidence) -> str:
    return _USE.format(target="URL" if evidence.transport == "http" else "COMMAND")


def _tests(cases: Sequence[Case], evidence: Evidence) -> str:
    source = inspect.getsource(replay)
    code = source[source.index("import http.client") :].rstrip()
    head = f'"""What an audit found wrong with an MCP server. {_use(evidence)}\n"""\n\n'
    target = (
        f"URL = {evidence.target!a}"
        if evidence.transport == "http"
        else f"COMMAND = {_literal(list(evidence.argv))}"
    )
    return "\n\n\n".join([head.rstrip() + "\n\n" + code, target, *map(_test, cases)]) + "\n"


def _test(case: Case) -> str:
    finding = case.finding
    asked = "ask_address(URL, requests)" if case.requests else _ask_program(case)
    way = (
        f"requests = {_literal(list(case.requests))}"
        if case.requests
        else f"lines = {_literal(list(case.lines))}"
    )
    lines = [
        f"def test_{case.name}():",
        f"    # {finding.severity}, {finding.code}: {_comment(finding.title)}, at {_comment(finding.place)}.",
        f"    # {_comment(finding.fix)}",
        *(f"    {line}" for line in way.splitlines()),
        f"    question = {case.question!a}",
        f"    answer = {asked}",
        '    assert answer.is_reached, "the server does not answer, or not us"',
        *(f"    {line}" for line in f"recorded = {_literal(case.recorded)}".splitlines()),
        f"    assert described(answer, question, {list(case.place)!a}) != recorded, {finding.expected!a}",
    ]
    return "\n".join(lines)


def _ask_program(case: Case) -> str:
    return f"ask_program(COMMAND, lines{', until_end=True' if case.until_end else ''})"


def _literal(value: object) -> str:
    """Python source of a value, in ASCII, over several lines."""
    text = pprint.pformat(value, width=100, sort_dicts=False)
    return text if text.isascii() else ascii(value)


def _comment(text: str) -> str:
    """Words of a server cannot end the line."""
    return " ".join(shown(text).split())


_HEAD = """\
#!/bin/sh
# What an audit found wrong with an MCP server, shown again line by line.
#
{use}

failed=0

check() { # sentence, what was wrong, commands
    said=$(sh -c "$3" 2>/dev/null)
    if [ -z "$said" ] || printf '%s' "$said" | head -n 1 | grep -Eq '^HTTP/[0-9.]+ (401|5[0-9][0-9])'; then
        printf 'FAIL  %s: no answer\\n' "$1"; failed=1
    elif [ -n "$2" ] && [ -z "${said##*"$2"*}" ]; then
        printf 'FAIL  %s\\n' "$1"; failed=1
    else
        printf 'ok    %s\\n' "$1"
    fi
}
"""


def _script(cases: Sequence[Case], evidence: Evidence) -> str:
    use = "\n".join(f"# {line}".rstrip() for line in _use(evidence).splitlines())
    is_http = evidence.transport == "http"
    name = "MCP_AUDIT_URL" if is_http else "MCP_AUDIT_COMMAND"
    default = evidence.target if is_http else shlex.join(evidence.argv)
    lines = [
        _HEAD.replace("{use}", use),
        f'[ -n "${{{name}:-}}" ] || {name}={shlex.quote(default)}',
        f"export {name}",
    ]
    if evidence.has_secret_headers:
        lines.append(': "${MCP_AUDIT_HEADER_FILE:?names the file with the headers}"')
    for case in cases:
        marker = _marker(case)
        if marker is None:
            lines += ["", f"# {case.finding.code}: only pytest can tell, since nothing is answered"]
            continue
        words = [case.name.replace("_", " "), marker, _line(case, evidence)]
        lines += ["", f"# {case.finding.code}", f"check {' '.join(shlex.quote(word) for word in words)}"]
    return "\n".join([*lines, "", "exit $failed", ""])


def _line(case: Case, evidence: Evidence) -> str:
    """The commands of a finding with the target and the headers left open, and an end to every wait."""
    line = case.finding.reproduce.replace("-H @HEADER_FILE", '-H @"$MCP_AUDIT_HEADER_FILE"')
    if evidence.transport == "http":
        line = line.replace("curl -sS ", "curl -sS -m 10 ")
        return line.replace(shlex.quote(evidence.target), '"$MCP_AUDIT_URL"')
    command = " ".join(shlex.quote(word) for word in evidence.argv)
    return line.replace("timeout 10 ", "").replace(command, 'timeout 10 sh -c "$MCP_AUDIT_COMMAND"')


def _marker(case: Case) -> str | None:
    """Words of the answer that show the defect: what the finding quotes, else the whole answer, else its status.

    Empty: anything at all is better than what came. None: a shell cannot tell.
    """
    seen = case.finding.evidence
    if seen and seen in case.said:
        return seen
    if case.said:
        return case.said
    if case.until_end:
        return "exit code 124"
    if not case.requests:
        return None
    status = case.recorded[0]
    return f"HTTP/1.1 {status} " if status is not None else ""
