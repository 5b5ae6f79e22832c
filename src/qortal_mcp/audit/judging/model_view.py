"""What each client hands to its model of a call: from the measured rules, and from who breaks on what was found."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ...protocol.versions import LEGACY, MODERN
from ..subjects import MISSING, Called, Failed, Subject, Tool
from .clients import Outcome, impact
from .finding import View, shown

_SHOWN_CHARS = 120
Gets = tuple[str, str]


def _text(call: Called) -> Gets:
    text = "\n".join(call.texts)
    if text:
        return "text", text
    return ("blocks", f"{len(call.blocks)} other blocks") if call.blocks else ("nothing", "")


def _structured(call: Called) -> Gets:
    value = call.result.get("structuredContent")
    return ("structured", _json(value)) if value is not None else _text(call)


def _structured_unless_error(call: Called) -> Gets:
    return _text(call) if call.is_error else _structured(call)


def _both(call: Called) -> Gets:
    value = call.result.get("structuredContent", MISSING)
    how, text = _text(call)
    return (how, text) if value is MISSING else ("structured and text", _json(value))


class _Rule(NamedTuple):
    client: str
    reads: Callable[[Called], Gets]
    # Whether the model or program learns that a result is an error.
    flags_errors: bool


# Which half each client reads, as measured.
RULES = (
    _Rule("Codex CLI", _structured, False),
    _Rule("Claude Code", _structured_unless_error, True),
    _Rule("Gemini CLI", _text, True),
    _Rule("TypeScript SDK v1", _both, True),
    _Rule("TypeScript SDK v2", _both, True),
    _Rule("Python SDK v1", _both, True),
    _Rule("Python SDK v2", _both, True),
    _Rule("FastMCP", _both, True),
    _Rule("Vercel AI SDK", _text, False),
    _Rule("openai-agents", _text, False),
    _Rule("pydantic-ai", _structured, True),
    _Rule("LangChain adapters", _text, True),
)
_BROKEN: dict[Outcome, str] = {
    "server unusable": "nothing",
    "tool missing": "nothing",
    "hangs": "hang",
    "call fails": "error",
    "garbage": "garbage",
}
_WORST: tuple[Outcome, ...] = ("server unusable", "tool missing", "hangs", "call fails", "garbage")
# What one bad tool, or a bad handshake, does to all the others.
_SPREADS: frozenset[Outcome] = frozenset({"server unusable", "hangs"})
_WORDS: dict[Outcome, str] = {
    "server unusable": "no tool of this server is offered",
    "tool missing": "the tool is not offered",
    "hangs": "nothing until the client gives up",
}


def views_of(subjects: Sequence[Subject], seen: Iterable[tuple[str, str, Subject]]) -> tuple[View, ...]:
    """One view for each called tool and client, in the newest handshake revision it was called in."""
    found = _Found(seen)
    views = []
    for call in _newest(subjects):
        breaks = found.breaks(call)
        for rule in RULES:
            views.append(_view(call, rule, breaks.get(rule.client)))
    return tuple(views)


def _newest(subjects: Sequence[Subject]) -> list[Called | Failed]:
    order = (*MODERN, *LEGACY)
    newest: dict[str, Called | Failed] = {}
    for one in subjects:
        if isinstance(one, Called | Failed) and one.revision in order:
            held = newest.get(one.step.subject)
            if held is None or order.index(one.revision) > order.index(held.revision):
                newest[one.step.subject] = one
    return list(newest.values())


# What a client does before it calls anything.
_ON_THE_WAY = ("initialize", "tools/list", "notifications/initialized")


_impact = lru_cache(maxsize=1_000)(impact)
_Worst = dict[str, tuple[Outcome, str]]
# The codes and cases that were found, each once: a list may have 60,000 bad tools.
_Kinds = dict[tuple[str, str], None]


class _Found:
    """What was found, by what it breaks: a call or its tool, or everything on the way to all calls of a visit."""

    def __init__(self, seen: Iterable[tuple[str, str, Subject]]) -> None:
        self._of_tool: dict[tuple[int, str], _Kinds] = {}
        self._of_step: dict[tuple[int, int], _Kinds] = {}
        self._on_the_way: dict[int, _Kinds] = {}
        self._spread: dict[int, _Worst] = {}
        for code, case, subject in seen:
            visit = id(subject.visit)
            kind = (code, case)
            if isinstance(subject, Tool):
                self._of_tool.setdefault((visit, subject.label), {})[kind] = None
            else:
                self._of_step.setdefault((visit, id(subject.step)), {})[kind] = None
            if subject.step.name in _ON_THE_WAY:
                self._on_the_way.setdefault(visit, {})[kind] = None

    def breaks(self, call: Called | Failed) -> _Worst:
        """The worst that happens to each client: by the call itself, by its tool, or on the way to it."""
        visit = id(call.visit)
        if visit not in self._spread:
            self._spread[visit] = _worst({}, self._on_the_way.get(visit, {}), call.is_modern, _SPREADS)
        mine = self._of_tool.get((visit, call.step.subject), {}) | self._of_step.get(
            (visit, id(call.step)), {}
        )
        return _worst(self._spread[visit], mine, call.is_modern, frozenset(_WORST))


def _worst(held: _Worst, kinds: _Kinds, modern: bool, counted: frozenset[Outcome]) -> _Worst:
    worst = dict(held)
    for code, case in kinds:
        for one in _impact(code, case, modern=modern):
            before = worst.get(one.client)
            if one.outcome in counted and (
                before is None or _WORST.index(one.outcome) < _WORST.index(before[0])
            ):
                worst[one.client] = (one.outcome, one.seen)
    return worst


def _view(call: Called | Failed, rule: _Rule, broken: tuple[Outcome, str] | None) -> View:
    if broken is not None:
        outcome, words = broken
        gets, shows = _BROKEN[outcome], _WORDS.get(outcome) or words
    elif isinstance(call, Failed):
        error = call.error if isinstance(call.error, dict) else {}
        gets, shows = "error", str(error.get("message", ""))
    elif not isinstance(call.result, dict):
        gets, shows = "nothing", ""
    else:
        gets, shows = rule.reads(call)
        if call.is_error:
            gets = "error" if rule.flags_errors else f"{gets} (as if it were a success)"
    return View(
        tool=shown(call.step.subject, 100),
        revision=call.revision,
        client=rule.client,
        gets=gets,
        shows=shown(shows, _SHOWN_CHARS),
        failed=_failure(call),
    )


def _failure(call: Called | Failed) -> str:
    """The server's words about a call that failed; empty where it did not."""
    if isinstance(call, Failed):
        words = call.error.get("message", "") if isinstance(call.error, dict) else call.error
    elif call.is_error:
        words = "\n".join(call.texts)
    else:
        return ""
    return shown(words, _SHOWN_CHARS) or "(nothing)"


def _json(value: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except (ValueError, RecursionError, TypeError):
        return ""
