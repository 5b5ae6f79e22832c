"""Generated documents: they say what the code says, and a stale one is noticed."""

import json
import re
from pathlib import Path

import click
import pytest
from docgen import generated, limits_tables
from docgen.__main__ import main, summary
from docgen.errors_table import CODES
from docgen.examples import EXAMPLES
from docgen.json_lines import lines
from docgen.markers import BrokenMarkers, filled

from qortal_mcp import __version__, settings
from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.audit.checks import CHECKS
from qortal_mcp.audit.judging.clients import measured_clients
from qortal_mcp.cli.audit import command as audit_command
from qortal_mcp.cli.output.schemas import fields, type_in_words
from qortal_mcp.cli.running.failures import EXIT_CODES
from qortal_mcp.console.asking.limits import ConsoleLimits
from qortal_mcp.limits import Limits
from qortal_mcp.protocol.versions import REVISIONS
from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.manifest import llms_txt, manifest
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import NAME, make_server
from qortal_mcp.qortal.tools import TOOLSETS
from qortal_mcp.settings.groups import GROUPS

ROOT = generated.ROOT
LISTED = [tool for toolset in TOOLSETS.values() for tool in toolset.tools]


@pytest.mark.promise(
    "Documents",
    "Pages and tables about tools, settings, endpoints, limits and promises say what the code says.",
)
@pytest.mark.parametrize("path", generated.FILES)
def test_a_generated_file_is_what_the_code_says(path: str) -> None:
    found = (ROOT / path).read_text(encoding="utf-8")
    wanted = generated.FILES[path]()
    assert found == wanted, f"run scripts/docs\n{summary(found, wanted)}"


@pytest.mark.promise(
    "Documents",
    "Pages and tables about tools, settings, endpoints, limits and promises say what the code says.",
)
@pytest.mark.parametrize("path", generated.WITH_TABLES)
def test_the_tables_in_a_written_document_are_what_the_code_says(path: str) -> None:
    found = (ROOT / path).read_text(encoding="utf-8")
    wanted = filled(found, generated.TABLES)
    assert found == wanted, f"run scripts/docs\n{summary(found, wanted)}"


@pytest.mark.promise("Documents", "The README lists every tool.")
def test_every_tool_is_in_the_readme_the_tools_page_and_the_manifest() -> None:
    readme, page = (ROOT / "README.md").read_text(), (ROOT / "docs/tools.md").read_text()
    for name in LISTED:
        assert f"`{name}`" in readme
        assert f"\n### {name}\n" in page
    told = manifest(make_server(Node.sample(), toolsets="all"))["tools"]
    assert [tool["name"] for tool in told] == LISTED


def test_every_endpoint_is_on_its_page() -> None:
    page = generated.FILES["docs/endpoints.md"]()
    assert set(re.findall(r"^\| `(/[^`]+)`", page, re.MULTILINE)) == {e.template for e in ENDPOINTS}


def test_every_option_and_variable_is_on_the_settings_page() -> None:
    page = generated.FILES["docs/settings.md"]()
    for option in (option for group in GROUPS for option in settings.options_of(group)):
        assert option.flag in page
        assert option.variable in page
    assert settings.TOKEN_VARIABLE in page


def test_every_exit_code_is_on_the_settings_page() -> None:
    page = generated.FILES["docs/settings.md"]()
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page


@pytest.mark.promise("Documents", "Every limit is documented with its reason.")
@pytest.mark.parametrize("kind", [Limits, NodeLimits, AgentLimits, ConsoleLimits])
def test_every_limit_has_a_reason(kind: type[Limits | NodeLimits | AgentLimits | ConsoleLimits]) -> None:
    reasons = limits_tables.reasons(kind)
    assert [name for names, _ in reasons for name in names] == list(kind.__struct_fields__)
    assert all(why for _, why in reasons)


@pytest.mark.parametrize("kind", [Limits, NodeLimits, AgentLimits, ConsoleLimits])
def test_a_reason_is_told_once(kind: type[Limits | NodeLimits | AgentLimits | ConsoleLimits]) -> None:
    whys = [why for _, why in limits_tables.reasons(kind)]
    assert len(set(whys)) == len(whys)
    rows = limits_tables.all_limits().splitlines()
    assert "| `peer_requests`, `server_requests` | 64 · 1,024 | Requests worked on at once" in "\n".join(rows)


