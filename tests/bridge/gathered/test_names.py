"""Names of servers, tools and resources: legal, distinct, and reversible whatever the servers call their things."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.bridge.gathered.names import (
    LONGEST_TOOL_NAME,
    label_of,
    offered,
    offered_tools,
    offered_uri,
    parts_of,
    parts_of_uri,
    server_names,
)

SERVERS = st.lists(st.text(max_size=40), unique=True, max_size=20)
# RFC 3986, 3.1.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


@given(SERVERS)
def test_every_server_has_a_name_that_clients_accept_and_no_two_have_the_same(given: list[str]) -> None:
    names = server_names(given)
    assert list(names) == given
    for name in names.values():
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,24}", name)
        assert "__" not in name
        assert name.strip("_") == name
        assert SCHEME.fullmatch(label_of(name))
    assert len({name.lower() for name in names.values()}) == len(given)
    assert len({label_of(name) for name in names.values()}) == len(given)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param(["git_hub", "max-2"], ["git_hub", "max-2"], id="good-ones-stay"),
        pytest.param(["a b", "a_b", "A.B"], ["a_b2", "a_b", "A_B3"], id="who-has-a-good-name-keeps-it"),
        pytest.param(["日本", "__", "a__b", "_c_"], ["server", "server2", "a_b", "c"], id="what-is-left"),
        pytest.param(["x" * 100, "x" * 99], ["x" * 24, "x" * 23 + "2"], id="long"),
    ],
)
def test_names_are_cleaned(given: list[str], names: list[str]) -> None:
    assert list(server_names(given).values()) == names


@given(SERVERS, st.text(max_size=30))
def test_an_address_comes_back_as_it_was(given: list[str], uri: str) -> None:
    by_label = {label_of(name): name for name in server_names(given).values()}
    for label, name in by_label.items():
        parts = parts_of_uri(offered_uri(label, uri))
        assert parts is not None
        assert (by_label[parts[0]], parts[1]) == (name, uri)


def test_a_program_may_write_a_scheme_in_capitals() -> None:
    assert parts_of_uri("MAX+file:///A+b") == ("max", "file:///A+b")


@given(SERVERS, st.text(max_size=30))
def test_a_prompt_comes_back_as_it_was(given: list[str], own: str) -> None:
    for name in server_names(given).values():
        assert parts_of(offered(name, own)) == (name, own)


@given(st.lists(st.text(max_size=90), unique=True, max_size=30), st.randoms())
def test_tools_of_any_names_have_different_short_ones_in_any_order(names: list[str], random: object) -> None:
    found = offered_tools("max", names)
    assert len(set(found.values())) == len(names)
    assert all(len(name) <= LONGEST_TOOL_NAME for name in found.values())
    random.shuffle(names)  # type: ignore[attr-defined]
    assert offered_tools("max", names) == found


def test_a_tool_that_has_the_short_name_of_another_keeps_it() -> None:
    long = "t" * 100
    short = offered_tools("max", [long])[long]
    literal = short.removeprefix("max__")
    found = offered_tools("max", [long, literal])
    assert found[literal] == short
    assert found[long] not in (short, "")
    assert len(found[long]) == LONGEST_TOOL_NAME
