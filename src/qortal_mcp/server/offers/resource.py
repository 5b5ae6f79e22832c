"""Resources: things a client reads by address. One decorated function each, fixed or with a template."""

import base64
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from msgspec import UNSET

from ...protocol.messages import ResourceContents, ResourceDefinition, ResourceTemplateDefinition
from .functions import Signature

_VARIABLE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


class ResourceNotFound(Exception):
    """Raised by a resource function for an address with nothing to read."""


class Resource:
    """A function that reads the resource at a URI, or at every URI of a template."""

    def __init__(
        self,
        function: Callable[..., Any],
        uri: str,
        *,
        title: str | None = None,
        mime_type: str = "text/plain",
    ) -> None:
        self.signature = Signature(function)
        self.uri = uri
        self.name = function.__name__
        self.mime_type = mime_type
        self.variables = _VARIABLE.findall(uri)
        self._pattern = _pattern(uri)
        if set(self.variables) != set(self.signature.arguments):
            raise TypeError(f"{self.name} must take exactly the variables of {uri}")
        described = {
            "description": self.signature.description,
            "mimeType": mime_type,
            "title": title or UNSET,
        }
        self.definition: ResourceDefinition | ResourceTemplateDefinition
        if self.variables:
            self.definition = ResourceTemplateDefinition(uriTemplate=uri, name=self.name, **described)
        else:
            self.definition = ResourceDefinition(uri=uri, name=self.name, **described)  # type: ignore[arg-type]

    @property
    def is_template(self) -> bool:
        return bool(self.variables)

    def match(self, uri: str) -> dict[str, str] | None:
        """The template's variables in a URI; None if it does not match."""
        found = self._pattern.fullmatch(uri)
        if found is None:
            return None
        return {name: unquote(value) for name, value in found.groupdict().items()}

    def contents(self, uri: str, value: Any) -> list[ResourceContents]:
        """What the function returned, as the protocol carries it."""
        if isinstance(value, ResourceContents):
            return [value]
        if isinstance(value, list):
            return value
        if isinstance(value, bytes):
            blob = base64.b64encode(value).decode()
            return [ResourceContents(uri=uri, mimeType=self.mime_type, blob=blob)]
        return [ResourceContents(uri=uri, mimeType=self.mime_type, text=str(value))]


def _pattern(uri: str) -> re.Pattern[str]:
    # One class of characters per variable, no nesting: matching is linear in the length of the URI.
    parts = [
        re.escape(part) if index % 2 == 0 else f"(?P<{part}>[^/?#]+)"
        for index, part in enumerate(_VARIABLE.split(uri))
    ]
    return re.compile("".join(parts))


def resource(
    uri: str, title: str | None = None, *, mime_type: str = "text/plain"
) -> Callable[[Callable[..., Any]], Resource]:
    """Make a resource of a function; `{name}` in the URI makes it a template."""
    return lambda function: Resource(function, uri, title=title, mime_type=mime_type)
