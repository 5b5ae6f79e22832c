"""A tool is one decorated function: its types are its schemas, its docstring is its description.

    @tool("Greeting")
    def hello(name: str) -> str:
        "Greets a person. Use it when someone asks to be greeted."
        return f"Hello, {name}!"

A parameter `args` of a Struct type takes all arguments at once; a `Context` parameter gets the current
request; any other class is an object that the server provides (`Offer(provide=[...])`). `@tool` returns a record
and registers nothing: the server's list of tools does.
"""

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypedDict, Unpack

import msgspec
from msgspec import UNSET, Raw, Struct

from ...limits import Limits
from ...protocol import headers
from ...protocol.decoding import decode, decoder
from ...protocol.messages import TextContent, ToolAnnotations, ToolDefinition
from ...protocol.results import content_result, structured_result
from ...protocol.versions import STRUCTURED
from ..context import Context
from ..input.arguments import Arguments
from ..tool_errors import invalid_argument, too_large
from .content import blocks_of, is_content
from .functions import Signature
from .schema import is_object_schema, schema_of, wrapped


def _write(value: Any) -> Any:
    from ..kinds import hooks  # what knows types is not needed to start, here and below

    return hooks.write(value)


_encode = msgspec.json.Encoder(enc_hook=_write).encode

READ_ONLY = ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=True)


class Answering(Struct, frozen=True):
    """How a tool's return value becomes a result; decided once, from the declared type."""

    schema: dict[str, Any] | None
    wraps: bool
    decode: Callable[[bytes], Any] | None
    has_notes: bool
    encode: Callable[[Any], bytes] = _encode


class Tool:
    """Everything about one tool that does not depend on a server."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | Mapping[str, bool] | None = None,
        listed: bool = True,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        quick: bool = False,
    ) -> None:
        self.signature = Signature(function)
        self.blocks = self.signature.blocks and not quick
        self.begins_at_once = self.signature.is_async and quick and not self.signature.wants_context
        self.name = name or function.__name__
        self.title = title
        self.description = description or self.signature.description
        self.annotations = _annotations(self.name, annotations)
        self.listed = listed
        self.answering = _answering_of(function.__name__, self.signature.returns, output_schema)
        self._input_schema = None if input_schema is None else dict(input_schema)
        self._struct = None if input_schema is not None else _struct_of(function.__name__, self.signature)

    def bind(self, provided: Sequence[object], synonyms: Mapping[str, str] | None = None) -> "BoundTool":
        """This tool with what it needs from a server.

        Raises: TypeError if the server does not provide it.
        """
        arguments = self._arguments
        if isinstance(arguments, Arguments):
            arguments = arguments.with_synonyms(synonyms)
        return BoundTool(self, arguments, provided)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself, for whoever wants to call it without a server."""
        return self.signature.function(*arguments, **named)

    @cached_property
    def _arguments(self) -> "Arguments | SchemaArguments":
        if self._struct is None:
            assert self._input_schema is not None, "a tool without a Struct has a schema"
            return SchemaArguments(self._input_schema)
        from ..kinds.parameters import advice

        try:
            return Arguments(self._struct)
        except TypeError as exc:
            said = f"{self._struct.__name__} cannot be read from JSON: {advice(exc)}"
            raise TypeError(f"{self.signature.function.__name__}: {said}") from None

    @cached_property
    def definition(self) -> ToolDefinition:
        """What the tool says of itself in `tools/list`."""
        return ToolDefinition(
            name=self.name,
            title=self.title or UNSET,
            description=self.description,
            inputSchema=self._arguments.schema,
            outputSchema=self.answering.schema or UNSET,
            annotations=self.annotations or UNSET,
        )


