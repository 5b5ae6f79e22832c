"""Resources: things a client reads by address. One decorated function each, fixed or with a template."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from ...protocol.messages import ResourceContents, ResourceDefinition, ResourceTemplateDefinition
from .functions import Signature

if TYPE_CHECKING:
    from ..kinds.texts import Texts

_VARIABLE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_OTHER_BRACES = re.compile(r"\{[^{}]*\}?|\}")


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
        quick: bool = False,
    ) -> None:
        self.signature = Signature(function)
        self.blocks = self.signature.blocks and not quick
        self.uri = uri
        self.name = function.__name__
        self.mime_type = mime_type
        self.variables = _VARIABLE.findall(uri)
        if other := _OTHER_BRACES.search(_VARIABLE.sub("", uri)):
            raise TypeError(
                f"{self.name}: {other[0]} in {uri} is not supported; a variable is a name in small letters, such as {{title}}, "
                "and stands for one segment: there is no * and no ?"
            )
        self._pattern = _pattern(uri)
        if set(self.variables) != set(self.signature.arguments):
            raise TypeError(f"{self.name} must take exactly the variables of {uri}")
        self._texts = _reader(self.name, self.signature)
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

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The function itself, for whoever wants to call it without a server."""
        return self.signature.function(*arguments, **named)

    @property
    def is_template(self) -> bool:
        return bool(self.variables)

    def match(self, uri: str) -> dict[str, str] | None:
        """The template's variables in a URI; None if it does not match."""
        from urllib.parse import unquote  # not needed to start

        found = self._pattern.fullmatch(uri)
        if found is None:
            return None
        return {name: unquote(value) for name, value in found.groupdict().items()}

    def values(self, variables: Mapping[str, str]) -> Mapping[str, Any]:
        """What the function takes for a template's variables.

        Raises: ToolError if one does not fit.
        """
        return variables if self._texts is None else self._texts.read(variables)

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


def _reader(name: str, signature: Signature) -> "Texts | None":
    from ..kinds.texts import texts_of  # not needed to start

    texts = texts_of(name, signature.arguments)
    if texts is not None and any(known != attribute for known, attribute in texts.names.items()):
        raise TypeError(
            f"{name}: a variable of a template has no alias; name the parameter as the template does"
        )
    return texts


def _pattern(uri: str) -> re.Pattern[str]:
    # One class of characters per variable, no nesting: matching is linear in the length of the URI.
    parts = [
        re.escape(part) if index % 2 == 0 else f"(?P<{part}>[^/?#]+)"
        for index, part in enumerate(_VARIABLE.split(uri))
    ]
    return re.compile("".join(parts))


def resource(
    uri: str, title: str | None = None, *, mime_type: str = "text/plain", quick: bool = False
) -> Callable[[Callable[..., Any]], Resource]:
    """Make a resource of a function; `{name}` in the URI makes it a template. `quick` is as for a tool."""
    if not isinstance(uri, str):
        raise TypeError('a resource needs its URI: write @server.resource("shelf://books")')
    return lambda function: Resource(function, uri, title=title, mime_type=mime_type, quick=quick)
