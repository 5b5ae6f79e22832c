"""What a decorated function asks for: arguments of the caller, the request's context, things of the server."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

from msgspec import Struct

from ..context import Context

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Provided:
    """`Annotated[Settings, Provided]`: the server supplies it, although callers could write such a value."""


class Later:
    """Stands among the provided objects for what only the server's lifespan will bring."""


LATER = Later()


class Signature:
    """A function's parameters, sorted by who supplies them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        from ..kinds.recognising import is_service  # not needed to start

        hints = _hints(function)
        self.function = function
        self.returns = hints.get("return", inspect.Signature.empty)
        self.is_async = inspect.iscoroutinefunction(function)
        # Whether it may hold up whoever calls it: a plain function may do anything.
        self.blocks = not self.is_async
        self.arguments: dict[str, inspect.Parameter] = {}
        # Of these, those that say nothing of their type.
        self.untyped = [name for name in inspect.signature(function).parameters if name not in hints]
        self._services: dict[str, type] = {}
        self._context: str | None = None
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind not in _NAMED:
                raise TypeError(
                    f"{function.__name__} cannot take {parameter}: callers give each argument by its name, so name each parameter"
                )
            if name in ("self", "cls") and name not in hints:
                raise TypeError(_is_a_method(function))
            annotation = hints.get(name, str)
            if annotation is object:
                raise TypeError(
                    f"{function.__name__}: write {name}: Any, of typing, for a parameter that takes any value"
                )
            if annotation is Context:
                self._context = name
            elif Provided in getattr(annotation, "__metadata__", ()):
                self._services[name] = annotation.__origin__
            elif is_service(annotation):
                self._services[name] = annotation
            else:
                self.arguments[name] = parameter.replace(annotation=annotation)

    @property
    def wants_context(self) -> bool:
        return self._context is not None

    @property
    def needs_services(self) -> bool:
        return bool(self._services)

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
        self._refuse_doubt(provided)

        def call(arguments: Mapping[str, Any], context: Context | None) -> Any:
            if context_name is None:
                return function(**arguments, **services)
            return function(**arguments, **services, **{context_name: context})

        def call_plainly(arguments: Mapping[str, Any], context: Context | None) -> Any:
            return function(**arguments)

        return call if services or context_name is not None else call_plainly

    def _refuse_doubt(self, provided: Sequence[object]) -> None:
        kinds = {type(candidate) for candidate in provided}
        for name, parameter in self.arguments.items():
            if inspect.isclass(parameter.annotation) and parameter.annotation in kinds:
                kind = parameter.annotation.__name__
                raise TypeError(
                    f"{self.function.__name__}: callers could write {name} as JSON, and the server provides a {kind}; "
                    f"write Annotated[{kind}, Provided] if the server's is meant"
                )

    def _find(self, wanted: type, provided: Sequence[object]) -> object:
        for candidate in provided:
            if isinstance(candidate, wanted):
                return candidate
        if LATER in provided:
            return LATER
        raise TypeError(
            f"{self.function.__name__} needs a {wanted.__name__}, which this server does not provide"
        )


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Raises: TypeError for what is not a function, or whose types are not known."""
    if inspect.isclass(function) or not hasattr(function, "__name__"):
        what = function.__name__ if inspect.isclass(function) else f"An object of {type(function).__name__}"
        raise TypeError(f"{what} is not a function: write one with def, and use it there")
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as exc:
        written: Mapping[str, Any] = getattr(function, "__annotations__", {})
        where = next((name for name, said in written.items() if str(exc.name) in str(said)), "")
        what = "what it returns" if where == "return" else f"the parameter {where}"
        raise TypeError(
            f"{function.__name__}: the type of {what} cannot be found, since {exc.name} is not defined at the top of the module; "
            "define it there"
        ) from None


def _is_a_method(function: Callable[..., Any]) -> str:
    owner = function.__qualname__.split(".")[-2:][0]
    return (
        f"{function.__name__} is a method, and callers cannot give its object: leave the decorator out, make the object, "
        f"and write server.add_tool({owner}().{function.__name__})"
    )
