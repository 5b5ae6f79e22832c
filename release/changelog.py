"""The change log as data: its newest section, and that section with the day of its release."""

import re

_HEAD = re.compile(r"^## (?P<version>\S+)(?: \((?P<day>[^)]*)\))?$", re.MULTILINE)
UNRELEASED = "unreleased"


class WrongChangeLog(Exception):
    """The change log is not ready for a release; the text says what is missing."""


def dated(text: str, version: str, day: str) -> str:
    """The change log with the day in the head of its newest section, which must be that of this version.

    Raises: WrongChangeLog.
    """
    head = _HEAD.search(text)
    if head is None or head["version"] != version:
        raise WrongChangeLog(f"the newest section of CHANGELOG.md is not {version}: write what changed there")
    if head["day"] != UNRELEASED:
        raise WrongChangeLog(f"the section {version} of CHANGELOG.md is not marked ({UNRELEASED})")
    if not section(text, version).strip():
        raise WrongChangeLog(f"the section {version} of CHANGELOG.md is empty")
    return f"{text[: head.start()]}## {version} ({day}){text[head.end() :]}"


def section(text: str, version: str) -> str:
    """What a version brings, without its head; empty if there is none."""
    for head in _HEAD.finditer(text):
        if head["version"] == version:
            following = _HEAD.search(text, head.end())
            return text[head.end() : following.start() if following else len(text)].strip() + "\n"
    return ""
