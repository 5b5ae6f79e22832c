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
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ...limits import Limits
from ...protocol import headers
from ...protocol.decoding import decode, decoder
from ...protocol.messages import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolAnnotations,
    ToolDefinition,
)
from ...protocol.results import content_result, structured_result
from ...protocol.versions import STRUCTURED
from ..arguments import Arguments
from ..context import Context
from ..tool_errors import invalid_argument, too_large
from .functions import Signature
from .schema import is_object_schema, schema_of, wrapped

_BLOCKS = (TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink)
_encode = msgspec.json.Encoder().encode

READ_ONLY = ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=True)


class Answering(Struct, frozen=True):
    """How a tool's return value becomes a result; decided once, from the declared type."""

    schema: dict[str, Any] | None
    wraps: bool
    decode: Callable[[bytes], Any] | None
    has_notes: bool


class Tool:
    """Everything about one tool that does not depend on a server."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        annotations: ToolAnnotations | None = None,
        listed: bool = True,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
    ) -> None:
        self.signature = Signature(function)
        self.name = name or function.__name__
        self.title = title
        self.description = self.signature.description
        self.annotations = annotations
        self.listed = listed
        self.answering = _answering(self.signature.returns, output_schema)
        self._input_schema = None if input_schema is None else dict(input_schema)
        self._struct = None if input_schema is not None else _arguments_struct(self.name, self.signature)

    def bind(self, provided: Sequence[object], synonyms: Mapping[str, str] | None = None) -> "BoundTool":
        """This tool with what it needs from a server.

        Raises: TypeError if the server does not provide it.
        """
        return BoundTool(self, self._reader(synonyms), provided)

    def _reader(self, synonyms: Mapping[str, str] | None = None) -> "Arguments | SchemaArguments":
        if self._struct is not None:
            return Arguments(self._struct, synonyms)
        assert self._input_schema is not None, "a tool without a Struct has a schema"
        return SchemaArguments(self._input_schema)

    @cached_property
    def definition(self) -> ToolDefinition:
        """What the tool says of itself in `tools/list`."""
        return ToolDefinition(
            name=self.name,
            title=self.title or UNSET,
            description=self.description,
            inputSchema=self._reader().schema,
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
        body = _encode(value)
        if self.tool.answering.decode is not None:
            self.tool.answering.decode(body)
        if len(body) > limits.result_bytes:
            raise too_large()
        return body

    def result(self, value: Any, notes: list[str], revision: str, limits: Limits) -> bytes:
        """The `tools/call` result of what the function returned.

        Raises: ToolError if it is too large; ValidationError if it breaks its own schema.
        """
        answering = self.tool.answering
        blocks = _blocks(value)
        if blocks is not None and answering.schema is None:
            body = content_result(blocks, revision)
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


def _blocks(value: Any) -> Sequence[Content] | None:
    if isinstance(value, _BLOCKS):
        return (value,)
    if isinstance(value, list | tuple) and value and all(isinstance(item, _BLOCKS) for item in value):
        return value
    return None


@typing.overload
def tool(title: Callable[..., Any], /) -> Tool: ...
@typing.overload
def tool(
    title: str | None = None,
    /,
    *,
    name: str | None = None,
    annotations: ToolAnnotations | None = None,
    listed: bool = True,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    title: str | Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    annotations: ToolAnnotations | None = None,
    listed: bool = True,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> Any:
    """Make a tool of a function, bare or with a title.

    A tool that changes nothing says so with `annotations=READ_ONLY`: clients then need not ask before calling it.
    """

    def make(function: Callable[..., Any]) -> Tool:
        return Tool(
            function,
            name=name,
            title=title if isinstance(title, str) else None,
            annotations=annotations,
            listed=listed,
            input_schema=input_schema,
            output_schema=output_schema,
        )

    return make(title) if callable(title) else make


def _arguments_struct(tool_name: str, signature: Signature) -> type[Struct]:
    struct = signature.whole_struct()
    if struct is not None:
        if not struct.__struct_config__.forbid_unknown_fields:
            raise TypeError(f"{struct.__name__} must forbid unknown fields, so that a typo is an error")
        return struct
    fields = [
        (name, parameter.annotation)
        if parameter.default is inspect.Parameter.empty
        else (name, parameter.annotation, parameter.default)
        for name, parameter in signature.arguments.items()
    ]
    return msgspec.defstruct(tool_name, fields, forbid_unknown_fields=True, frozen=True, kw_only=True)


def _answering(declared: Any, output_schema: Mapping[str, Any] | None) -> Answering:
    if output_schema is not None:
        schema = dict(output_schema)
        check = validator_of(schema)
        return Answering(schema, False, lambda body: check.validate(decode(body)), False)
    if declared is inspect.Signature.empty or declared in (None, types.NoneType) or _is_content(declared):
        return Answering(None, False, None, False)
    if declared is Any or declared is dict or declared is object:
        return Answering(None, False, None, False)
    schema = schema_of(declared)
    has_notes = (
        inspect.isclass(declared) and issubclass(declared, Struct) and "notes" in declared.__struct_fields__
    )
    read = decoder(declared)
    if is_object_schema(schema):
        return Answering(schema, False, read, has_notes)
    return Answering(wrapped(schema), True, read, False)


def _is_content(declared: Any) -> bool:
    if declared is Content or declared in _BLOCKS:
        return True
    origin, parts = typing.get_origin(declared), typing.get_args(declared)
    if origin in (list, tuple, Sequence, types.UnionType, typing.Union):
        return bool(parts) and all(part is Ellipsis or _is_content(part) for part in parts)
    return False
