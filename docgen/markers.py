"""Tables inside documents that people write: they stand between `<!-- generated:NAME -->` and `<!-- /generated -->`."""

import re
from collections.abc import Callable, Mapping

_SECTION = re.compile(r"(<!-- generated:([a-z-]+) -->\n)(.*?)(<!-- /generated -->)", re.DOTALL)
_MARK = re.compile(r"<!-- /?generated\b[^>]*-->")


class BrokenMarkers(Exception):
    """A document whose markers cannot be filled; the text says why."""


def filled(document: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The document with every marked section written anew.

    Raises: BrokenMarkers where there is none, one does not close, or one has a name that no table has.
    """
    sections = _SECTION.findall(document)
    if not sections:
        raise BrokenMarkers("has no section between <!-- generated:NAME --> and <!-- /generated -->")
    if len(_MARK.findall(document)) != 2 * len(sections):
        raise BrokenMarkers("has a marker without its partner, or not on a line of its own")
    for _, name, _, _ in sections:
        if name not in tables:
            raise BrokenMarkers(f"has a section {name}; known are {', '.join(tables)}")
    return _SECTION.sub(lambda match: f"{match[1]}{tables[match[2]]().rstrip()}\n{match[4]}", document)
