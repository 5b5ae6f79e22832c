"""An unlisted tool that is another tool with preset arguments: what an old name stood for."""

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from ..server.offers.tool import Tool


def preset(tool: Tool, name: str, arguments: Mapping[str, Any]) -> Tool:
    """The tool under an old name, with other defaults.

    Raises: TypeError for a tool that cannot have presets, or an argument that it does not have.
    """
    struct = tool.signature.whole_struct()
    if struct is None or not tool.signature.is_async:
        raise TypeError(f"{tool.name} is not async, or does not take its arguments as one Struct")
    kinds = {field.name: field.type for field in structs.fields(struct)}
    if arguments.keys() - kinds.keys():
        raise TypeError(f"{tool.name} has no arguments {sorted(arguments.keys() - kinds.keys())}")
    given = msgspec.defstruct(
        name,
        [(field, kinds[field], value) for field, value in arguments.items()],
        bases=(struct,),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    function = tool.signature.function

    async def call(**everything: Any) -> Any:
        return await function(**everything)

    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=given) if parameter.name == "args" else parameter
        for parameter in signature.parameters.values()
    ]
    call.__doc__ = function.__doc__
    call.__annotations__ = {**function.__annotations__, "args": given}
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return Tool(call, name=name, title=tool.title, annotations=tool.annotations, listed=False, quick=True)
