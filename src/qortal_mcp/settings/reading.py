"""Groups of options from flags and the environment. A flag beats a variable, a variable beats the default."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

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
from .option import Option, Options, WrongSetting, options_of
from .serving import ListenOptions, LogOptions, NodeOptions, SampleNodeOptions
from .variables import OLD_VARIABLES, PREFIX, SERVER_TOKEN_VARIABLE, TEST_VARIABLES, TOKEN_VARIABLE

_Group = TypeVar("_Group", bound=Options)

GROUPS: tuple[type[Options], ...] = (
    NodeOptions,
    ListenOptions,
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
    LogOptions,
)

# Either may be given, but not both from the same source.
_EITHER_OR = (("node", "sample"),)
# Suggestions less similar than this are not shown.
_LIKENESS = 0.6


def read(group: type[_Group], flags: Mapping[str, Any], environ: Mapping[str, str]) -> _Group:
    """A group from the flags that were given (by field name) and the environment.

    Raises: WrongSetting.
    """
    values: dict[str, Any] = {}
    for option in options_of(group):
        if option.field in flags:
            values[option.field] = _converted(option, flags[option.field], option.flag)
        elif text := environ.get(option.variable, "").strip():
            values[option.field] = _converted(option, _listed(option, text), option.variable)
    for pair in _EITHER_OR:
        _settle(pair, values, flags)
    return group(**values)


def _listed(option: Option, text: str) -> Any:
    return [part for piece in text.split(",") if (part := piece.strip())] if option.repeatable else text


def _converted(option: Option, raw: Any, source: str) -> Any:
    if option.choices and isinstance(raw, str):
        raw = raw.lower()
    for pattern, why in option.refused.items():
        if any(re.search(pattern, text) for text in ([raw] if isinstance(raw, str) else raw)):
            raise WrongSetting(f"{source} {why}.")
    try:
        return msgspec.convert(raw, option.kind, strict=False)
    except msgspec.ValidationError:
        raise WrongSetting(f"{source} must be {option.expected}.") from None


def _settle(pair: tuple[str, str], values: dict[str, Any], flags: Mapping[str, Any]) -> None:
    """If two settings cannot be combined, a flag beats a variable."""
    given = [name for name in pair if values.get(name)]
    if len(given) < 2:
        return
    by_variable = [name for name in given if name not in flags]
    if len(by_variable) != 1:
        names = [(f"--{name}" if name in flags else PREFIX + name.upper()) for name in given]
        raise WrongSetting(f"{names[0]} and {names[1]} cannot be combined; give one of them.")
    del values[by_variable[0]]


def known_variables() -> tuple[str, ...]:
    """Every variable with our prefix that is read."""
    ours = (option.variable for group in GROUPS for option in options_of(group))
    return (*dict.fromkeys(ours), TOKEN_VARIABLE, SERVER_TOKEN_VARIABLE, *TEST_VARIABLES)


def refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """A misspelt variable would otherwise be a setting that silently does nothing.

    Raises: WrongSetting, naming the variable and the nearest existing one, if any is similar.
    """
    known = known_variables()
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            raise WrongSetting(f"Unknown variable {name}. {_instead_of(name, known)}")


def _instead_of(name: str, known: Iterable[str]) -> str:
    import difflib  # slow to import, and only needed for a mistake

    # The shared prefix says nothing about which one was meant.
    endings = [variable.removeprefix(PREFIX) for variable in known]
    near = difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1, cutoff=_LIKENESS)
    if near:
        return f"Did you mean {PREFIX}{near[0]}?"
    return "The help of each command names its variables."


def old_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of an earlier server, with what to use instead. Their values are never used."""
    return {
        name: instead
        for name in sorted(environ)
        for beginning, instead in OLD_VARIABLES
        if name.startswith(beginning)
    }