class SchemaArguments:
    """Reads arguments by a schema that a person wrote. Needs the extra `schemas`."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self._validator = validator_of(schema)

    def read(self, raw: Raw | None) -> tuple[dict[str, Any], list[str]]:
        value = {} if raw is None else decode(raw)
        try:
            error = next(self._validator.iter_errors(value), None)
        except ValueError:
            raise invalid_argument("Invalid arguments.", "They are nested too deeply.") from None
        if error is not None:
            where = "/".join(str(part) for part in error.instance_path)
            raise invalid_argument(f"Invalid {where or 'arguments'}.", "It does not fit the tool's schema.")
        return value, []


def validator_of(schema: Mapping[str, Any]) -> Any:
    """A validator for a hand-written schema; nothing it refers to is ever fetched."""
    import jsonschema_rs  # only servers with such schemas pay for it

    def refuse(uri: str) -> Any:
        raise ValueError(f"a schema may not refer to {uri}")

    return jsonschema_rs.Draft202012Validator(dict(schema), retriever=refuse)


class BoundTool:
    """A tool in a server: reads arguments, calls, and makes the result of the value."""

    def __init__(
        self, tool: Tool, arguments: Arguments | SchemaArguments, provided: Sequence[object]
    ) -> None:
        signature = tool.signature
        self.tool = tool
        self.name = tool.name
        self.is_async = signature.is_async
        self.blocks = tool.blocks
        self.begins_at_once = tool.begins_at_once
        self.wants_context = signature.wants_context
        self.read_arguments = arguments.read
        self._names = tuple(signature.arguments)
        self._takes_struct = signature.whole_struct() is not None
        self._call = signature.bind(provided)
        self.header_params = headers.header_params(arguments.schema)

    def definition_for(self, revision: str) -> ToolDefinition:
        """As listed: before 2025-06-18 a value that would need wrapping is text, so it has no schema."""
        if self.tool.answering.wraps and revision < STRUCTURED:
            return msgspec.structs.replace(self.tool.definition, outputSchema=UNSET)
        return self.tool.definition

    def call(self, arguments: Any, context: Context | None) -> Any:
        """Run the function; a coroutine if it is async."""
        if self._takes_struct:
            return self._call({"args": arguments}, context)
        if isinstance(arguments, dict):  # read by a hand-written schema
            return self._call({n: arguments[n] for n in self._names if n in arguments}, context)
        return self._call({n: getattr(arguments, n) for n in self._names}, context)

    def checked(self, value: Any, limits: Limits) -> bytes:
        """What the function returned as JSON, as it declared it and no larger than an answer may be.

        Raises: as `result` does.
        """
        answering = self.tool.answering
        body = answering.encode(value)
        if answering.decode is not None:
            answering.decode(body)
        if len(body) > limits.result_bytes:
            raise too_large()
        return body

    def result(self, value: Any, notes: list[str], revision: str, limits: Limits) -> bytes:
        """The `tools/call` result of what the function returned.

        Raises: ToolError if it is too large; ValidationError if it breaks its own schema.
        """
        answering = self.tool.answering
        if answering.schema is None and (found := blocks_of(value, _encode)) is not None:
            body = content_result(found[0], revision, found[1])
            if len(body) > limits.content_bytes:
                raise too_large()
            return body
        if notes and answering.has_notes:
            own = value.notes
            value = msgspec.structs.replace(value, notes=notes if own is UNSET else [*notes, *own])
        body = self.checked(value, limits)
        if not answering.wraps and body[:1] == b"{":
            return structured_result(body)
        return _plain_result(value, body, answering, revision)


def _plain_result(value: Any, body: bytes, answering: Answering, revision: str) -> bytes:
    """A value that is not an object: as text, and wrapped if the tool declared it."""
    if value is None and answering.schema is None:
        return content_result((), revision)
    text = TextContent(text=value if isinstance(value, str) else body.decode())
    if answering.wraps and revision >= STRUCTURED:
        return content_result((text,), revision, b'{"result":%b}' % body)
    return content_result((text,), revision)


class ToolOptions(TypedDict, total=False):
    """What can be said of a tool besides its title."""

    name: str | None
    title: str | None
    # Instead of the docstring.
    description: str | None
    annotations: ToolAnnotations | Mapping[str, bool] | None
    listed: bool
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    quick: bool


@typing.overload
def tool(title: Callable[..., Any], /) -> Tool: ...
@typing.overload
def tool(
    title: str | None = None, /, **options: Unpack[ToolOptions]
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(title: str | Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a tool of a function, bare or with a title.

    A tool that changes nothing says so with `annotations=READ_ONLY`: clients then need not ask before calling it.
    A plain function runs in a thread. One that never waits for anything can be `quick`: it then runs at once, which
    costs less, and everybody else waits for it. An async one that is `quick` runs at once until it first waits, and then
    goes on in a task: whatever needs a task, as `asyncio.timeout` does, must not come before that.
    """
    if callable(title):
        return Tool(title, **options)
    if title is not None:
        options["title"] = title
    return lambda function: Tool(function, **options)


