"""What a package lists as public exists, is documented, and is all that its `__init__` brings in."""

import ast
import importlib
import inspect
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
    constants = sorted(name for name in listed if name.isupper() or name.startswith("__"))
    classes = sorted(name for name in listed if not name.isupper() and name[0].isupper())
    functions = sorted(name for name in listed if name[0].islower())
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
