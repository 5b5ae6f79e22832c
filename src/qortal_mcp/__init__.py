"""Read the Qortal blockchain from any AI client, over the Model Context Protocol; and build MCP servers of your own."""

__version__ = "0.1.0"

# True for type checkers. Not imported: `typing` takes longer to load than everything else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .limits import Limits
    from .protocol.messages import ToolAnnotations
    from .server import (
        READ_ONLY,
        Audio,
        Context,
        File,
        Image,
        Link,
        Offer,
        Provided,
        ResourceNotFound,
        Server,
        ServerOptions,
        ToolError,
        completer,
        elicit,
        prompt,
        resource,
        roots,
        sample,
        tool,
    )
    from .transports.run import run
else:
    _ELSEWHERE = {"Limits": ".limits", "ToolAnnotations": ".protocol.messages", "run": ".transports.run"}

    def __getattr__(name):
        """Load what users of the library import when they do: a client waits for the start of the program."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        thing = globals()[name] = getattr(import_module(_ELSEWHERE.get(name, ".server"), __name__), name)
        return thing


__all__ = [
    "READ_ONLY",
    "Audio",
    "Context",
    "File",
    "Image",
    "Limits",
    "Link",
    "Offer",
    "Provided",
    "ResourceNotFound",
    "Server",
    "ServerOptions",
    "ToolAnnotations",
    "ToolError",
    "__version__",
    "completer",
    "elicit",
    "prompt",
    "resource",
    "roots",
    "run",
    "sample",
    "tool",
]
