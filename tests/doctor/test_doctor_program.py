"""The check of the interpreter, and its agreement with what the package asks for."""

import tomllib
from pathlib import Path

import pytest

from qortal_mcp.doctor.checks.program import OLDEST_PYTHON, python
from qortal_mcp.doctor.looks.program import ProgramFacts

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10, 14), "problem"), ((3, 11, 0), "good"), ((4, 0, 0), "good")]
)
def test_an_interpreter_that_is_too_old_is_a_problem(version: tuple[int, int, int], state: str) -> None:
    facts = ProgramFacts(
        python=version, interpreter="/usr/bin/python3", version="1", command=("x",), other_on_path=None
    )
    (found,) = python.judge(facts)
    assert found.state == state
    assert ".".join(map(str, version)) in found.says


def test_the_oldest_python_is_the_one_that_the_package_asks_for() -> None:
    asked = tomllib.loads(PROJECT.read_text())["project"]["requires-python"]
    assert asked == ">=" + ".".join(map(str, OLDEST_PYTHON))
