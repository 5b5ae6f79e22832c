"""One entry put into a settings file and taken out again: nothing else in the file may change."""

import contextlib
import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.connect import settings_texts as texts
from tests.cost import is_linear

from qortal_mcp.connect import clients, installing
from qortal_mcp.connect.client import Client
from qortal_mcp.connect.configured import entries_under
from qortal_mcp.connect.installing import NotOurs, OtherEntry
from qortal_mcp.connect.settings_files import editing
from qortal_mcp.connect.settings_files.formats import Form, parsed
from qortal_mcp.connect.settings_files.mistakes import NotUnderstood

ENTRY = {"command": "/opt/Zoë's bin/qortal-mcp", "args": ["stdio", "--sample"]}
OTHER = {"command": "/opt/other", "args": []}

REAL: list[Any] = [
    pytest.param(clients.CODEX, texts.CODEX, id="codex"),
    pytest.param(clients.CODEX, texts.NO_FINAL_LINE_END, id="codex-without-final-line-end"),
    pytest.param(clients.CODEX, texts.CODEX.replace("\n", "\r\n"), id="codex-of-windows"),
    pytest.param(clients.CODEX, "", id="codex-empty"),
    pytest.param(clients.CODEX, 'mcp_servers.docs.command = "x"\n', id="codex-dotted"),
    pytest.param(clients.CLAUDE_CODE, texts.CLAUDE, id="claude-code"),
    pytest.param(clients.CLAUDE_CODE, texts.WINDOWS, id="claude-code-of-windows"),
    pytest.param(clients.CLAUDE_CODE, texts.MARKED, id="claude-code-with-a-mark"),
    pytest.param(clients.CLAUDE_CODE, json.dumps(json.loads(texts.CLAUDE)), id="claude-code-on-one-line"),
    pytest.param(clients.CLAUDE_DESKTOP, texts.EMPTY_OBJECT, id="claude-desktop"),
    pytest.param(clients.CURSOR, '{"mcpServers": {}}', id="cursor"),
    pytest.param(clients.CURSOR, " \n\n", id="cursor-blank"),
    pytest.param(clients.CURSOR, "{\n  // none yet\n}\n", id="cursor-only-a-comment"),
    pytest.param(clients.VSCODE, texts.VSCODE, id="vscode"),
    pytest.param(clients.COPILOT, texts.CLAUDE, id="copilot-cli"),
    pytest.param(clients.GEMINI, texts.CLAUDE, id="gemini-cli"),
    pytest.param(clients.ANTIGRAVITY, texts.CLAUDE, id="antigravity"),
    pytest.param(clients.DEVIN, texts.CLAUDE, id="devin"),
    pytest.param(clients.ZED, texts.ZED, id="zed"),
    pytest.param(clients.GOOSE, texts.GOOSE, id="goose"),
    pytest.param(clients.GOOSE, texts.GOOSE.replace("\n", "\r\n"), id="goose-of-windows"),
    pytest.param(clients.GOOSE, "extensions: {}\nGOOSE_MODE: auto\n", id="goose-without-extensions"),
    pytest.param(clients.GOOSE, "GOOSE_MODE: auto", id="goose-without-the-name"),
    pytest.param(clients.LM_STUDIO, texts.CLAUDE, id="lm-studio"),
    pytest.param(clients.KIRO, texts.CLAUDE, id="kiro"),
    pytest.param(clients.OPENCODE, texts.OPENCODE, id="opencode"),
    pytest.param(clients.MCP_JSON, texts.EMPTY_OBJECT, id="mcp-json"),
]


def entry_in(client: Client, data: bytes) -> Any:
    value: Any = parsed(client.form, data)
    for part in (*client.key, "qortal"):
        value = value.get(part, {})
    return value


def lines_kept(before: str, after: str) -> bool:
    """Whether every line is still there, in order; a comma may have been added to one."""
    left = iter([line.replace(",", "") for line in after.splitlines()])
    return all(line.replace(",", "") in left for line in before.splitlines())


