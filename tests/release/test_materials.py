"""The lock, the licences and the bill of materials: what is installed is known, allowed and listed."""

import importlib.metadata
import json
import re
import tomllib

import pytest
from release.licences import ALLOWED, LICENCES, UnknownLicence, licence_of
from release.lock import Pin, pins
from release.project import ROOT, project
from release.sbom import sbom
from tests.release.building import Built

from release import licences

ABOUT = project()
PINS = pins()
# What packages write instead of an SPDX expression.
OTHER_WORDS = {
    "Apache 2.0": "Apache-2.0",
    "MIT License": "MIT",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}


def told_by(name: str) -> set[str]:
    """The licences that an installed package names, in any of the places where packages do."""
    about = importlib.metadata.metadata(name)
    if "License-Expression" in about:
        return set(re.split(r" AND | OR ", about["License-Expression"]))
    classifiers = [one for one in about.get_all("Classifier") or [] if one.startswith("License :: ")]
    return {OTHER_WORDS.get(one, one) for one in classifiers or [about["License"]]}


INSTALLED = sorted(
    pin.name for pin in PINS if any(importlib.metadata.distributions(name=pin.name)) and pin.name in LICENCES
)


@pytest.mark.parametrize("name", INSTALLED)
def test_the_table_of_licences_says_what_the_package_says(name: str) -> None:
    assert set(re.split(r" AND | OR ", LICENCES[name])) == told_by(name)


@pytest.mark.promise("Release", "Every dependency has a licence that somebody looked at and that is allowed.")
def test_every_locked_dependency_has_an_allowed_licence() -> None:
    assert len(INSTALLED) >= len(ABOUT.dependencies)
    for pin in PINS:
        assert set(re.split(r" AND | OR ", licence_of(pin.name))) <= ALLOWED


def test_a_dependency_without_a_line_or_with_another_licence_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(licences.LICENCES, "closed", "MIT AND Proprietary")
    with pytest.raises(UnknownLicence, match="closed is under Proprietary"):
        licence_of("closed")
    with pytest.raises(UnknownLicence, match=r"new-one has no licence in release/licences\.py"):
        sbom(ABOUT, [*PINS, Pin("new-one", "1", "", [ABOUT.name])], 0)


def test_the_lock_of_the_product_is_the_one_that_is_tested() -> None:
    def lines(path: str) -> set[str]:
        text = (ROOT / path).read_text()
        return {line for line in text.splitlines() if line and not line.lstrip().startswith("#")}

    def bare(found: set[str]) -> set[str]:
        # On which systems it is needed may differ: a tool may want everywhere what the product wants on some.
        return {line.removesuffix(" \\").partition(" ; ")[0] for line in found}

    assert bare(lines("requirements.txt")) <= bare(lines("requirements-dev.txt"))


def test_every_declared_dependency_is_locked() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*declared["dependencies"], *declared["optional-dependencies"]["shared"]]
    names = {re.split(r"[^a-z0-9-]", one)[0] for one in wanted}
    assert names == {pin.name for pin in PINS if ABOUT.name in pin.wanted_by}


def test_the_bill_of_materials_lists_the_lock_and_who_needs_what(built: Built) -> None:
    told = json.loads(built.the(".cdx.json").read_text())
    assert told["metadata"]["component"]["purl"] == f"pkg:pypi/{ABOUT.name}@{ABOUT.version}"
    assert {(one["name"], one["version"]) for one in told["components"]} == {
        (pin.name, pin.version) for pin in PINS
    }
    needs = {one["ref"]: one["dependsOn"] for one in told["dependencies"]}
    known = {one["bom-ref"] for one in told["components"]}
    # Everything is there because something else needs it, down from the product.
    reached, waiting = set(), [told["metadata"]["component"]["bom-ref"]]
    while waiting:
        for one in needs[waiting.pop()]:
            if one not in reached:
                reached.add(one)
                waiting.append(one)
    assert reached == known
