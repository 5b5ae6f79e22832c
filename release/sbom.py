"""The bill of materials: what an installation consists of, as CycloneDX 1.6 in JSON, made from the lock."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

from .licences import licence_of
from .lock import Pin
from .moment import iso
from .project import Project


def sbom(project: Project, pins: Sequence[Pin], moment: int) -> dict[str, Any]:
    """The same lock, version and moment give the same document.

    Raises: UnknownLicence.
    """
    own = _reference(project.name, project.version)
    told: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": iso(moment),
            "component": {
                "type": "application",
                **_component(project.name, project.version, project.licence),
                "description": project.description,
                "externalReferences": [{"type": "vcs", "url": project.repository}],
            },
        },
        "components": [
            {"type": "library", **_component(pin.name, pin.version, licence_of(pin.name)), **_where(pin)}
            for pin in pins
        ],
        "dependencies": [
            {"ref": own, "dependsOn": _wanted(project.name, pins)},
            *(
                {"ref": _reference(pin.name, pin.version), "dependsOn": _wanted(pin.name, pins)}
                for pin in pins
            ),
        ],
    }
    # Named by what it says: another content is another document.
    named = uuid.uuid5(uuid.NAMESPACE_URL, project.repository + json.dumps(told, sort_keys=True))
    return {**told, "serialNumber": f"urn:uuid:{named}"}


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def _component(name: str, version: str, licence: str) -> dict[str, Any]:
    place = _reference(name, version)
    told = {"expression": licence} if " " in licence else {"license": {"id": licence}}
    return {"bom-ref": place, "name": name, "version": version, "purl": place, "licenses": [told]}


def _where(pin: Pin) -> dict[str, Any]:
    """On which systems it is installed, if not on all."""
    return (
        {"properties": [{"name": "qortal-mcp:environment-marker", "value": pin.marker}]} if pin.marker else {}
    )


def _wanted(by: str, pins: Sequence[Pin]) -> list[str]:
    return [_reference(pin.name, pin.version) for pin in pins if by in pin.wanted_by]
