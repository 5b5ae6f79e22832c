"""Prompts: questions ready to ask, and completion of their arguments. One decorated function each."""

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from ...protocol import errors
from ...protocol.messages import (
    GetPromptResult,
    PromptArgument,
    PromptDefinition,
    PromptMessage,
    TextContent,
)
from ..context import Context
from ..input.private_keys import looks_secret
from ..tool_errors import ToolError
from .functions import Signature

if TYPE_CHECKING:
    from ..kinds.texts import Texts


class Prompt:
    """A function that writes the messages of a prompt. Its parameters are texts."""

    def __init__(
        self, function: Callable[..., Any], *, title: str | None = None, quick: bool = False
    ) -> None:
        self.signature = Signature(function)
        self.blocks = self.signature.blocks and not quick
        self.name = function.__name__
        self._texts = _reader(function.__name__, self.signature)
        self.definition = PromptDefinition(
            name=self.name,
            title=title or UNSET,
            description=self.signature.description,
            arguments=_arguments(self.signature, self._texts) or UNSET,
        )

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself, for whoever wants to call it without a server."""
        return self.signature.function(*arguments, **named)

    def read(self, given: Mapping[str, str]) -> Mapping[str, Any]:
        """The values for the function.

        Raises: ProtocolError where a required argument is missing, one is unknown, does not fit, or looks secret.
        """
        if self._texts is None:
            self._check(given)
            return given
        try:
            return self._texts.read(given)
        except ToolError as exc:
            raise errors.ProtocolError(errors.INVALID_PARAMS, str(exc)) from None

    def _check(self, given: Mapping[str, str]) -> None:
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
    is_key = any((getattr(meta, "extra", None) or {}).get("key") is True for meta in metas)
    if looks_secret(text, may_be_raw=is_key):
        raise errors.ProtocolError(
            errors.INVALID_PARAMS,
            f"The argument {name} looks like a key or a seed phrase. Never share private ones with anyone.",
        )


def _reader(function: str, signature: Signature) -> "Texts | None":
    from ..kinds.texts import texts_of  # not needed to start

    return texts_of(function, signature.arguments)


def _arguments(signature: Signature, texts: "Texts | None") -> list[PromptArgument]:
    if texts is None:
        return [_argument(name, parameter) for name, parameter in signature.arguments.items()]
    return [
        PromptArgument(
            name=name, description=texts.described(name) or UNSET, required=texts.is_required(name)
        )
        for name in texts.names
    ]


def _argument(name: str, parameter: inspect.Parameter) -> PromptArgument:
    described = UNSET
    for meta in typing.get_args(parameter.annotation)[1:]:
        described = getattr(meta, "description", None) or UNSET
    required = parameter.default is inspect.Parameter.empty
    return PromptArgument(name=name, description=described, required=required)


@typing.overload
def prompt(title: Callable[..., Any], /) -> Prompt: ...
@typing.overload
def prompt(title: str | None = None, /, *, quick: bool = False) -> Callable[[Callable[..., Any]], Prompt]: ...
def prompt(title: str | Callable[..., Any] | None = None, /, *, quick: bool = False) -> Any:
    """Make a prompt of a function that returns a text or a list of messages. `quick` is as for a tool."""
    if callable(title):
        return Prompt(title, quick=quick)
    return lambda function: Prompt(function, title=title, quick=quick)


class Completer(Struct, frozen=True):
    """Suggests values for one argument of a prompt, or one variable of a resource template."""

    of: str
    argument: str
    # From what was typed so far and the arguments already chosen, best first.
    suggest: Callable[..., Any]
    quick: bool = False

    def bind(self, provided: Sequence[object]) -> "BoundCompleter":
        """This completer with what its function needs from a server."""
        signature = Signature(self.suggest)
        call = signature.bind(provided)
        names = tuple(signature.arguments)

        def suggested(typed_and_chosen: Any, context: Context | None) -> Any:
            return call(dict(zip(names, typed_and_chosen, strict=True)), context)

        return BoundCompleter(suggested, signature.blocks and not self.quick)


class BoundCompleter(Struct, frozen=True):
    """A completer in a server: takes what was typed and what was chosen as a pair."""

    suggested: Callable[[Any, Context | None], Any]
    blocks: bool


def completer(of: str, argument: str, *, quick: bool = False) -> Callable[[Callable[..., Any]], Completer]:
    """Make a completer of a function that takes what was typed and what was chosen, in this order.

    `of` is a prompt's name or a resource template. `quick` is as for a tool.
    """
    return lambda function: Completer(of, argument, function, quick)
