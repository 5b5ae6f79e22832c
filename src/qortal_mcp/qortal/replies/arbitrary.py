"""QDN: published data."""

from msgspec import field

from ..words.times import Milliseconds
from .reply import Count, Ratio, Reply, Text, Whole

_MOST_TAGS = 20


class Publication(Reply):
    """An ARBITRARY transaction: something was put on QDN, or changed there."""

    signature: Text
    timestamp: Milliseconds
    creatorAddress: Text
    service: Whole
    size: Count = 0
    name: Text | None = None
    identifier: Text | None = None
    blockHeight: Count | None = None


class ResourceStatus(Reply):
    """Whether the node has what was published. Chunk counts are left out: Core's are not to be relied on."""

    status: Text
    description: Text = ""


class ResourceMetadata(Reply):
    title: Text | None = None
    description: Text | None = None
    tags: list[Text] = field(default_factory=list)
    category: Text | None = None
    categoryName: Text | None = None

    def __post_init__(self) -> None:
        self.tags = self.tags[:_MOST_TAGS]
        super().__post_init__()


class Resource(Reply):
    name: Text
    service: Text
    # None is the resource that has no identifier, which Core at times calls `default`.
    identifier: Text | None = None
    latestSignature: Text | None = None
    # As the transaction says: packed, in bytes.
    size: Count | None = None
    created: Milliseconds | None = None
    updated: Milliseconds | None = None
    status: ResourceStatus | None = None
    metadata: ResourceMetadata | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.identifier == "default":
            self.identifier = None


class Category(Reply):
    id: Text
    name: Text


class IndexHit(Reply):
    score: Ratio
    name: Text
    link: Text
    # A number of the index author's own choice.
    category: Whole = 0


class IndexEntry(Reply):
    issuer: Text
    rank: Whole
    term: Text
    name: Text
    link: Text
    category: Whole = 0
    # Core spells it so.
    indexIdentifer: Text = ""


def as_is(body: bytes) -> bytes:
    """Reads a file. Whoever shows it decides what to make of it."""
    return body
