"""What can be set about a server, apart from what it offers. Everything here has a default."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ..limits import DEFAULT, Limits
from ..metrics import Metrics
from ..protocol.results import CacheHint
from .rates.rate import Rate
from .tool_errors import ToolError, timed_out
from .watching.spans import Spans

_HOUR_MS = 3_600_000


class Watched(Struct, frozen=True, kw_only=True):
    """What is logged and traced of requests, besides failures of the server itself."""

    # A line for each request, at level info.
    access_log: bool = False
    # A warning for each that took at least this long; None: for none.
    slow_seconds: float | None = None
    # Who makes a span of each request; None: nobody.
    spans: Spans | None = None


class ServerOptions(Struct, frozen=True, kw_only=True):
    """How a server behaves, and what it allows."""

    limits: Limits = DEFAULT
    # Calls per second from each caller, and twice as many at once; None: as many as the limits allow.
    rate_limit: float | None = None
    # Who counts the calls of each caller, if not this process alone: see `machine_rate.py` and `shared_rate.py`.
    rate: Rate | None = None
    # Whether clients can ask for log messages.
    client_logging: bool = False
    # Whether lists can change while the server runs, and whether resources can be watched.
    announces_changes: bool = False
    resource_updates: bool = False
    # How long clients of 2026-07-28 may keep the lists; None: an hour, or not at all if the lists can change.
    cache: CacheHint | None = None
    # The key in `_meta` under which a failed tool gives its code, such as "shelf.example/error"; None: it does not.
    error_key: str | None = None
    # What signs the state of a call that asked back. Processes that serve the same clients need the same one.
    state_key: bytes | None = None
    # What a call fails with that took longer than so many seconds.
    timed_out: Callable[[float], ToolError] = timed_out
    # Where calls are counted; a server has counters of its own otherwise.
    metrics: Metrics | None = None
    watched: Watched = Watched()

    @property
    def cache_hint(self) -> CacheHint:
        return self.cache or CacheHint(0 if self.announces_changes else _HOUR_MS)


class OldForms(Struct, frozen=True, kw_only=True):
    """Spellings of an earlier server that stay valid: names in every era, the rest in the legacy era alone."""

    # Old name of a tool -> its name.
    tools: Mapping[str, str] = {}
    # Tool -> old name of an argument -> its name.
    arguments: Mapping[str, Mapping[str, str]] = {}
    # Old name of a method -> method.
    methods: Mapping[str, str] = {}
    # Members that stood for `name` and `arguments` of a call.
    tool_member: str = "tool"
    arguments_member: str = "params"