def _annotations(tool: str, given: ToolAnnotations | Mapping[str, bool] | None) -> ToolAnnotations | None:
    """Raises: TypeError if a client could not read them."""
    if given is None or isinstance(given, ToolAnnotations):
        return given
    known = ToolAnnotations.__struct_fields__
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise TypeError(f"{tool}: annotations are READ_ONLY, or some of {', '.join(known)}")
    if not all(isinstance(value, bool) for value in given.values()):
        raise TypeError(f"{tool}: each annotation is True or False")
    return ToolAnnotations(**given)


def titled(function: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is, or one made of a plain function, with a title from its name."""
    if isinstance(function, Tool):
        return function
    name = getattr(function, "__name__", type(function).__name__)
    return Tool(function, title=name.replace("_", " ").strip().capitalize())


def _struct_of(function: str, signature: Signature) -> type[Struct]:
    """Raises: TypeError if callers could not write what a parameter takes."""
    from ..kinds.parameters import struct_of
    from ..kinds.recognising import pydantic_in

    struct = signature.whole_struct()
    if signature.untyped:
        name = signature.untyped[0]
        raise TypeError(
            f"{function}: the parameter {name} has no type, and callers need to know it: write {name}: str, for example, "
            f"or {name}: Any if it takes any value"
        )
    if struct is None:
        return struct_of(function, signature.arguments)
    if not struct.__struct_config__.forbid_unknown_fields:
        raise TypeError(f"{struct.__name__} must forbid unknown fields, so that a typo is an error")
    if pydantic_in(struct).mixed:
        raise TypeError(
            f"{function}: {struct.__name__} is a Struct, so write msgspec's Meta instead of pydantic's Field"
        )
    return struct


def _answering_of(function: str, declared: Any, output_schema: Mapping[str, Any] | None) -> Answering:
    from ..kinds.parameters import advice

    try:
        return _answering(declared, output_schema)
    except TypeError as exc:
        raise TypeError(f"{function}: what it returns cannot be written as JSON: {advice(exc)}") from None


def _answering(declared: Any, output_schema: Mapping[str, Any] | None) -> Answering:
    if output_schema is not None:
        schema = dict(output_schema)
        return Answering(schema, False, _judge(schema), False)
    if declared is inspect.Signature.empty or declared in (None, types.NoneType) or is_content(declared):
        return Answering(None, False, None, False)
    if declared is Any or declared is dict or declared is object:
        return Answering(None, False, None, False)
    from ..kinds import hooks
    from ..kinds.recognising import pydantic_in

    found = pydantic_in(declared)
    if found.needs_pydantic and found.struct is None:
        return _answering_by_pydantic(declared)
    if found.mixed:
        raise TypeError(
            f"{found.mixed.__name__} is a Struct, so write msgspec's Meta instead of pydantic's Field"
        )
    schema = schema_of(declared)
    has_notes = (
        inspect.isclass(declared) and issubclass(declared, Struct) and "notes" in declared.__struct_fields__
    )
    # What a model of pydantic writes need not be what it reads: the schema judges.
    read = _judge(schema) if found.needs_pydantic else decoder(declared, hooks.read)
    if is_object_schema(schema):
        return Answering(schema, False, read, has_notes)
    return Answering(wrapped(schema), True, read, False)


def _answering_by_pydantic(declared: Any) -> Answering:
    from ..kinds.pydantic_types import Answer

    answer = Answer(declared)
    wraps = not is_object_schema(answer.schema)
    schema = wrapped(answer.schema) if wraps else answer.schema
    return Answering(schema, wraps, None, False, answer.write)


def _judge(schema: Mapping[str, Any]) -> Callable[[bytes], Any]:
    check = validator_of(schema)
    return lambda body: check.validate(decode(body))
