"""What `serve` is to serve, as it can be told to another process."""

from msgspec import Struct

from ....settings import ListenOptions, NodeOptions, ShareOptions, WatchOptions
from ....settings.asking import ModelOptions, QuestionOptions
from ....settings.console import ConsoleOptions


class ServeChain(Struct, frozen=True, kw_only=True, tag=True):
    """The Qortal server. `door` has the numeric address."""

    chain: NodeOptions
    door: ListenOptions
    sharing: ShareOptions
    model: ModelOptions
    question: QuestionOptions
    console: ConsoleOptions
    watching: WatchOptions


class ServeFile(Struct, frozen=True, kw_only=True, tag=True):
    """A server in a file."""

    target: str
    door: ListenOptions