@pytest.mark.promise(
    "Setting up clients", "Undoing an installation in a file that nobody changed restores it to the byte."
)
@pytest.mark.parametrize(("client", "text"), REAL)
def test_installing_and_undoing_restores_the_file_to_the_byte(client: Client, text: str) -> None:
    before = text.encode()
    splice = installing.change(client, before, "qortal", ENTRY)
    assert splice is not None
    after = splice.applied(before)
    assert entry_in(client, after) == ENTRY
    known = installing.record(client, "f", "qortal", ENTRY, before, splice, "")
    undoing = installing.undoing(client, after, "qortal", known, before)
    assert undoing is not None
    assert undoing.splice is not None
    assert undoing.splice.applied(after) == before


@pytest.mark.promise(
    "Setting up clients",
    "Installing changes nothing else in a client's file: comments, order and line ends stay.",
)
@pytest.mark.parametrize(("client", "text"), REAL)
def test_comments_order_and_line_ends_stay(client: Client, text: str) -> None:
    splice = editing.put(client.form, text.encode(), client.key, "qortal", ENTRY)
    after = splice.applied(text.encode()).decode()
    if len(text.splitlines()) > 2:
        assert lines_kept(text, after)
        assert ("\r\n" in after) == ("\r\n" in text)
        assert "\n" not in after.replace("\r\n", "") or "\r\n" not in after
    assert after.startswith("\ufeff") == text.startswith("\ufeff")


@pytest.mark.parametrize(("client", "text"), REAL)
def test_a_second_time_there_is_nothing_to_do(client: Client, text: str) -> None:
    splice = installing.change(client, text.encode(), "qortal", ENTRY)
    assert splice is not None
    after = splice.applied(text.encode())
    assert installing.change(client, after, "qortal", ENTRY) is None


@pytest.mark.parametrize(("client", "text"), REAL)
def test_another_entry_is_replaced_only_when_asked_for_and_alone(client: Client, text: str) -> None:
    data = editing.put(client.form, text.encode(), client.key, "qortal", OTHER).applied(text.encode())
    with pytest.raises(OtherEntry) as found:
        installing.change(client, data, "qortal", ENTRY)
    assert found.value.found == OTHER
    splice = installing.change(client, data, "qortal", ENTRY, replaces=True)
    assert splice is not None
    direct = editing.put(client.form, text.encode(), client.key, "qortal", ENTRY).applied(text.encode())
    assert parsed(client.form, splice.applied(data)) == parsed(client.form, direct)


@pytest.mark.parametrize(("client", "text"), REAL)
def test_in_a_file_that_changed_since_the_entry_alone_is_taken_out(client: Client, text: str) -> None:
    if client.form == "yaml" or not text.strip():
        more = b"\nlater: true\n" if client.form == "yaml" else b" "
    else:
        more = b"\n# later\n" if client.form == "toml" else b"\n"
    splice = installing.change(client, text.encode(), "qortal", ENTRY)
    assert splice is not None
    known = installing.record(client, "f", "qortal", ENTRY, text.encode(), splice, "")
    changed = splice.applied(text.encode()) + more
    undoing = installing.undoing(client, changed, "qortal", known, None)
    assert undoing is not None
    assert undoing.splice is not None
    left = undoing.splice.applied(changed)
    assert entry_in(client, left) == {}
    assert left.endswith(more.strip(b"\n ") + b"\n") or left.endswith(more)


@pytest.mark.parametrize(("client", "text"), REAL)
def test_in_a_file_that_changed_since_the_entry_that_was_replaced_comes_back(
    client: Client, text: str
) -> None:
    before = editing.put(client.form, text.encode(), client.key, "qortal", OTHER).applied(text.encode())
    splice = installing.change(client, before, "qortal", ENTRY, replaces=True)
    assert splice is not None
    known = installing.record(client, "f", "qortal", ENTRY, before, splice, "copy")
    after = splice.applied(before)
    changed = editing.put(client.form, after, client.key, "later", OTHER).applied(after)
    undoing = installing.undoing(client, changed, "qortal", known, before)
    assert undoing is not None
    assert undoing.splice is not None
    servers = entries_under(parsed(client.form, undoing.splice.applied(changed)), client.key)
    assert servers["qortal"] == servers["later"] == OTHER
    # What cannot be brought back is taken out, and is in the copy.
    undoing = installing.undoing(client, changed, "qortal", known, None)
    assert undoing is not None
    assert undoing.splice is not None
    assert entry_in(client, undoing.splice.applied(changed)) == {}


