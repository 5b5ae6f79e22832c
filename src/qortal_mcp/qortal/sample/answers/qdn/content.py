"""Content of the sample chain's QDN resources, and the search indices among them."""

import base64
import json
from typing import Any
from urllib.parse import quote

from ....node.source import RawReply
from ....words.services import SERVICES
from ...chain import Chain
from ...core.parameters import Parameters
from ...core.replies import Routes, as_json, as_text, bad_parameter, core_error
from .resources import DEFAULT, identifier_of

Row = dict[str, Any]

_SERVICE_NAMES = {service.name for service in SERVICES}
_BINARY = "base64:"
_INDEX = "idx-"


def content(
    chain: Chain, parameters: Parameters, service: str, name: str, identifier: str = DEFAULT
) -> RawReply:
    """The one file of a resource. Files of larger ones are not part of the sample."""
    if service not in _SERVICE_NAMES:
        raise bad_parameter("service")
    row = _find(chain, service, name, identifier)
    if row is None:
        shown = "" if identifier == DEFAULT else identifier
        raise core_error(
            1401, f"Couldn't find PUT transaction for name {name}, service {service} and identifier {shown}"
        )
    held = chain["resourceContent"][_key(row)]
    if held["status"] != 200:
        return RawReply(held["status"], "application/json", held["body"].encode())
    if parameters.text("filepath"):
        raise core_error(1401)
    data = _bytes(held["body"])
    if parameters.text("encoding") == "base64":
        return as_text(base64.b64encode(data).decode())
    return RawReply(200, "application/octet-stream", data)


def index_search(chain: Chain, parameters: Parameters) -> RawReply:
    """A term matches entries that equal it or begin with it."""
    found: list[Row] = []
    terms = [term.lower() for term in parameters.texts("terms") if term]
    for entry in _index(chain):
        scores = [_score(entry["term"].lower(), term) for term in terms]
        if any(scores):
            found.append({"score": max(scores), **{key: entry[key] for key in ("name", "category", "link")}})
    return as_json(sorted(found, key=lambda row: -float(row["score"])))


def index_of(chain: Chain, parameters: Parameters, name: str, idPrefix: str) -> RawReply:
    return as_json(
        [row for row in _index(chain) if row["issuer"] == name and row["indexIdentifer"].startswith(idPrefix)]
    )


def _find(chain: Chain, service: str, name: str, identifier: str) -> Row | None:
    """Content is found whatever the case of its name."""
    for row in chain["resources"]:
        if (row["service"], row["name"].lower(), identifier_of(row)) == (service, name.lower(), identifier):
            found: Row = row
            return found
    return None


def _key(row: Row) -> str:
    parts = [row["service"], row["name"], *([row["identifier"]] if "identifier" in row else [])]
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _bytes(body: str) -> bytes:
    return base64.b64decode(body[len(_BINARY) :]) if body.startswith(_BINARY) else body.encode()


def _index(chain: Chain) -> list[Row]:
    """Entries of all index files, as Core reads them."""
    return [
        {
            "issuer": row["name"],
            "rank": rank,
            "term": entry["t"],
            "name": entry["n"],
            "category": entry["c"],
            "link": entry["l"],
            "indexIdentifer": row["identifier"],
        }
        for row in chain["resources"]
        if row["service"] == "JSON" and identifier_of(row).startswith(_INDEX)
        for rank, entry in enumerate(json.loads(chain["resourceContent"][_key(row)]["body"]), 1)
    ]


def _score(term: str, asked: str) -> float:
    if term == asked:
        return 1.0
    return 0.5 if term.startswith(asked) else 0.0


ROUTES: Routes = {
    "/arbitrary/{service}/{name}": content,
    "/arbitrary/{service}/{name}/{identifier}": content,
    "/arbitrary/indices": index_search,
    "/arbitrary/indices/{name}/{idPrefix}": index_of,
}
