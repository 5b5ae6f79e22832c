"""Every MUST and SHOULD on a server has a check or a reason, and every departure from its word is written down."""

import pytest
from docgen.requirements import REQUIREMENTS, Requirement
from docgen.requirements_tables import departures_table, requirements_table

from qortal_mcp.audit.checks import BY_CODE, CHECKS

EVERY = [one for rows in REQUIREMENTS.values() for one in rows]


@pytest.mark.promise(
    "Audit", "Every MUST and SHOULD on a server has a check, or a reason why the wire cannot show it."
)
@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.text)
def test_a_requirement_has_codes_that_exist_or_a_reason(one: Requirement) -> None:
    assert set(one.codes) <= set(BY_CODE)
    assert bool(one.codes) is not bool(one.reason)


def test_every_check_of_the_specification_stands_at_a_requirement() -> None:
    named = {code for one in EVERY for code in one.codes}
    demanded = {check.code for check in CHECKS if check.severity in ("MUST", "SHOULD") and check.clause}
    assert demanded - named == {"json-double-encoded"}


def test_a_requirement_stands_there_once() -> None:
    texts = [one.text for one in EVERY]
    assert len(set(texts)) == len(texts)


def test_the_page_says_how_many_of_how_many() -> None:
    for word in ("MUST", "SHOULD"):
        mine = [one for one in EVERY if one.word == word]
        checked = sum(bool(one.codes) for one in mine)
        assert f"{checked} of {len(mine)} that say {word} have a check" in requirements_table()


@pytest.mark.promise("Audit", "A severity that is not the word of the specification says why.")
@pytest.mark.parametrize("one", [one for one in EVERY if one.codes], ids=lambda one: one.text)
def test_a_demand_is_found_with_its_own_word_or_the_check_says_why_not(one: Requirement) -> None:
    checks = [BY_CODE[code] for code in one.codes]
    assert any(check.severity in (one.word, "MUST") for check in checks) or any(
        check.departs for check in checks
    )


def test_every_departure_is_on_the_page() -> None:
    departing = [check.code for check in CHECKS if check.departs]
    assert {"batch-refused", "origin-not-checked", "refusal-id-invented"} <= set(departing)
    assert [code for code in departing if f"| `{code}` |" not in departures_table()] == []