def test_a_table_is_taken_out_although_others_of_the_same_kind_follow_further_down() -> None:
    before = b'[mcp_servers.qortal]\ncommand = "/opt/other"\nargs = []\n\n[projects."/p"]\ntrust_level = "trusted"\n\n'
    later = b'[mcp_servers.docs]\ncommand = "x"\n'
    taken = editing.take("toml", before + later, ("mcp_servers",), "qortal")
    assert taken is not None
    assert taken.applied(before + later) == b'\n[projects."/p"]\ntrust_level = "trusted"\n\n' + later


def test_comments_behind_a_name_without_a_value_stay() -> None:
    text = b'{\n  "mcpServers" /* ours */: // none yet\n    null\n}\n'
    after = editing.put("jsonc", text, ("mcpServers",), "qortal", OTHER).applied(text)
    assert after.startswith(b'{\n  "mcpServers" /* ours */: // none yet\n    {\n')


def test_the_last_entry_is_taken_out_from_behind_a_comment_that_ends_with_its_line() -> None:
    text = b'{"mcpServers": {"a": {}, // the first\n"qortal": {} /* the second */ }}'
    taken = editing.take("jsonc", text, ("mcpServers",), "qortal")
    assert taken is not None
    assert taken.applied(text) == b'{"mcpServers": {"a": {} // the first\n /* the second */ }}'


BLOCK_TEXTS: list[Any] = [
    pytest.param("hint: |+\n  one\n\n\n", id="lines-that-are-kept"),
    pytest.param("hint: >-\n  one\n     \n", id="blanks-that-are-further-in"),
    pytest.param("hint: |2\n   one\n    \n\nother: 1\n", id="an-indentation-that-is-said"),
    pytest.param("hint: |-\n  one", id="no-line-end-that-would-count"),
    pytest.param("hint: |\n  one\n\n", id="blank-lines-that-do-not-count"),
]


@pytest.mark.parametrize("text", BLOCK_TEXTS)
def test_a_text_over_several_lines_stays_as_it_is_to_its_last_blank(text: str) -> None:
    after = editing.put("yaml", text.encode(), ("extensions",), "qortal", OTHER).applied(text.encode())
    assert yaml.safe_load(after) == {**yaml.safe_load(text), "extensions": {"qortal": OTHER}}


def test_a_text_that_would_gain_a_line_end_is_not_added_to() -> None:
    with pytest.raises(NotUnderstood, match="without changing something else"):
        editing.put("yaml", b"hint: |\n  one", ("extensions",), "qortal", OTHER)


def test_what_a_person_added_to_the_entry_is_left_alone() -> None:
    text = b'{"mcpServers": {"qortal": {"command": "x", "args": [], "autoApprove": ["get_balance"]}}}'
    assert installing.change(clients.KIRO, text, "qortal", {"command": "x", "args": []}) is None


def test_an_entry_that_a_person_changed_is_not_taken_out() -> None:
    splice = installing.change(clients.KIRO, b"{}", "qortal", OTHER)
    assert splice is not None
    known = installing.record(clients.KIRO, "f", "qortal", OTHER, b"{}", splice, "")
    changed = splice.applied(b"{}").replace(b"/opt/other", b"/opt/mine")
    with pytest.raises(NotOurs) as found:
        installing.undoing(clients.KIRO, changed, "qortal", known, b"{}")
    assert found.value.found["command"] == "/opt/mine"
    with pytest.raises(NotOurs):
        installing.undoing(clients.KIRO, splice.applied(b"{}"), "qortal", None, None)


