"""Resources about a topic: those whose name, identifier, title or description has all the words that were given.

Core looks for one text; it is given the longest word, and the others are looked for here, among tags as well.
"""

from msgspec import Struct

from ....text import original
from ...endpoints.arbitrary import RESOURCE_SEARCH
from ...limits import LIMIT, QDN_TOPIC_WINDOWS
from ...node.node import Reading
from ...replies.arbitrary import Resource, ResourceMetadata


class Topic(Struct, frozen=True, kw_only=True):
    words: list[str]
    service: str | None = None
    # Exact, but for their case.
    names: list[str] | None = None
    # First published after and before these times, in milliseconds.
    after_ms: int | None = None
    before_ms: int | None = None
    newest_first: bool = True

    async def window(self, reading: Reading, offset: int) -> list[Resource]:
        return await reading.get(
            RESOURCE_SEARCH,
            query=max(self.words, key=len),
            service=self.service,
            name=self.names,
            exactmatchnames=None if self.names is None else True,
            # By default Core lists one resource for each name and service.
            mode="ALL",
            after=self.after_ms,
            before=self.before_ms,
            includemetadata=True,
            limit=LIMIT,
            offset=offset,
            reverse=self.newest_first,
        )

    def is_about(self, row: Resource) -> bool:
        about = row.metadata or ResourceMetadata()
        texts = [row.name, row.identifier, about.title, about.description, *about.tags]
        text = "\n".join(original(each).casefold() for each in texts if each is not None)
        # Core reads `%` and `_` as any text, so even the word that it was given is looked for again.
        return all(word.casefold() in text for word in self.words)


class About(Struct, frozen=True):
    """One row of Core's search, and its offset there."""

    at: int
    resource: Resource


class Topical(Struct, frozen=True):
    rows: list[About]
    read: int
    following: int | None
    is_cut: bool = False


async def about(reading: Reading, topic: Topic, limit: int, offset: int) -> Topical:
    """Raises: ToolError."""
    found: list[About] = []
    at = offset
    for _ in range(QDN_TOPIC_WINDOWS):
        rows = await topic.window(reading, at)
        for row in rows:
            if topic.is_about(row):
                if len(found) == limit:
                    return Topical(found, at - offset, at)
                found.append(About(at, row))
            at += 1
        if len(rows) < LIMIT:
            return Topical(found, at - offset, None)
    return Topical(found, at - offset, at, is_cut=True)
