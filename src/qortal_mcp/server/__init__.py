"""What a server does with a good message: tools, resources, prompts, and everything around a call."""

from .asking import Question, elicit, roots, sample
from .context import Context
from .dispatch import Server
from .offers.catalogue import Offer
from .offers.prompt import Completer, Prompt, completer, prompt
from .offers.resource import Resource, ResourceNotFound, resource
from .offers.tool import READ_ONLY, Tool, tool
from .options import OldForms, ServerOptions
from .peer import Peer
from .reply import Reply
from .tool_errors import ToolError

__all__ = [
    "READ_ONLY",
    "Completer",
    "Context",
    "Offer",
    "OldForms",
    "Peer",
    "Prompt",
    "Question",
    "Reply",
    "Resource",
    "ResourceNotFound",
    "Server",
    "ServerOptions",
    "Tool",
    "ToolError",
    "completer",
    "elicit",
    "prompt",
    "resource",
    "roots",
    "sample",
    "tool",
]
