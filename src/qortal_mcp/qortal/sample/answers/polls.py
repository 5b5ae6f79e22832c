"""Polls and ratings of the sample chain."""

from collections.abc import Iterator
from typing import Any

from ...node.source import RawReply
from ..chain import Chain
from ..core.parameters import Paging, Parameters
from ..core.replies import Routes, as_json, core_error

_RATED = ("APP", "WEBSITE")


def polls(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(Paging(parameters).of(chain["polls"]))


def poll(chain: Chain, parameters: Parameters, pollName: str) -> RawReply:
    for row in chain["polls"]:
        if row["pollName"] == pollName:
            return as_json(row)
    raise core_error(501)


def votes(chain: Chain, parameters: Parameters, pollName: str) -> RawReply:
    found = chain["pollVotes"].get(pollName)
    if found is None:
        raise core_error(501)
    if parameters.flag("onlyCounts"):
        found = {name: member for name, member in found.items() if name != "votes"}
    return as_json(found)


def ratings(chain: Chain, parameters: Parameters) -> RawReply:
    """Limit and offset count options, not polls, so a page may end in the middle of a poll."""
    service, paging = parameters.text("service"), Paging(parameters)
    before, after = parameters.long("before"), parameters.long("after")
    if service and service not in _RATED:
        raise core_error(125)
    paging.reverse = False  # not a parameter here
    options = [row for row in _rated_options(chain) if not service or row["poll"].get("service") == service]
    entries: dict[str, dict[str, Any]] = {}
    for row in paging.of(options):
        _count(entries, row)
    shown = [
        {"key": key, "value": value}
        for key, value in entries.items()
        if (before is None or value["published"] < before) and (after is None or value["published"] > after)
    ]
    return as_json({"count": len(shown), "offset": paging.offset, "ratings": {"entry": shown}})


def _rated_options(chain: Chain) -> Iterator[dict[str, Any]]:
    """Every option of every rating, with its votes."""
    for entry in chain["appRatings"]["ratings"]["entry"]:
        value = entry["value"]
        for count, weight in zip(value["voteCounts"], value["voteWeights"], strict=True):
            yield {"poll": value, "count": count, "weight": weight}


def _count(entries: dict[str, dict[str, Any]], row: dict[str, Any]) -> None:
    poll = row["poll"]
    none = {"totalVotes": 0, "totalWeight": 0, "voteCounts": [], "voteWeights": []}
    entry = entries.setdefault(poll["pollName"], {**poll, **none})
    entry["totalVotes"] += row["count"]["voteCount"]
    entry["totalWeight"] += row["weight"]["voteWeight"]
    entry["voteCounts"] = [*entry["voteCounts"], row["count"]]
    entry["voteWeights"] = [*entry["voteWeights"], row["weight"]]


ROUTES: Routes = {
    "/polls": polls,
    "/polls/{pollName}": poll,
    "/polls/votes/{pollName}": votes,
    "/polls/apps/ratings": ratings,
}
