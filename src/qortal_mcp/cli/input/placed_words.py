"""The words of a command that a client will start: the files in them are named so that they mean the same in every folder."""

import os
from collections.abc import Iterator, Sequence

import click

from ...text import visible
from ..running import failures
from .server_file import ServerFile

_READ = ("--servers", "--server-token-file", "--header-file", "--ca-file")
_WRITTEN = ("--capture",)


def placed(words: Sequence[str], target: str | None, ctx: click.Context) -> tuple[str, ...]:
    """The same with full paths; `target` is the FILE.py:NAME among them.

    Raises: WrongUsage if a file is not there.
    """
    end = words.index("--") if "--" in words else len(words)
    own = tuple(_placed_options(words[:end], ctx))
    if target is not None:
        file = ServerFile(target)
        full = f"{file.path}:{file.name}" if file.name is not None else str(file.path)
        own = tuple(full if word == target else word for word in own)
    return (*own, *words[end:])


def refuse_relative(words: Sequence[str], ctx: click.Context) -> None:
    """What is left of paths below this folder belongs to a program behind a bridge. Raises: WrongUsage."""
    for word in words:
        if word.startswith(("./", "../", ".\\", "..\\")):
            full = visible(os.path.abspath(word))
            raise failures.WrongUsage(
                f"The client does not start it in this folder; write {full} instead of {visible(word)}.", ctx
            )


def _placed_options(words: Sequence[str], ctx: click.Context) -> Iterator[str]:
    before = ""
    for word in words:
        option, equals, value = word.partition("=")
        if before in (*_READ, *_WRITTEN):
            yield _placed_file(before, word, ctx)
        elif equals and option in (*_READ, *_WRITTEN):
            yield f"{option}={_placed_file(option, value, ctx)}"
        else:
            yield word
        before = word


def _placed_file(option: str, path: str, ctx: click.Context) -> str:
    if option in _READ and not os.path.isfile(path):
        raise failures.WrongUsage(f"{option}: there is no file {visible(path)}.", ctx)
    return os.path.abspath(path)
