"""A conversation in the terminal. The connections live in a thread of their own, so that the terminal can wait for a person."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import click

from ....agent import saved
from ....agent.agent import Agent
from ....agent.events import Event
from ....agent.words import counted
from ....text import visible
from ...output import terminal
from ...output.asked.answers import AnswerPrinter
from .. import failures
from . import run_file
from .asking import CONNECTING, Wanted, agent_of
from .signals_at_prompt import signals_at_prompt

T = TypeVar("T")

_PROMPT = "> "
_HELP = """\
/tools         the tools that the model is offered
/trace         show each call with time and size, or stop showing them
/save FILE     write this conversation to a file; ask --replay FILE shows it again
/reset         forget the conversation
/quit          leave; so does Ctrl-D. Ctrl-C ends an answer first"""


def talk(wanted: Wanted, *, traces: bool, save: str | None) -> int:
    if save is not None:
        run_file.check(save)
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  line editing for `input`
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    with _Loop() as loop, signals_at_prompt(loop.loop):
        return _Conversation(loop, wanted, traces, save).run()


class _InterruptedTwice(KeyboardInterrupt):
    """Somebody does not want to wait until an answer has ended."""


class _Loop:
    """An event loop in a thread: connections stay alive while a person types."""

    def __init__(self) -> None:
        self._started: concurrent.futures.Future[asyncio.AbstractEventLoop] = concurrent.futures.Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), daemon=True)

    async def _live(self) -> None:
        self._end = asyncio.Event()
        self._started.set_result(asyncio.get_running_loop())
        await self._end.wait()

    def __enter__(self) -> _Loop:
        self._thread.start()
        self.loop = self._started.result()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it. Ctrl-C cancels it, and is raised once it has ended.

        Raises: _InterruptedTwice if Ctrl-C is pressed again before that.
        """
        ended = threading.Event()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(self.loop.create_task(work))
            tasks[0].add_done_callback(lambda _: ended.set())

        def cancel() -> None:
            if tasks:
                tasks[0].cancel()
            else:
                work.close()
                ended.set()

        try:
            self.loop.call_soon_threadsafe(begin)
            ended.wait()
        except BaseException as exc:  # a stop signal as well
            self.loop.call_soon_threadsafe(cancel)
            try:
                ended.wait()
            except KeyboardInterrupt:
                raise _InterruptedTwice from None
            if not isinstance(exc, KeyboardInterrupt) or not tasks or tasks[0].cancelled():
                raise
        return tasks[0].result()


class _Conversation:
    def __init__(self, loop: _Loop, wanted: Wanted, traces: bool, save: str | None) -> None:
        self._loop = loop
        self._wanted = wanted
        self._save = save
        self._recorder = saved.Recorder()
        self._printer = AnswerPrinter(traces=traces)
        self._commands: dict[str, Callable[[Agent, str], None]] = {
            "/help": self._help,
            "/tools": self._tools,
            "/trace": self._trace,
            "/save": self._save_now,
            "/reset": self._reset,
        }

    def run(self) -> int:
        opening = agent_of(self._wanted)
        try:
            self._printer.doing(CONNECTING)
            agent = self._loop.run(opening.__aenter__())
        finally:
            self._printer.stop()
        try:
            self._greet(agent)
            for line in self._lines():
                if line in ("/quit", "/exit"):
                    break
                self._do(agent, line)
            return failures.GOOD
        finally:
            self._loop.run(opening.__aexit__(None, None, None))

    def _greet(self, agent: Agent) -> None:
        tools = counted(len(agent.toolbox.offers), "tool")
        terminal.note(f"{visible(agent.endpoint.model)} at {agent.endpoint.name}, with {tools}.")
        for server in agent.toolbox.servers_seen():
            if server.problem:
                terminal.note(visible(server.problem))
        terminal.note("/help shows the commands; Ctrl-D leaves.")

    def _lines(self) -> Iterator[str]:
        """What a person types, until Ctrl-D, or Ctrl-C at the prompt."""
        while True:
            # Answers alone go to an output that is not this terminal.
            is_terminal = sys.stdout.isatty()
            if not is_terminal:
                click.echo(_PROMPT, nl=False, err=True)
            try:
                line = input(_PROMPT if is_terminal else "").strip()
            except EOFError:
                click.echo(err=True)
                return
            except KeyboardInterrupt:
                click.echo(err=True)
                raise
            if line:
                yield line

    def _do(self, agent: Agent, line: str) -> None:
        """One line: a command, or a question."""
        name, _, rest = line.partition(" ")
        if name in self._commands:
            self._commands[name](agent, rest.strip())
        elif name.startswith("/") and name.count("/") == 1:
            click.echo(f"Unknown command {visible(name)}. /help shows the commands.", err=True)
        elif len(line) > self._wanted.limits.question_chars:
            most = self._wanted.limits.question_chars
            click.echo(f"The question is longer than {most:,} characters.", err=True)
        else:
            self._ask(agent, line)

    def _ask(self, agent: Agent, question: str) -> None:
        try:
            run = self._loop.run(agent.ask(question, self._on_event))
        except _InterruptedTwice:
            raise
        except KeyboardInterrupt:
            self._printer.stop()
            click.echo("Interrupted.", err=True)
            return
        if run.problem:
            click.echo(visible(run.problem), err=True)
        if self._save is not None:
            self._write(self._save)

    def _on_event(self, event: Event) -> None:
        self._recorder(event)
        self._printer(event)

    def _help(self, agent: Agent, rest: str) -> None:
        terminal.write(_HELP)

    def _tools(self, agent: Agent, rest: str) -> None:
        for offer in agent.toolbox.offers.values():
            line = terminal.one_line(f"{offer.name}: {offer.description}")
            terminal.write(terminal.cut(line, terminal.width()))

    def _trace(self, agent: Agent, rest: str) -> None:
        self._printer.traces = not self._printer.traces
        terminal.write(f"Calls are {'shown' if self._printer.traces else 'not shown'} from now on.")

    def _save_now(self, agent: Agent, rest: str) -> None:
        if not rest:
            click.echo("Name a file: /save FILE", err=True)
            return
        path = os.path.expanduser(rest)  # there is no shell that would do it
        try:
            run_file.check(path)
        except click.ClickException as exc:
            click.echo(exc.format_message(), err=True)
            return
        if self._write(path):
            terminal.write(f"The conversation is in {visible(path)}.")

    def _write(self, path: str) -> bool:
        """What cannot be written ends no conversation."""
        if not self._recorder.events:
            click.echo("There is nothing to save yet.", err=True)
            return False
        try:
            run_file.write(path, self._recorder.events)
        except click.ClickException as exc:
            click.echo(exc.format_message(), err=True)
            return False
        return True

    def _reset(self, agent: Agent, rest: str) -> None:
        agent.conversation.clear()
        self._recorder.clear()
        terminal.write("The conversation is forgotten.")
