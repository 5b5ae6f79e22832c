"""Prompts: questions ready to ask, and completion of their arguments. One decorated function each."""

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct

from ...protocol import errors
from ...protocol.messages import (
    GetPromptResult,
    PromptArgument,
    PromptDefinition,
    PromptMessage,
    TextContent,
)
from ..private_keys import looks_secret
from .functions import Signature


class Prompt:
    """A function that writes the messages of a prompt. Its parameters are texts."""

    def __init__(self, function: Callable[..., Any], *, title: str | None = None) -> None:
        self.signature = Signature(function)
        self.name = function.__name__
        self.definition = PromptDefinition(
            name=self.name,
            title=title or UNSET,
            description=self.signature.description,
            arguments=[_argument(name, p) for name, p in self.signature.arguments.items()] or UNSET,
        )

    def check(self, given: Mapping[str, str]) -> None:
        """Raises: ProtocolError where a required argument is missing, one is unknown, too long, or looks secret."""
        known = self.signature.arguments
        for name, parameter in known.items():
            if parameter.default is inspect.Parameter.empty and name not in given:
                raise errors.ProtocolError(errors.INVALID_PARAMS, f"The prompt needs the argument {name}")
        unknown = sorted(set(given) - set(known))
        if unknown:
            valid = ", ".join(known) or "none"
            raise errors.ProtocolError(errors.INVALID_PARAMS, f"Unknown prompt argument. Valid ones: {valid}")
        for name, text in given.items():
            _check_text(name, text, typing.get_args(known[name].annotation)[1:])

    def result(self, value: Any) -> GetPromptResult:
        if isinstance(value, str):
            value = [PromptMessage(role="user", content=TextContent(text=value))]
        return GetPromptResult(description=self.definition.description, messages=list(value))


def _check_text(name: str, text: str, metas: Sequence[Any]) -> None:
    """Its `Meta` may bound a text's length, and say with `extra={"key": True}` that it is a key, hash or signature."""
    longest = [meta.max_length for meta in metas if getattr(meta, "max_length", None) is not None]
    if longest and len(text) > min(longest):
        raise errors.ProtocolError(
            errors.INVALID_PARAMS, f"The argument {name} takes at most {min(longest)} characters"
        )
    is_key = any((getattr(meta, "extra", None) or {}).get("key") for meta in metas)
    if looks_secret(text, may_be_raw=is_key):
        raise errors.ProtocolError(
            errors.INVALID_PARAMS,
            f"The argument {name} looks like a key or a seed phrase. Never share private ones with anyone.",
        )


def _argument(name: str, parameter: inspect.Parameter) -> PromptArgument:
    described = UNSET
    for meta in typing.get_args(parameter.annotation)[1:]:
        described = getattr(meta, "description", None) or UNSET
    required = parameter.default is inspect.Parameter.empty
    return PromptArgument(name=name, description=described, required=required)


@typing.overload
def prompt(title: Callable[..., Any], /) -> Prompt: ...
@typing.overload
def prompt(title: str | None = None, /) -> Callable[[Callable[..., Any]], Prompt]: ...
def prompt(title: str | Callable[..., Any] | None = None, /) -> Any:
    """Make a prompt of a function that returns a text or a list of messages."""
    if callable(title):
        return Prompt(title)
    return lambda function: Prompt(function, title=title)


class Completer(Struct, frozen=True):
    """Suggests values for one argument of a prompt, or one variable of a resource template."""

    of: str
    argument: str
    # From what was typed so far and the arguments already chosen, best first.
    suggest: Callable[..., Any]

    def bind(self, provided: Sequence[object]) -> "Completer":
        """This completer with what its function needs from a server."""
        call = Signature(self.suggest).bind(provided)
        names = tuple(Signature(self.suggest).arguments)

        def suggest(typed: str, chosen: Mapping[str, str]) -> Any:
            return call(dict(zip(names, (typed, chosen), strict=True)), None)

        return Completer(self.of, self.argument, suggest)


def completer(of: str, argument: str) -> Callable[[Callable[..., Any]], Completer]:
    """Make a completer of a function that takes what was typed and what was chosen, in this order.

    `of` is a prompt's name or a resource template.
    """
    return lambda function: Completer(of, argument, function)
