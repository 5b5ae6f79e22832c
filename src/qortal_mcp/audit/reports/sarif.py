"""A report as SARIF 2.1.0, for code scanning and editors."""

import hashlib
import re
from typing import Any

import msgspec

from ... import __version__
from ..checks import BY_CODE
from ..judging.check import Severity
from ..judging.finding import Finding, Report
from .impacts import sentence

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# Code scanning takes only places in a repository, and a server on the wire has none: its address stands in `properties`.
_PLACE = "mcp-server"
_LEVELS: dict[Severity, str] = {
    "MUST": "error",
    "SHOULD": "warning",
    "portability": "warning",
    "advice": "note",
}


def render(report: Report) -> str:
    """One run."""
    codes = list(dict.fromkeys(one.code for one in report.findings))
    driver = {
        "name": "qortal-mcp audit",
        "version": __version__,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(one, codes.index(one.code)) for one in report.findings],
        "invocations": [{"executionSuccessful": report.verdict != "incomplete"}],
        "properties": {
            "target": report.target,
            "verdict": report.verdict,
            "because": report.because,
            "revisions": report.revisions,
        },
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log)).decode() + "\n"


def _rule(code: str) -> dict[str, Any]:
    check = BY_CODE[code]
    return {
        "id": code,
        "shortDescription": {"text": _literal(check.title)},
        "fullDescription": {"text": _literal(check.expected)},
        "help": {"text": _literal(check.fix)},
        "defaultConfiguration": {"level": _LEVELS[check.severity]},
        "properties": {"severity": check.severity, "clause": check.clause},
    }


def _result(finding: Finding, rule: int) -> dict[str, Any]:
    broken = sentence(finding.clients)
    seen = finding.evidence or finding.note
    text = f"{finding.title} at {finding.place}" + (f": {seen}" if seen else "")
    if broken:
        text += f" Breaks {broken}."
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": _literal(text)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _PLACE}},
                "logicalLocations": [{"fullyQualifiedName": finding.place, "kind": "member"}],
            }
        ],
        "partialFingerprints": {"codeAndPlace/v1": _fingerprint(finding)},
        "properties": {
            "severity": finding.severity,
            "revisions": finding.revisions,
            "fix": finding.fix,
            "reproduce": finding.reproduce,
        },
    }
    if finding.known:
        result["suppressions"] = [{"kind": "external", "justification": finding.known}]
    return result


_BRACKET = re.compile(r"(\\*)([\[\]])")


def _literal(text: str) -> str:
    """A message without links and placeholders, whatever is in it: SARIF 2.1.0, 3.11.5 and 3.11.6."""
    # A backslash that is there already must not take away the meaning of ours.
    text = _BRACKET.sub(lambda match: f"{match[1] * 2}\\{match[2]}", text)
    return text.replace("{", "{{").replace("}", "}}")


def _fingerprint(finding: Finding) -> str:
    return hashlib.sha256(f"{finding.code}\n{finding.where}".encode()).hexdigest()[:32]
