"""QDN resources of the sample chain: the list, the search, and the simple search."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....node.source import RawReply
from ....words.services import SERVICES
from ...chain import Chain
from ...core.database import in_order, like
from ...core.parameters import Paging, Parameters
from ...core.replies import Routes, as_json, core_error

Row = dict[str, Any]

# Core's internal name for a resource without an identifier.
DEFAULT = "default"
_CODES = {service.name: service.code for service in SERVICES}


def resources(chain: Chain, parameters: Parameters) -> RawReply:
    """Every filter is exact. Sorted by name, ignoring case."""
    service = parameters.choice("service", _CODES)
    name, identifier = parameters.text("name"), _wanted_identifier(parameters)
    paging = Paging(parameters)
    rows = [
        row
        for row in sorted(chain["resources"], key=_place)
        if service in (None, row["service"])
        and name in (None, row["name"])
        and identifier in (None, identifier_of(row))
    ]
    rows = in_order(rows, lambda row: str(row["name"]).upper(), reverse=paging.reverse)
    return _answer(parameters, _cut(paging, rows))


def search(chain: Chain, parameters: Parameters) -> RawReply:
    """With a service Core searches its memory, without one its database, which has wildcards. In
    memory it takes the latest of the matches, in its database only matches that are the latest."""
    service = parameters.choice("service", _CODES)
    latest_only = parameters.choice("mode", ("LATEST", "ALL")) != "ALL"
    before, after = parameters.long("before"), parameters.long("after")
    level, paging = parameters.integer("minlevel"), Paging(parameters)
    _wanted_identifier(parameters)
    rows: list[Row] = [row for row in chain["resources"] if service in (None, row["service"])]
    if latest_only and service is None:
        rows = _latest(rows)
    fits = _search_filter(parameters, _contained if service else _like)
    rows = [
        row
        for row in rows
        if fits(row)
        and _in_time(row, before, after)
        and (level is None or _level_of(chain, row["name"]) >= level)
    ]
    if latest_only and service is not None:
        rows = _latest(rows)
    return _answer(parameters, paging.of(_by_age(rows)))


def search_simple(chain: Chain, parameters: Parameters) -> RawReply:
    service = parameters.choice("service", _CODES)
    names, identifier = parameters.texts("name"), parameters.text("identifier")
    before, after = parameters.long("before"), parameters.long("after")
    prefix, any_case = parameters.flag("prefix"), parameters.flag("caseInsensitive")
    paging = Paging(parameters)

    def fits(text: str, wanted: str) -> bool:
        if not prefix and not any_case:
            return text == wanted
        pattern = f"{wanted}%" if prefix else wanted
        return like(text, pattern) and (any_case or text.startswith(wanted))

    rows = [
        row
        for row in chain["resources"]
        if service in (None, row["service"])
        and (not names or any(fits(row["name"], name) for name in names))
        and (not identifier or fits(identifier_of(row), identifier))
        and _in_time(row, before, after)
    ]
    return as_json([_bare(row) for row in paging.of(_by_age(rows))])


def identifier_of(row: Row) -> str:
    return str(row.get("identifier", DEFAULT))


def _wanted_identifier(parameters: Parameters) -> str | None:
    identifier, without = parameters.text("identifier") or None, parameters.flag("default")
    if without and identifier is not None:
        raise core_error(125)
    return DEFAULT if without else identifier


def _search_filter(
    parameters: Parameters, matches: Callable[[str | None, str, bool], bool]
) -> Callable[[Row], bool]:
    """All filters on the texts of a resource, as one predicate."""
    prefix, default_only = parameters.flag("prefix"), parameters.flag("default")
    query, identifier = parameters.text("query"), parameters.text("identifier")
    title, description = parameters.text("title"), parameters.text("description")
    keywords, names = parameters.texts("keywords"), parameters.texts("name")
    exact_names = [name.lower() for name in names] if parameters.flag("exactmatchnames") else []

    def fits(row: Row) -> bool:
        name, own_identifier, metadata = str(row["name"]), identifier_of(row), row.get("metadata", {})
        about = metadata.get("description")
        searched = [name] if default_only else [name, own_identifier, metadata.get("title"), about]
        return (
            (not default_only or own_identifier == DEFAULT)
            and (query is None or any(matches(text, query, prefix) for text in searched))
            and (identifier is None or matches(own_identifier, identifier, prefix))
            and (title is None or matches(metadata.get("title"), title, prefix))
            and (description is None or matches(about, description, prefix))
            and (not keywords or any(matches(about, word.strip(), False) for word in keywords))
            and (not exact_names or name.lower() in exact_names)
            and (not names or bool(exact_names) or any(matches(name, part, prefix) for part in names))
        )

    return fits


def _like(text: str | None, wanted: str, prefix: bool) -> bool:
    return like(text, f"{wanted}%" if prefix else f"%{wanted}%")


def _contained(text: str | None, wanted: str, prefix: bool) -> bool:
    if text is None:
        return False
    text, wanted = text.lower(), wanted.lower()
    return text.startswith(wanted) if prefix else wanted in text


def _latest(rows: Iterable[Row]) -> list[Row]:
    """The newest resource of each name and service."""
    newest: dict[tuple[str, str], Row] = {}
    for row in _by_age(rows):
        newest[row["name"], row["service"]] = row
    return list(newest.values())


def _by_age(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: int(row["created"]))


def _in_time(row: Row, before: int | None, after: int | None) -> bool:
    return (before is None or row["created"] < before) and (after is None or row["created"] > after)


def _level_of(chain: Chain, name: str) -> int:
    """The level of the account that owns the name."""
    owner = next((row["owner"] for row in chain["names"] if row["name"] == name), "")
    return int(chain["accounts"].get(owner, {}).get("level", 0))


def _place(row: Row) -> tuple[int, str, str]:
    """Its position in the database."""
    return _CODES[row["service"]], row["name"], identifier_of(row)


def _cut(paging: Paging, rows: Sequence[Row]) -> list[Row]:
    """The page of rows that are already in order."""
    if paging.offset < 0:
        raise core_error(5)
    return list(rows[paging.offset :] if paging.all else rows[paging.offset :][: paging.limit])


def _answer(parameters: Parameters, rows: Iterable[Row]) -> RawReply:
    shown = ("status", "includestatus"), ("metadata", "includemetadata")
    left_out = {member for member, parameter in shown if not parameters.flag(parameter)}
    return as_json([{name: value for name, value in row.items() if name not in left_out} for row in rows])


def _bare(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("status", "metadata")}


ROUTES: Routes = {
    "/arbitrary/resources": resources,
    "/arbitrary/resources/search": search,
    "/arbitrary/resources/searchsimple": search_simple,
}
