"""The five revisions of the protocol, and which method exists in which. Decides nothing else."""

from typing import Literal

from msgspec import Struct

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
REVISIONS = LEGACY + MODERN

# 2026-07-28 has no handshake, so this is the answer to an `initialize` with an unknown version.
NEWEST_HANDSHAKE = "2025-11-25"
# What a plain HTTP request without a version header speaks (2025-06-18, "Protocol Version Header").
ASSUMED = "2025-03-26"

# Dates sort as text: `revision >= STRUCTURED` asks whether a revision has a feature.
ANNOTATIONS = AUDIO = BATCHES = COMPLETIONS = "2025-03-26"
STRUCTURED = TITLES = RESOURCE_LINKS = ELICITATION = "2025-06-18"
ICONS = PRIMING = "2025-11-25"
MODERN_ERA = "2026-07-28"

Capability = Literal["tools", "resources", "prompts", "completions", "logging", "subscribe", "listen"]


class Method(Struct, frozen=True):
    """A client request: the revisions that have it, and what a server must offer to serve it."""

    name: str
    since: str = LEGACY[0]
    until: str = MODERN[-1]
    capability: Capability | None = None
    # The parameter that `Mcp-Name` repeats (2026-07-28, HTTP).
    name_param: str | None = None

    def exists_in(self, revision: str) -> bool:
        return self.since <= revision <= self.until


_LAST_LEGACY = LEGACY[-1]

METHODS = {
    method.name: method
    for method in (
        Method("initialize", until=_LAST_LEGACY),
        Method("ping", until=_LAST_LEGACY),
        Method("server/discover", since=MODERN_ERA),
        Method("subscriptions/listen", since=MODERN_ERA, capability="listen"),
        Method("tools/list", capability="tools"),
        Method("tools/call", capability="tools", name_param="name"),
        Method("resources/list", capability="resources"),
        Method("resources/templates/list", capability="resources"),
        Method("resources/read", capability="resources", name_param="uri"),
        Method("resources/subscribe", until=_LAST_LEGACY, capability="subscribe"),
        Method("resources/unsubscribe", until=_LAST_LEGACY, capability="subscribe"),
        Method("prompts/list", capability="prompts"),
        Method("prompts/get", capability="prompts", name_param="name"),
        Method("completion/complete", capability="completions"),
        Method("logging/setLevel", until=_LAST_LEGACY, capability="logging"),
    )
}


def is_modern(revision: str) -> bool:
    return revision >= MODERN_ERA


def negotiate(requested: str) -> str:
    """The version to answer a handshake with: the requested one if we support it, else our newest."""
    return requested if requested in LEGACY else NEWEST_HANDSHAKE
