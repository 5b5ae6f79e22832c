"""What a decorated function asks for: arguments of the caller, the request's context, things of the server."""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

from msgspec import Struct

from ..context import Context

_PLAIN = (str, int, float, bool, bytes, list, tuple, set, dict, Struct, types.NoneType)


def _is_service(annotation: Any) -> bool:
    """A class that no JSON value could be: only the server can supply one."""
    return inspect.isclass(annotation) and annotation is not Any and not issubclass(annotation, _PLAIN)


class Signature:
    """A function's parameters, sorted by who supplies them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        hints = get_type_hints(function, include_extras=True)
        self.function = function
        self.returns = hints.get("return", inspect.Signature.empty)
        self.is_async = inspect.iscoroutinefunction(function)
        self.arguments: dict[str, inspect.Parameter] = {}
        self._services: dict[str, type] = {}
        self._context: str | None = None
        for name, parameter in inspect.signature(function).parameters.items():
            annotation = hints.get(name, str)
            if annotation is Context:
                self._context = name
            elif _is_service(annotation):
                self._services[name] = annotation
            else:
                self.arguments[name] = parameter.replace(annotation=annotation)

    @property
    def wants_context(self) -> bool:
        return self._context is not None

    @property
    def description(self) -> str:
        """The docstring on one line.

        Raises: TypeError if there is none.
        """
        text = inspect.getdoc(self.function)
        if not text:
            raise TypeError(f"{self.function.__name__} needs a docstring: it is what a model reads")
        return " ".join(text.split())

    def whole_struct(self) -> type[Struct] | None:
        """The Struct that takes all arguments at once, if the function has one."""
        if list(self.arguments) != ["args"]:
            return None
        annotation = self.arguments["args"].annotation
        return annotation if inspect.isclass(annotation) and issubclass(annotation, Struct) else None

    def bind(self, provided: Sequence[object]) -> Callable[[Mapping[str, Any], Context | None], Any]:
        """The function with what the server provides filled in.

        Raises: TypeError if the server lacks something.
        """
        function, context_name = self.function, self._context
        services = {name: self._find(wanted, provided) for name, wanted in self._services.items()}

        def call(arguments: Mapping[str, Any], context: Context | None) -> Any:
            if context_name is None:
                return function(**arguments, **services)
            return function(**arguments, **services, **{context_name: context})

        def call_plainly(arguments: Mapping[str, Any], context: Context | None) -> Any:
            return function(**arguments)

        return call if services or context_name is not None else call_plainly

    def _find(self, wanted: type, provided: Sequence[object]) -> object:
        for candidate in provided:
            if isinstance(candidate, wanted):
                return candidate
        raise TypeError(
            f"{self.function.__name__} needs a {wanted.__name__}, which this server does not provide"
        )
