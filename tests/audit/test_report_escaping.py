"""What a server writes stands in a report as it is: no link, no placeholder, no mention, no picture, no HTML."""

import json
import re
from html import unescape

import pytest
from msgspec import structs
from tests.audit.seeds import file_of

from qortal_mcp.audit.evidence import Gap, from_file
from qortal_mcp.audit.judging.finding import Report
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.reports import markdown, sarif

STRANGE = [
    "[click](https://evil.example)",
    "![x](http://evil.example/x.png)",
    "http://evil.example/a_b",
    "see www.evil.example",
    "mail me@evil.example",
    "ask @somebody",
    "as in #123 and GH-7",
    "deadbeefdeadbeef",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt;",
    "{0} and {x}",
    "\\[a](b)",
    "# a heading",
    "- a list",
    "$\\frac{1}{2}$ ~~gone~~",
    "``` `a` *b* _c_ |",
]


def report_with(text: str) -> Report:
    report = judge(from_file(file_of("incumbent-now").read_bytes()))
    first = structs.replace(report.findings[0], evidence=text, note=text, place=text, known="")
    second = structs.replace(report.findings[1], evidence="", note=text, known=text)
    return structs.replace(
        report,
        because=text,
        server=text,
        target=text,
        findings=(first, second),
        gaps=(Gap(text, text),),
        not_judged=tuple(structs.replace(one, reason=text) for one in report.not_judged[:1]),
    )


def shown_by_sarif(text: str) -> str:
    """What a reader of SARIF 2.1.0 shows for a message; fails where there is a link or a placeholder."""
    assert not re.search(r"(?<!\\)(?:\\\\)*\[", text)
    assert not re.search(r"\{|\}", text.replace("{{", "").replace("}}", ""))
    text = re.sub(r"(\\*)\\([\[\]])", lambda found: found[1][: len(found[1]) // 2] + found[2], text)
    return text.replace("{{", "{").replace("}}", "}")


@pytest.mark.promise("Audit", "A hostile server cannot steer the terminal, nor a report.")
@pytest.mark.parametrize("text", STRANGE)
def test_a_message_in_sarif_has_no_links_and_no_placeholders(text: str) -> None:
    run = json.loads(sarif.render(report_with(text)))["runs"][0]
    messages = [one["message"]["text"] for one in run["results"]]
    assert all(text in shown_by_sarif(message) for message in messages)
    for rule in run["tool"]["driver"]["rules"]:
        for member in ("shortDescription", "fullDescription", "help"):
            assert shown_by_sarif(rule[member]["text"])


# Code, in a fence or a line: nothing in it acts.
FENCED = re.compile(r"^(`{3,})[^\n]*\n.*?\n\1$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
ACTS = re.compile(
    r"://|www\.|@|#\d|gh-\d|deadbeef|\$|~~|(?<!\\)[\[<*&]|^- (?:#|- )", re.IGNORECASE | re.MULTILINE
)


@pytest.mark.promise("Audit", "A hostile server cannot steer the terminal, nor a report.")
@pytest.mark.parametrize("text", STRANGE)
def test_nothing_in_markdown_acts_that_the_server_wrote(text: str) -> None:
    plan = markdown.render(report_with(text))
    words = CODE.sub("code", FENCED.sub("", plan)).replace("**", "")
    assert not ACTS.search(words)
    # Still all there for a person to read.
    bare = unescape(plan.replace("\\", ""))
    assert bare.count(unescape(text.replace("\\", ""))) >= 7
