"""Every group of options that some command takes: where the known variables, and the keys of a settings file, come from."""

from .asking import AskOptions, ModelOptions, QuestionOptions
from .bridging import (
    BridgeListenOptions,
    ChosenRepairs,
    GatherOptions,
    RepairOptions,
    ServerOptions,
    WaitOptions,
)
from .console import ConsoleOptions
from .file import ConfigOptions
from .option import Options
from .serving import ListenOptions, LogOptions, NodeOptions, SampleNodeOptions, WorkerOptions
from .sharing import ShareOptions
from .watching import WatchOptions

GROUPS: tuple[type[Options], ...] = (
    NodeOptions,
    ListenOptions,
    WorkerOptions,
    ShareOptions,
    SampleNodeOptions,
    GatherOptions,
    RepairOptions,
    ServerOptions,
    BridgeListenOptions,
    ChosenRepairs,
    WaitOptions,
    ModelOptions,
    QuestionOptions,
    AskOptions,
    ConsoleOptions,
    ConfigOptions,
    WatchOptions,
    LogOptions,
)
