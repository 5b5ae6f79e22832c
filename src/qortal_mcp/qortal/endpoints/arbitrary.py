"""QDN: published data.

Endpoints whose GET has an effect on the node are left out: `/arbitrary/resource/status` counts up, and
`/arbitrary/metadata` may fetch from peers. The listing shows both without that. Nor is there a parameter for a file
of a resource, for building one, or for the lists that the node's owner keeps.

Content is requested whatever the listing says: Core lists PUBLISHED for content that it holds, until somebody opens it
in a way that writes. A node asks its peers for content that it lacks, as when a person opens it.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from ..limits import PAGE_ROWS
from ..replies.arbitrary import Category, IndexEntry, IndexHit, Publication, Resource, as_is
from ..words.arguments import (
    Address,
    ConfirmationStatus,
    FromHeight,
    GroupId,
    Heights,
    Limit,
    Name,
    Offset,
    SmallLimit,
)
from ..words.services import TEXT_SERVICES
from ..words.times import Milliseconds
from .parameters import CoreService, OnlyFalse
from .record import HOURS, MINUTE, SECONDS, Endpoint, Same, json_of

_Text = Annotated[str, Meta(min_length=1, max_length=240)]
_Texts = Annotated[list[_Text], Meta(min_length=1, max_length=20)]
_Names = Annotated[list[Name], Meta(min_length=1, max_length=20)]
_Identifier = Annotated[str, Meta(min_length=1, max_length=64)]
_Level = Annotated[int, Meta(ge=0, le=10)]
# Each term is compared with everything in the index.
_Terms = Annotated[list[Annotated[str, Meta(min_length=1, max_length=40)]], Meta(min_length=1, max_length=2)]
_TextService = Annotated[str, Meta(extra={"check": TEXT_SERVICES.__contains__, "noun": "service"})]
# One attempt to get what the node lacks. Core reads `attempts`; `maxAttempts` is what its source calls the same thing.
_Once = Annotated[int, Meta(ge=1, le=1)]
_AS_IT_IS = {"async": OnlyFalse, "rebuild": OnlyFalse, "maxAttempts": _Once, "attempts": _Once}
_AS_IT_IS_ALWAYS = {"async": False, "rebuild": False, "maxAttempts": 1, "attempts": 1}
_PAGE = {"limit": Limit, "offset": Offset, "reverse": bool}
_DETAILS = {"excludeblocked": bool, "includestatus": bool, "includemetadata": bool}

PUBLICATIONS = Endpoint(
    "/arbitrary/search",
    json_of(list[Publication]),
    SECONDS,
    query={
        "startBlock": FromHeight,
        "blockLimit": Heights,
        "txGroupId": GroupId,
        "service": CoreService,
        "name": Name,
        "address": Address,
        "confirmationStatus": ConfirmationStatus,
        "limit": SmallLimit,
        "offset": Offset,
        "reverse": bool,
    },
    returns="Transactions that published something on QDN.",
    defaults={"confirmationStatus": "CONFIRMED", "limit": 20},
    same=Same.AT_ONE_BLOCK,
)
RESOURCES = Endpoint(
    "/arbitrary/resources",
    json_of(list[Resource]),
    SECONDS,
    query={
        "service": CoreService,
        "name": Name,
        "identifier": _Identifier,
        "default": bool,
        **_DETAILS,
        **_PAGE,
    },
    returns="Resources by exact service, name and identifier, sorted by name.",
    defaults={"limit": PAGE_ROWS},
)
RESOURCE_SEARCH = Endpoint(
    "/arbitrary/resources/search",
    json_of(list[Resource]),
    SECONDS,
    query={
        "service": CoreService,
        "query": _Text,
        "identifier": _Identifier,
        "name": _Names,
        "title": _Text,
        "description": _Text,
        "keywords": _Texts,
        "prefix": bool,
        "exactmatchnames": bool,
        "default": bool,
        "mode": Literal["LATEST", "ALL"],
        "minlevel": _Level,
        "before": Milliseconds,
        "after": Milliseconds,
        **_DETAILS,
        **_PAGE,
    },
    returns="Resources that contain a text, oldest first. Mode LATEST keeps one for each name and service.",
    since="3.0.2",
    defaults={"limit": PAGE_ROWS},
)
SIMPLE_RESOURCE_SEARCH = Endpoint(
    "/arbitrary/resources/searchsimple",
    json_of(list[Resource]),
    SECONDS,
    query={
        "service": CoreService,
        "identifier": _Identifier,
        "name": _Names,
        "prefix": bool,
        "caseInsensitive": bool,
        "before": Milliseconds,
        "after": Milliseconds,
        **_PAGE,
    },
    returns="Resources by service, name, identifier and time, oldest first; no status, no metadata.",
    since="4.6.0",
    defaults={"limit": PAGE_ROWS},
)
CATEGORIES = Endpoint(
    "/arbitrary/categories",
    json_of(list[Category]),
    HOURS,
    returns="The categories that a publisher can choose from.",
    since="3.2.0",
)
CONTENT = Endpoint(
    "/arbitrary/{service}/{name}/{identifier}",
    as_is,
    SECONDS,
    path={"service": _TextService, "name": Name, "identifier": _Identifier},
    query=_AS_IT_IS,
    defaults=_AS_IT_IS_ALWAYS,
    returns="The file of a resource that is a single text. A node may ask its peers once for what it does not have.",
    noun="Resource",
    absent=frozenset({1401}),
    may_take_long=True,
)
DEFAULT_CONTENT = Endpoint(
    "/arbitrary/{service}/{name}",
    as_is,
    SECONDS,
    path={"service": _TextService, "name": Name},
    query=_AS_IT_IS,
    defaults=_AS_IT_IS_ALWAYS,
    returns="The same for a resource without an identifier.",
    noun="Resource",
    absent=frozenset({1401}),
    may_take_long=True,
)
INDEX_SEARCH = Endpoint(
    "/arbitrary/indices",
    json_of(list[IndexHit]),
    MINUTE,
    query={"terms": _Terms},
    returns="All entries for some words in the search indices that users published.",
    since="4.7.1",
)
INDEX_OF = Endpoint(
    "/arbitrary/indices/{name}/{idPrefix}",
    json_of(list[IndexEntry]),
    MINUTE,
    path={"name": Name, "idPrefix": _Identifier},
    returns="All entries of the search indices that a name published.",
    since="4.7.1",
)

FAMILY: tuple[Endpoint[Any], ...] = (
    PUBLICATIONS,
    RESOURCES,
    RESOURCE_SEARCH,
    SIMPLE_RESOURCE_SEARCH,
    CATEGORIES,
    CONTENT,
    DEFAULT_CONTENT,
    INDEX_SEARCH,
    INDEX_OF,
)