REFUSED: list[Any] = [
    pytest.param(clients.CURSOR, '{\n  "a": 1,\n  ]', "line 3, column 3", id="broken-json"),
    pytest.param(clients.CURSOR, '{"a": "x', "line 1", id="text-without-end"),
    pytest.param(clients.CURSOR, "{} trailing", "line 1, column 5", id="more-behind-it"),
    pytest.param(clients.CURSOR, "/* no end {}", "line 1", id="comment-without-end"),
    pytest.param(clients.CURSOR, "[]", "line 1, column 1", id="a-list"),
    pytest.param(clients.CURSOR, '{"mcpServers": []}', "line 1, column 16", id="a-list-of-servers"),
    pytest.param(clients.CURSOR, '{"mcpServers": {},\n "mcpServers": {}}', "line 2, column 2", id="twice"),
    pytest.param(
        clients.CURSOR, '{"mcpServers": {"qortal": {},\n "qortal": {}}}', "line 2, column 2", id="entry-twice"
    ),
    pytest.param(clients.CURSOR, '{"a": ' + "[" * 5000 + "]" * 5000 + "}", "too deeply", id="deep"),
    pytest.param(clients.CODEX, "a = 1\na = 2\n", "line 2", id="toml-twice"),
    pytest.param(clients.CODEX, "mcp_servers = {}\n", "no table can be added", id="toml-inline"),
    pytest.param(
        clients.CODEX,
        '[mcp_servers]\nqortal = {command = "x"}\n',
        "as a table with a heading",
        id="toml-inline-entry",
    ),
    pytest.param(
        clients.CODEX,
        '[mcp_servers.qortal]\ncommand = "x"\n[z]\n[mcp_servers.qortal.env]\n',
        "do not stand together",
        id="toml-apart",
    ),
    pytest.param(clients.CODEX, "[[mcp_servers]]\n", "list of tables", id="toml-list-of-tables"),
    pytest.param(clients.GOOSE, "a: &x 1\nb: *x\n", "line 1, column 4", id="yaml-anchor"),
    pytest.param(clients.GOOSE, "extensions: {a: {}}\n", "line 1, column 1", id="yaml-flow"),
    pytest.param(clients.GOOSE, "a: 1\n---\nb: 2\n", "line 2, column 1", id="yaml-documents"),
    pytest.param(clients.GOOSE, "a:\n  x: 1\n y: 2\n", "line 3", id="yaml-indentation"),
    pytest.param(clients.GOOSE, "a:\n\tb: 1\n", "line 2, column 1", id="yaml-tab"),
    pytest.param(clients.GOOSE, "extensions:\n- a\n", "line 1, column 1", id="yaml-list"),
]


@pytest.mark.promise(
    "Setting up clients",
    "A settings file that cannot be read safely is refused with the place, and never rebuilt.",
)
@pytest.mark.parametrize(("client", "text", "why"), REFUSED)
def test_what_is_broken_or_beyond_us_is_refused_with_its_place(client: Client, text: str, why: str) -> None:
    with pytest.raises(NotUnderstood, match=why):
        installing.change(client, text.encode(), "qortal", ENTRY, replaces=True)


@pytest.mark.parametrize("form", ["json", "toml", "yaml"])
def test_bytes_that_are_not_text_are_refused(form: Form) -> None:
    with pytest.raises(NotUnderstood, match="line 2: it is not UTF-8"):
        editing.put(form, b"\n\xff\n", ("a",), "b", ENTRY)