# What the manifest says of each thing that is listed; schemas and arguments are in the lists themselves.
SHORT = {
    "tools": ("name", "title", "description"),
    "resources": ("uri", "name", "title", "description"),
    "resourceTemplates": ("uriTemplate", "name", "title", "description"),
    "prompts": ("name", "title", "description"),
}


def test_the_manifest_tells_what_the_running_server_tells() -> None:
    server = make_server(Node.sample())
    told = manifest(server)
    assert list(told) == [
        "name",
        "version",
        "protocolVersions",
        "endpoint",
        "transports",
        "authentication",
        "capabilities",
        "documentation",
        "tools",
        "resources",
        "resourceTemplates",
        "prompts",
    ]
    assert (told["name"], told["version"], told["endpoint"]) == (NAME, __version__, "/mcp")
    assert told["protocolVersions"] == list(REVISIONS)
    assert told["authentication"] == {"type": "none", "oauth": False}
    assert told["capabilities"]["tools"] == {"listChanged": False}
    for kind, names in SHORT.items():
        assert all(tuple(one) == names and all(one.values()) for one in told[kind])
    assert json.loads((ROOT / "mcp-manifest.json").read_text()) == json.loads(json.dumps(told))


def test_llms_txt_tells_how_to_connect_and_what_there_is() -> None:
    text = llms_txt(make_server(Node.sample()))
    assert "/mcp" in text
    assert "There is no OAuth" in text
    for name in (tool for toolset in TOOLSETS.values() if toolset.is_default for tool in toolset.tools):
        assert f"- {name}: " in text
    assert "Bearer" in llms_txt(make_server(Node.sample()), needs_token=True)


def test_every_error_code_is_on_the_tools_page() -> None:
    sources = [
        (ROOT / "src/qortal_mcp" / path).read_text()
        for path in ("server/tool_errors.py", "qortal/node/failures.py", "qortal/tools/names/names.py")
    ]
    calls = r'(?:ToolError|NodeFailure)\(\s*"([A-Z_]+)"'
    assert {found for text in sources for found in re.findall(calls, text)} == set(CODES)
    page = generated.FILES["docs/tools.md"]()
    assert all(f"| `{code}` |" in page for code in CODES)


def test_every_code_and_option_of_the_audit_is_on_its_page() -> None:
    page = (ROOT / "docs/audit.md").read_text()
    assert re.findall(r"^\| `([a-z0-9-]+)` \| (?:MUST|SHOULD|portability|advice) \|", page, re.MULTILINE) == [
        check.code for check in CHECKS
    ]
    options = [one for one in audit_command.params if isinstance(one, click.Option)]
    assert [one.opts[0] for one in options if one.opts[0] not in page] == []


def test_the_page_of_the_audit_names_every_client_that_was_measured() -> None:
    page = (ROOT / "docs/audit.md").read_text().partition("## Every code")[2].partition("<!--")[0]
    for client in measured_clients():
        assert client.removesuffix(" v1").removesuffix(" v2") in page, client


