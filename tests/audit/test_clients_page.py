"""docs/clients.md: every measured client and code is on it, with the worst that was seen."""

import pytest
from docgen import clients_page

from qortal_mcp.audit.judging.clients import behaviours, clients, measured_codes, measured_on
from qortal_mcp.audit.reports import clients as terminal_form

PAGE = clients_page.page()


@pytest.mark.promise(
    "Audit",
    "docs/clients.md says what each measured client does with each defect, with versions and the day.",
)
def test_every_client_and_every_code_is_on_the_page() -> None:
    assert measured_on() in PAGE
    for one in clients().values():
        assert f"| {one.name} | {one.version} |" in PAGE
        assert f"### {one.name} {one.version}" in PAGE
    assert [code for code in measured_codes() if f"(`{code}`)" not in PAGE] == []


def test_a_cell_is_the_worst_form_and_says_whether_all_are_like_it() -> None:
    row = next(line for line in PAGE.splitlines() if "(`notification-status`)" in line)
    assert row.split(" | ")[1:3] == ["**off**\\*", "·"]
    row = next(line for line in PAGE.splitlines() if "(`rpc-id-missing`)" in line)
    assert set(row.strip("| ").split(" | ")[1:]) == {"hangs"}


def test_a_client_that_does_not_speak_a_revision_is_not_said_to_be_unaffected_by_it() -> None:
    for one in behaviours("modern-cache-hints-missing"):
        assert {"claude-code", "gemini-cli"}.isdisjoint(one.outcomes)
        assert one.outcomes["python-sdk-2"] == "server unusable"


def test_several_forms_of_a_code_have_words_of_their_own() -> None:
    for code, names in measured_codes().items():
        forms = [(one.form, one.is_modern) for one in behaviours(code)]
        assert len(set(forms)) == len(names), code


def test_forms_that_are_amounts_are_in_ascending_order() -> None:
    assert [one.form for one in behaviours("slow-start")] == [
        "after 1 second",
        "after 2 seconds",
        "after 5 seconds",
    ]


def test_what_was_seen_is_not_called_the_words_of_a_client_and_shows_where_it_is_cut() -> None:
    shown = terminal_form.render("slow-start")
    assert "Codex CLI, seen: first model request goes out without" in shown
    assert " says: " not in shown
    assert terminal_form.render("discover-5xx").count("error: unexpected serv…\n") == 1