KEYS = st.text('abcmSersvp"\\é/*#.-', min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
FILLS = st.sampled_from(["", " ", "\n", "\r\n", "\t", " // c }\n", "/* { , */", "\n\n   "])


@st.composite
def relaxed(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON with comments, blanks and trailing commas anywhere."""
    fill = draw(FILLS)
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else ((None, one) for one in value)
        parts = []
        for key, one in items:
            name = "" if key is None else f"{draw(FILLS)}{json.dumps(key)}{draw(FILLS)}:"
            parts.append(f"{name}{draw(relaxed(one))}")
        comma = draw(st.sampled_from(["", ",", ", \n"]))
        opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
        return f"{fill}{opening}{','.join(parts)}{comma}{draw(FILLS)}{closing}{draw(FILLS)}"
    return f"{fill}{json.dumps(value)}{draw(FILLS)}"


@given(st.data())
def test_whatever_json_people_write_only_the_entry_changes(data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(KEYS, VALUES, max_size=3))
    servers = data.draw(st.none() | st.dictionaries(KEYS, VALUES, max_size=3))
    if servers is not None:
        value = {**value, "mcpServers": servers}
    before = data.draw(relaxed(value)).encode()
    splice = editing.put("jsonc", before, ("mcpServers",), "qortal", ENTRY)
    after = splice.applied(before)
    assert parsed("jsonc", after) == {**value, "mcpServers": {**(servers or {}), "qortal": ENTRY}}
    taken = editing.take("jsonc", after, ("mcpServers",), "qortal")
    assert taken is not None
    assert parsed("jsonc", taken.applied(after)) == {**value, "mcpServers": servers or {}}


BARE = st.text("abcs_-1", min_size=1, max_size=5)
TOML_LINES = st.lists(
    st.sampled_from(
        [
            "# [mcp_servers.qortal]\n",
            "\n",
            'x{n} = """\n[a]\n"""\n',
            "y{n} = [ # ]\n  '[', \"]\",\n]\n",
            "[t{n}]\nv = {{ a = 1 }}\n",
            '[mcp_servers.s{n}]\ncommand = "c" # x\n',
            '[mcp_servers.s{n}.env]\nA = "b"\r\n',
            "[[list]]\nv = {n}\n",
            "z{n} = nan\n",
        ]
    ),
    max_size=8,
)


@given(TOML_LINES)
def test_whatever_toml_people_write_only_the_entry_changes(lines: list[str]) -> None:
    text = "".join(line.format(n=number) for number, line in enumerate(lines))
    before = text.encode()
    after = editing.put("toml", before, ("mcp_servers",), "qortal", ENTRY).applied(before)
    found = tomllib.loads(after.decode())
    assert found["mcp_servers"]["qortal"] == ENTRY
    taken = editing.take("toml", after, ("mcp_servers",), "qortal")
    assert taken is not None
    assert repr(tomllib.loads(taken.applied(after).decode())) == repr(tomllib.loads(text))


@given(
    st.binary(max_size=200) | st.text("{}[]\",:/*\\ \n#=-ab1.&|>'", max_size=60).map(str.encode),
    st.sampled_from(["jsonc", "toml", "yaml"]),
)
def test_any_bytes_are_edited_or_refused(data: bytes, form: Form) -> None:
    try:
        splice = editing.put(form, data, ("k",), "qortal", ENTRY)
    except NotUnderstood:
        return
    assert parsed(form, splice.applied(data))["k"]["qortal"] == ENTRY


COSTLY: list[Any] = [
    pytest.param("yaml", lambda size: b"a" + b" " * size + b"b\n", 80_000, id="blanks-without-a-colon"),
    pytest.param("yaml", lambda size: b"k: a" + b" " * size + b"b\n", 80_000, id="blanks-in-a-text"),
    pytest.param(
        "yaml", lambda size: b"".join(b"k%d: |\n  x\n" % n for n in range(size)), 24_000, id="texts"
    ),
    pytest.param("jsonc", lambda size: b"{" + b"/* */" * size + b"}", 40_000, id="comments"),
]


@pytest.mark.parametrize(("form", "make", "size"), COSTLY)
def test_a_file_of_twice_the_size_takes_twice_the_time(
    form: Form, make: Callable[[int], bytes], size: int
) -> None:
    def edit(data: bytes) -> None:
        with contextlib.suppress(NotUnderstood):
            editing.put(form, data, ("k",), "qortal", ENTRY)

    assert is_linear(make, edit, size)