def test_every_resource_and_prompt_is_on_the_tools_page_in_llms_txt_and_in_the_manifest() -> None:
    server = make_server(Node.sample())
    told, page, text = manifest(server), generated.FILES["docs/tools.md"](), llms_txt(server)
    names = [
        *(one["uri"] for one in told["resources"]),
        *(one["uriTemplate"] for one in told["resourceTemplates"]),
        *(one["name"] for one in told["prompts"]),
    ]
    assert {"qortal://node", "qortal://block/{height}", "account_report"} <= set(names)
    for name in names:
        assert f"`{name}`" in page
        assert f"- {name}" in text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with up-to-date documents."""
    (tmp_path / "docs").mkdir()
    for name in generated.WITH_TABLES:
        (tmp_path / name).write_text("# Title\n\n<!-- generated:tools -->\n<!-- /generated -->\n\nEnd.\n")
    assert main([], tmp_path) == 0
    return tmp_path


def test_written_documents_pass_the_check(root: Path) -> None:
    assert main(["--check"], root) == 0


def test_writing_keeps_what_stands_around_the_markers(root: Path) -> None:
    text = (root / "README.md").read_text()
    assert text.startswith("# Title\n\n<!-- generated:tools -->\n| toolset |")
    assert text.endswith("|\n<!-- /generated -->\n\nEnd.\n")


def test_a_stale_document_fails_the_check_with_what_differs(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = root / "docs/settings.md"
    page.write_text(page.read_text().replace("--node URL", "--noodle URL"))
    assert main(["--check"], root) == 1
    shown = capsys.readouterr().err
    assert "docs/settings.md is stale: run scripts/docs." in shown
    assert "--noodle" in shown
    assert "--noodle" in page.read_text()
    assert main([], root) == 0
    assert main(["--check"], root) == 0


def test_a_missing_document_fails_the_check(root: Path) -> None:
    (root / "docs/tools.md").unlink()
    assert main(["--check"], root) == 1


BROKEN = [
    pytest.param("# Nothing here\n", "has no section", id="no-markers"),
    pytest.param("<!-- generated:tools -->\n", "has no section", id="not-closed"),
    pytest.param(
        "<!-- generated:tools -->\n<!-- /generated -->\n<!-- generated:tools -->\n",
        "has a marker without its partner",
        id="second-open",
    ),
    pytest.param("<!-- generated:nope -->\n<!-- /generated -->\n", "has a section nope", id="unknown-name"),
]


@pytest.mark.parametrize(("text", "reason"), BROKEN)
def test_broken_markers_are_a_clear_error_and_nothing_is_written(
    root: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    (root / "README.md").write_text(text)
    (root / "docs/tools.md").write_text("old")
    assert main([], root) == 1
    assert f"README.md {reason}" in " ".join(capsys.readouterr().err.split())
    assert (root / "README.md").read_text() == text
    assert (root / "docs/tools.md").read_text() == "old"


def test_a_document_that_is_not_there_is_a_clear_error(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "DESIGN.md").unlink()
    assert main(["--check"], root) == 1
    assert "DESIGN.md does not exist" in capsys.readouterr().err


def test_a_tool_without_an_example_is_a_clear_error(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(EXAMPLES, "get_balance")
    assert main([], root) == 1
    shown = capsys.readouterr().err
    assert (
        "no example of get_balance: it needs a call in docgen/examples.py (Missing argument address)."
        in shown
    )
    monkeypatch.setitem(EXAMPLES, "get_balance", {"address": "Q"})
    assert main([], root) == 1
    assert "no example of get_balance: its call in docgen/examples.py fails (" in capsys.readouterr().err


def test_several_sections_are_filled_each_with_its_own_table() -> None:
    document = (
        "a\n<!-- generated:x -->\nold\n<!-- /generated -->\nb\n<!-- generated:y -->\n<!-- /generated -->\n"
    )
    shown = filled(document, {"x": lambda: "X\n", "y": lambda: "Y"})
    assert shown == (
        "a\n<!-- generated:x -->\nX\n<!-- /generated -->\nb\n<!-- generated:y -->\nY\n<!-- /generated -->\n"
    )
    with pytest.raises(BrokenMarkers):
        filled("nothing", {})


WIDE = {"type": "string", "description": "x" * 100}


def test_one_member_of_reviewed_json_is_one_line_down_to_its_depth() -> None:
    value = {"short": {"a": [1, 2]}, "wide": {"b": WIDE, "c": ["y" * 200]}, "list": [WIDE, WIDE]}
    shown = lines(value, depth=2)
    assert json.loads(shown) == value
    wide = json.dumps(WIDE, separators=(",", ":"))
    assert shown.splitlines() == [
        "{",
        ' "short": {"a":[1,2]},',
        ' "wide": {',
        f'  "b": {wide},',
        f'  "c": ["{"y" * 200}"]',
        " },",
        ' "list": [',
        f"  {wide},",
        f"  {wide}",
        " ]",
        "}",
    ]


WORDS = [
    ({"type": "integer", "minimum": 1, "maximum": 100}, "integer, 1 to 100"),
    ({"type": "integer", "minimum": 0}, "integer, from 0"),
    ({"type": ["string", "null"]}, "text or null"),
    ({"enum": ["A", "B"]}, "one of A, B"),
    ({"type": "array", "items": {"type": "string"}}, "list of text"),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 20}, "list of text (at most 20)"),
    (
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
        "list of text (2 of them)",
    ),
    ({"type": "string", "maxLength": 100}, "text, at most 100 characters"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "text or integer"),
]


@pytest.mark.parametrize(("schema", "words"), WORDS)
def test_a_schema_is_told_in_words(schema: dict[str, object], words: str) -> None:
    assert type_in_words(schema) == words


def test_fields_within_fields_are_told_by_their_path() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
    schema = {"properties": {"a": inner, "c": {"type": "array", "items": inner}}, "required": ["a"]}
    assert [path for path, _, _ in fields(schema)] == ["a", "a.b", "c", "c[].b"]
