"""What a package lists as public exists, is documented, and is all that its `__init__` brings in."""

import ast
import importlib
import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

PACKAGES = ["qortal_mcp", "qortal_mcp.server", "qortal_mcp.client", "qortal_mcp.transports"]
LISTED = [
    (package, name)
    for package in PACKAGES
    for name in getattr(importlib.import_module(package), "__all__", [])
]


@pytest.mark.promise("Library", "Every public name exists and is documented.")
@pytest.mark.parametrize(("package", "name"), LISTED)
def test_what_is_listed_exists_and_is_documented(package: str, name: str) -> None:
    thing = getattr(importlib.import_module(package), name)
    # A class or function of ours says what it is for; an alias of a type or a constant speaks for itself.
    if inspect.isclass(thing) or inspect.isfunction(thing):
        is_alias = typing.get_origin(thing) is not None or not thing.__module__.startswith("qortal_mcp")
        assert is_alias or (thing.__doc__ and thing.__doc__.strip()), f"{package}.{name} has no docstring"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_list_is_sorted_and_has_nothing_twice(package: str) -> None:
    listed = list(getattr(importlib.import_module(package), "__all__", []))
    assert len(set(listed)) == len(listed)
    constants = sorted(name for name in listed if name.isupper())
    classes = sorted(name for name in listed if not name.isupper() and name[0].isupper())
    functions = sorted(name for name in listed if name[0].islower() or name[0] == "_")
    assert listed == constants + classes + functions


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_package_brings_in_is_what_it_lists(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert imported <= set(getattr(module, "__all__", []))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_what_it_is(package: str) -> None:
    doc = importlib.import_module(package).__doc__
    assert doc
    assert doc.strip()


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = python(
        "import sys; before = set(sys.modules); import qortal_mcp; print(*set(sys.modules) - before)"
    )
    assert loaded.split() == ["qortal_mcp"]


def test_everything_that_a_server_needs_comes_from_one_import() -> None:
    code = "from qortal_mcp import *; print(Server.__module__, tool.__module__, run.__module__)"
    assert python(code).split() == [
        "qortal_mcp.server.dispatch",
        "qortal_mcp.server.offers.tool",
        "qortal_mcp.transports.run",
    ]


def test_a_name_that_is_not_there_is_reported_as_python_does() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Servant' from 'qortal_mcp'"):
        exec("from qortal_mcp import Servant")
    assert not hasattr(importlib.import_module("qortal_mcp"), "Servant")
