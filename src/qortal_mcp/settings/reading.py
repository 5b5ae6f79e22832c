"""Groups of options from flags, the environment and a file: a flag beats a variable, a variable the file, that the default."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from .file import NO_FILE, ConfigOptions, SettingsFile, read_file
from .option import Option, Options, WrongSetting, options_of
from .serving import NodeOptions
from .variables import (
    CACHE_PASSWORD_VARIABLE,
    OLD_VARIABLES,
    PREFIX,
    SERVER_TOKEN_VARIABLE,
    TEST_VARIABLES,
    TOKEN_VARIABLE,
)

_Group = TypeVar("_Group", bound=Options)

# Either may be given, but not both from the same source.
_EITHER_OR = (("node", "sample"),)
# Suggestions less similar than this are not shown.
_LIKENESS = 0.6


class _Given(NamedTuple):
    """A value, and where it comes from: of two that cannot be combined, the one of the higher rank counts."""

    value: Any
    source: str
    rank: int


def read(
    group: type[_Group], flags: Mapping[str, Any], environ: Mapping[str, str], file: SettingsFile = NO_FILE
) -> _Group:
    """A group from the flags that were given (by field name), the environment and a file.

    Raises: WrongSetting.
    """
    given: dict[str, _Given] = {}
    for option in options_of(group):
        found = _given(option, flags, environ, file)
        if found is not None:
            given[option.field] = found._replace(value=_converted(option, found.value, found.source))
    for pair in _EITHER_OR:
        _settle(pair, given)
    return group(**{field: found.value for field, found in given.items()})


def _given(
    option: Option, flags: Mapping[str, Any], environ: Mapping[str, str], file: SettingsFile
) -> _Given | None:
    if option.field in flags:
        return _Given(flags[option.field], option.flag, 4)
    if text := environ.get(option.variable, "").strip():
        return _Given(_listed(option, text), option.variable, 3)
    if option.field in file.values:
        value = file.values[option.field]
        one_of_several = option.repeatable and isinstance(value, str)
        rank = 2 if option.field in file.own else 1
        return _Given([value] if one_of_several else value, f"{option.flag[2:]} in {file.name}", rank)
    return None


def _listed(option: Option, text: str) -> Any:
    return [part for piece in text.split(",") if (part := piece.strip())] if option.repeatable else text


def _converted(option: Option, raw: Any, source: str) -> Any:
    if option.choices and isinstance(raw, str):
        raw = raw.lower()
    texts = [text for text in (raw if isinstance(raw, list | tuple) else [raw]) if isinstance(text, str)]
    if not all(map(_is_encodable, texts)):
        raise WrongSetting(f"{source} must be valid UTF-8.")
    for pattern, why in option.refused.items():
        if any(re.search(pattern, text) for text in texts):
            raise WrongSetting(f"{source} {why}.")
    try:
        return msgspec.convert(raw, option.kind, strict=False)
    except msgspec.ValidationError:
        raise WrongSetting(f"{source} must be {option.expected}.") from None


def _is_encodable(text: str) -> bool:
    """Bytes that are not UTF-8 come as what cannot be written again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _settle(pair: tuple[str, str], given: dict[str, _Given]) -> None:
    """If two settings cannot be combined, a flag beats a variable, and a variable the file."""
    first, second = (given.get(name) for name in pair)
    if first is None or second is None or not (first.value and second.value):
        return
    if first.rank == second.rank:
        raise WrongSetting(f"{first.source} and {second.source} cannot be combined; give one of them.")
    del given[pair[0] if first.rank < second.rank else pair[1]]


def read_settings_file(
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    command: str,
    commands: Collection[str] | None = None,
) -> SettingsFile:
    """What the file that was named sets for a command; nothing if none was. Raises: WrongSetting."""
    name = read(ConfigOptions, flags, environ).config
    if name is None:
        return NO_FILE
    fields = {option.field for group in _all_groups() for option in options_of(group)}
    return read_file(name, command, fields, commands)


def _all_groups() -> tuple[type[Options], ...]:
    from .groups import GROUPS  # not needed to start, unless something is set

    return GROUPS


def known_variables() -> tuple[str, ...]:
    """Every variable with our prefix that is read."""
    ours = (option.variable for group in _all_groups() for option in options_of(group))
    secret = (TOKEN_VARIABLE, SERVER_TOKEN_VARIABLE, CACHE_PASSWORD_VARIABLE)
    return (*dict.fromkeys(ours), *secret, *TEST_VARIABLES)


def refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """A misspelt variable would otherwise be a setting that silently does nothing.

    Raises: WrongSetting, naming the variable and the nearest existing one, if any is similar.
    """
    for sentence in _unknown_variables(environ).values():
        raise WrongSetting(sentence)


def wrong_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables with our prefix that do not exist or have a wrong value, each with a sentence that names it."""
    found = _unknown_variables(environ)
    for group in _all_groups():
        for option in options_of(group):
            if sentence := _refusal(group, environ, option.variable):
                found[option.variable] = sentence
    for pair in _EITHER_OR:
        one, other = (PREFIX + name.upper() for name in pair)
        if not {one, other} & found.keys() and (sentence := _refusal(NodeOptions, environ, one, other)):
            found[other] = sentence
    return found


def _refusal(group: type[Options], environ: Mapping[str, str], *names: str) -> str:
    """What is wrong with these variables; empty if nothing is."""
    try:
        read(group, {}, {name: environ[name] for name in names if name in environ})
    except WrongSetting as exc:
        return str(exc)
    return ""


def _unknown_variables(environ: Mapping[str, str]) -> dict[str, str]:
    ours = [name for name in sorted(environ) if name.startswith(PREFIX)]
    known = known_variables() if ours else ()
    return {
        name: f"Unknown variable {name}. {_instead_of(name, known)}" for name in ours if name not in known
    }


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
