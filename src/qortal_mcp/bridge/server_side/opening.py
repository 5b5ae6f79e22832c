"""How a connection to a server begins: for whom, and in which era."""

from __future__ import annotations

from msgspec import Raw

from ...client.eras import Era, Terms
from ...protocol.versions import LEGACY, MODERN, NEWEST_HANDSHAKE, is_modern


class Opening:
    """What the client in front said about itself, which the server is told in its place."""

    def __init__(self, revision: str = "", info: Raw | None = None, capabilities: Raw | None = None) -> None:
        """`revision` is the client's own. Clients of the modern era have no handshake and name none."""
        self.is_modern = revision not in LEGACY
        # What a server of the legacy era is asked for.
        self.handshake = NEWEST_HANDSHAKE if self.is_modern else revision
        # What the client can read.
        self.revision = MODERN[-1] if self.is_modern else revision
        self.info = info
        self.capabilities = capabilities

    @property
    def kind(self) -> bytes:
        """The same for modern clients that one connection can serve; empty for those that can be asked nothing.

        Not who they are: that may be different in each request, and each would start a program.
        """
        return b"" if not self.is_modern or self.capabilities is None else bytes(self.capabilities)

    def for_many(self) -> Opening:
        """What several clients have in common that can be asked the same."""
        return Opening("", None, self.capabilities)


class Eras:
    """What connections have taught about a server, so that the next one need not try in vain. Shared by all of a bridge."""

    def __init__(self, only: str | None = None) -> None:
        """`only` is the revision that the operator chose."""
        self._only = only
        # The one era that the server knows. None: both, or nobody has found out yet.
        self._single: Era | None = None

    def first(self, opening: Opening) -> tuple[Era, str | None]:
        """The era to open a connection in, and the revision: the client's own is tried first."""
        if self._only is not None:
            return ("modern" if is_modern(self._only) else "legacy"), self._only
        if self._single == "modern":
            return "modern", None
        if self._single == "legacy":
            return "legacy", opening.handshake
        return ("auto", None) if opening.is_modern else ("legacy-first", opening.handshake)

    def learn(self, opening: Opening, terms: Terms) -> None:
        """A server that does not speak the era of its client speaks only the other."""
        if opening.is_modern != terms.is_modern:
            self._single = "modern" if terms.is_modern else "legacy"

    def forget(self) -> bool:
        """A connection failed: another server may have taken the place of the one before. True if that may matter."""
        was_known, self._single = self._single is not None, None
        return was_known
