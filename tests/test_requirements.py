"""Every promise is proved by a test that exists, and every test at the door stands for a promise."""

import ast
from pathlib import Path

from tests.requirements import GATEWAY, PROMISES

HERE = Path(__file__).parent
ROWS = [
    *(f"R{n}" for n in range(1, 167)),
    *(f"X{n}" for n in range(1, 18)),
    # What the rest of the list asks of an audit.
    "R173",
    "R175",
    *(f"A{n}" for n in range(1, 10)),
]


def named_in(file: str) -> set[str]:
    tree = ast.parse((HERE / file).read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


def test_every_promise_names_tests_that_exist() -> None:
    missing = []
    for promise in PROMISES:
        assert promise.tests, f"{promise.id} names no test"
        for test in promise.tests:
            file, _, name = test.partition("::")
            if not (HERE / file).exists() or name not in named_in(file):
                missing.append(f"{promise.id}: {test}")
    assert missing == []


def test_every_row_of_the_acceptance_list_is_promised_once() -> None:
    assert sorted(promise.id for promise in PROMISES) == sorted(ROWS)


def test_every_test_at_the_door_stands_for_a_promise() -> None:
    file = GATEWAY.removesuffix("::")
    named = {
        test.partition("::")[2] for promise in PROMISES for test in promise.tests if test.startswith(GATEWAY)
    }
    unnamed = named_in(file) - named
    # These prove the contract of this project beyond the acceptance list.
    ours = {
        "test_the_old_names_do_not_exist_in_the_modern_era",
        "test_llms_txt_names_the_tools",
        "test_a_signal_ends_the_server_with_success",
    }
    assert unnamed == ours
