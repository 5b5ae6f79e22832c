"""What is examined: the settings that the other commands would get, and the environment they come from."""

from collections.abc import Mapping

from msgspec import Struct

from .. import settings
from ..settings import ListenOptions, NodeOptions, ShareOptions


class Setup(Struct, frozen=True):
    chain: NodeOptions
    door: ListenOptions
    # As it is, with variables that no command would accept.
    environ: Mapping[str, str]
    # Where a project's own settings of clients are looked for.
    folder: str
    sharing: ShareOptions = ShareOptions()


def usable(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what is reported as wrong: one such variable must not hide everything else."""
    left_out = {**settings.wrong_variables(environ), **settings.old_variables(environ)}
    return {name: value for name, value in environ.items() if name not in left_out}
