"""QDN: published data."""

from msgspec import Struct

from ..words.times import Milliseconds
from .plain import Count, Whole, plain

_MOST_TAGS = 20


class Publication(Struct):
    """An ARBITRARY transaction: something was put on QDN, or changed there."""

    signature: str
    timestamp: Milliseconds
    creatorAddress: str
    service: Whole
    size: Count = 0
    name: str | None = None
    identifier: str | None = None
    blockHeight: Count | None = None

    def __post_init__(self) -> None:
        self.signature = plain(self.signature) or ""
        self.creatorAddress = plain(self.creatorAddress) or ""
        self.name = plain(self.name)
        self.identifier = plain(self.identifier)


class ResourceStatus(Struct):
    """Whether the node has what was published. Chunk counts are left out: Core's are not to be relied on."""

    status: str
    description: str = ""

    def __post_init__(self) -> None:
        self.status = plain(self.status) or ""
        self.description = plain(self.description) or ""


class ResourceMetadata(Struct):
    title: str | None = None
    description: str | None = None
    tags: list[str] = []
    category: str | None = None
    categoryName: str | None = None

    def __post_init__(self) -> None:
        self.title = plain(self.title)
        self.description = plain(self.description)
        self.tags = [plain(tag) or "" for tag in self.tags[:_MOST_TAGS]]
        self.category = plain(self.category)
        self.categoryName = plain(self.categoryName)


class Resource(Struct):
    name: str
    service: str
    # None is the resource that has no identifier, which Core at times calls `default`.
    identifier: str | None = None
    latestSignature: str | None = None
    # As the transaction says: packed, in bytes.
    size: Count | None = None
    created: Milliseconds | None = None
    updated: Milliseconds | None = None
    status: ResourceStatus | None = None
    metadata: ResourceMetadata | None = None

    def __post_init__(self) -> None:
        self.name = plain(self.name) or ""
        self.service = plain(self.service) or ""
        self.identifier = None if self.identifier == "default" else plain(self.identifier)
        self.latestSignature = plain(self.latestSignature)


class Category(Struct):
    id: str
    name: str

    def __post_init__(self) -> None:
        self.id = plain(self.id) or ""
        self.name = plain(self.name) or ""


class IndexHit(Struct):
    score: float
    name: str
    link: str
    # A number of the index author's own choice.
    category: Whole = 0

    def __post_init__(self) -> None:
        self.name = plain(self.name) or ""
        self.link = plain(self.link) or ""


class IndexEntry(Struct):
    issuer: str
    rank: Whole
    term: str
    name: str
    link: str
    category: Whole = 0
    # Core spells it so.
    indexIdentifer: str = ""

    def __post_init__(self) -> None:
        self.issuer = plain(self.issuer) or ""
        self.term = plain(self.term) or ""
        self.name = plain(self.name) or ""
        self.link = plain(self.link) or ""
        self.indexIdentifer = plain(self.indexIdentifer) or ""


def as_is(body: bytes) -> bytes:
    """Reads a file. Whoever shows it decides what to make of it."""
    return body
