"""How a command ends badly: one clear line on standard error, and an exit code that scripts can tell apart.

0 good · 1 the thing asked about is bad · 2 wrong usage · 3 could not find out.
"""

import click

GOOD = 0
BAD = 1
WRONG_USAGE = 2
COULD_NOT_FIND_OUT = 3
# As shells count a process that SIGINT ended.
INTERRUPTED = 130

WrongUsage = click.UsageError


class Bad(click.ClickException):
    """What was asked about is not right: a tool answered with an error."""

    exit_code = BAD


class CouldNotFindOut(click.ClickException):
    """The answer could not be had: a node that does not answer, an address in use."""

    exit_code = COULD_NOT_FIND_OUT
