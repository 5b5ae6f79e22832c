"""`ask`: a question to a language model that looks things up with tools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..agent.limits import DEFAULT
from ..settings import NodeOptions
from ..settings.asking import AskOptions, ModelOptions, QuestionOptions
from ..settings.bridging import ReachOptions
from .input.options import SettingsCommand
from .running import failures

if TYPE_CHECKING:
    from .running.ask.asking import Wanted


@click.command(
    cls=SettingsCommand,
    groups=(NodeOptions, ModelOptions, QuestionOptions, AskOptions, ReachOptions),
    asks_once=True,
)
@click.argument("question", nargs=-1, metavar="[QUESTION]")
@click.option("--trace", is_flag=True, help="Show each call: tool, arguments, time, size, and how it went.")
@click.option("--json", "as_json", is_flag=True, help="Show the answer and everything about it as JSON.")
@click.option(
    "--save",
    metavar="FILE",
    help="Write what happened to this file, which only you can read; --replay shows it again.",
)
@click.option("--replay", metavar="FILE", help="Show a saved run again, without a model or a node.")
@click.option(
    "--dry-run", is_flag=True, help="Ask nothing: list the tools that would be offered, and what they weigh."
)
@click.option(
    "--eval",
    "questions",
    metavar="FILE",
    help="Ask all questions of this file, check the answers for their facts, and show a table.",
)
@click.pass_context
def command(
    ctx: click.Context,
    chain: NodeOptions,
    model: ModelOptions,
    bounds: QuestionOptions,
    asking: AskOptions,
    reach: ReachOptions,
    question: tuple[str, ...],
    trace: bool,
    as_json: bool,
    save: str | None,
    replay: str | None,
    dry_run: bool,
    questions: str | None,
) -> int:
    """Ask a question and see where each number of the answer comes from.

    A language model answers; it looks things up with the tools of this program, read-only, or with those of other MCP servers
    (--server). Any OpenAI-compatible endpoint will do: OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, or a local Ollama,
    LM Studio, llama.cpp or vLLM, which is found by itself.

    \b
      qortal-mcp ask "who owns the name alice-test?" --sample
      echo "how many blocks are there?" | qortal-mcp ask --sample
      qortal-mcp ask --sample                  a conversation; try /help
      qortal-mcp ask "what is new?" --server http://127.0.0.1:9000/mcp

    The answer goes to standard output; sources, notes and what no tool returned go to standard error.

    Exit codes: 0 answered; 1 --eval found a fact missing; 2 wrong usage; 3 no complete answer: no model, no tools, or a limit.
    """
    from .running.ask import asking as running

    others = {"--replay": replay, "--dry-run": dry_run, "--eval": questions}
    given = [flag for flag, value in others.items() if value]
    if len(given) > 1:
        raise failures.WrongUsage(f"{given[0]} and {given[1]} cannot be combined.", ctx)
    if given and (question or save):
        raise failures.WrongUsage(f"{given[0]} takes no question and saves nothing.", ctx)
    if replay is not None:
        return running.replay(replay, as_json=as_json, traces=trace)
    wanted = running.wanted(ctx, chain, model, bounds, asking, reach)
    if dry_run:
        return running.dry_run(wanted, as_json=as_json)
    if questions is not None:
        from .running.ask import evaluating

        return evaluating.evaluate(wanted, questions, as_json=as_json, traces=trace)
    text = _question(ctx, question)
    if text is None:
        return _talk(ctx, wanted, as_json=as_json, traces=trace, save=save)
    return running.ask_once(wanted, text, as_json=as_json, traces=trace, save=save)


def _question(ctx: click.Context, words: tuple[str, ...]) -> str | None:
    """From the command line, or else from a pipe; None: a person sits at a terminal. Raises: WrongUsage."""
    # A word that is not UTF-8 has half characters, which JSON does not.
    text = " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    if not words or text == "-":
        if text != "-" and sys.stdin is not None and sys.stdin.isatty():
            return None
        text = _piped().strip()
    if not text:
        raise failures.WrongUsage("There is no question.", ctx)
    most = DEFAULT.question_chars
    if len(text) > most:
        raise failures.WrongUsage(f"The question is longer than {most:,} characters.", ctx)
    return text


def _piped() -> str:
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read(4 * DEFAULT.question_chars + 1).decode("utf-8", "replace")


def _talk(ctx: click.Context, wanted: Wanted, *, as_json: bool, traces: bool, save: str | None) -> int:
    from .running.ask import talking

    if as_json:
        raise failures.WrongUsage("--json needs a question.", ctx)
    return talking.talk(wanted, traces=traces, save=save)
