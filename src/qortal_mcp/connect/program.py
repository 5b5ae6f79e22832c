"""The command with which a client starts this server: the program that runs now, and the options that it was given."""

import sys
from pathlib import Path

from ..settings import NodeOptions, options_of

_NAMES = ("qortal-mcp", "qortal-mcp.exe")


def stdio_command(options: NodeOptions, executable: str = sys.executable) -> tuple[str, ...]:
    """The whole command, by its full path: programs with windows do not have the PATH of a shell."""
    return (*program(executable), "stdio", *node_words(options))


def program(executable: str = sys.executable) -> tuple[str, ...]:
    """How the program that runs now is started."""
    if not executable:  # Python inside another program does not know its own
        return (_NAMES[0],)
    # Not resolved: the interpreter of a virtual environment is a link to one outside of it.
    folder = Path(executable).absolute().parent
    for name in _NAMES:
        if (folder / name).is_file():
            return (str(folder / name),)
    return (str(Path(executable).absolute()), "-m", "qortal_mcp")


def node_words(options: NodeOptions) -> list[str]:
    """The options that are not at their defaults, as flags. None of them can hold a secret."""
    words: list[str] = []
    for option in options_of(NodeOptions):
        value = getattr(options, option.field)
        if value == option.default:
            continue
        if option.is_switch:
            words.append(option.flag)
        else:
            for one in value if option.repeatable else (value,):
                words += [option.flag, str(one)]
    return words
