"""How a command fails: one clear line on standard error, and an exit code that scripts can check.

0 good · 1 the thing asked about is bad · 2 wrong usage · 3 could not be determined.
"""

import errno
import io
import os
from typing import NoReturn

import click

GOOD = 0
BAD = 1
WRONG_USAGE = 2
UNDETERMINED = 3
# What shells report for a process ended by SIGINT.
INTERRUPTED = 130
# The same for SIGTERM.
TERMINATED = 143

# What the help and the documentation say about them.
EXIT_CODES = {
    GOOD: "good",
    BAD: "the thing asked about is bad: a tool answered with an error, a server violates the specification",
    WRONG_USAGE: "wrong usage: a command, option, variable or tool that does not exist or is not valid",
    UNDETERMINED: "could not be determined: no node or model answers, address in use, output not writable",
}

WrongUsage = click.UsageError


class NoSuchTool(click.ClickException):
    """Wrong usage too, but the command's help would not help; the text says where to look."""

    exit_code = WRONG_USAGE


class Bad(click.ClickException):
    """The thing asked about is bad: a tool answered with an error."""

    exit_code = BAD


class Undetermined(click.ClickException):
    """The result could not be determined: a node does not answer, an address is in use."""

    exit_code = UNDETERMINED


class ClosedOutput(io.TextIOBase):
    """Stands in for a standard output that was closed before the start, for which Python has no object."""

    def write(self, text: object) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
