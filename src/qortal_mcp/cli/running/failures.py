"""How a command ends badly: one clear line on standard error, and an exit code that scripts can tell apart.

0 good · 1 the thing asked about is bad · 2 wrong usage · 3 could not find out.
"""

import errno
import io
import os
from typing import NoReturn

import click

GOOD = 0
BAD = 1
WRONG_USAGE = 2
COULD_NOT_FIND_OUT = 3
# As shells count a process that SIGINT ended.
INTERRUPTED = 130
# The same for SIGTERM.
TERMINATED = 143

# What the help and the documents say about them.
EXIT_CODES = {
    GOOD: "good",
    BAD: "the thing asked about is bad: a tool answered with an error, a server violates the specification",
    WRONG_USAGE: "wrong usage: a command, option, variable or tool that does not exist or fit",
    COULD_NOT_FIND_OUT: "could not find out: no node answers, address in use, output not writable",
}

WrongUsage = click.UsageError


class NoSuchTool(click.ClickException):
    """Wrong usage as well, but the help of the command would not help; the text says where to look."""

    exit_code = WRONG_USAGE


class Bad(click.ClickException):
    """What was asked about is not right: a tool answered with an error."""

    exit_code = BAD


class CouldNotFindOut(click.ClickException):
    """The answer could not be had: a node that does not answer, an address in use."""

    exit_code = COULD_NOT_FIND_OUT


class ClosedOutput(io.TextIOBase):
    """Stands for a standard output that was closed before the start, where Python has none at all."""

    def write(self, text: object) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
