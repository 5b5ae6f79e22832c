"""What a server does with a good message: tools, resources, prompts, and everything around a call."""

from .asking import Question, elicit, roots, sample
from .context import Context
from .dispatch import Server
from .offers.catalogue import Offer
from .offers.content import Audio, File, Image, Link
from .offers.functions import Provided
from .offers.prompt import Completer, Prompt, completer, prompt
from .offers.resource import Resource, ResourceNotFound, resource
from .offers.tool import READ_ONLY, Tool, tool
from .options import OldForms, ServerOptions
from .peer import Peer
from .reply import Reply
from .tool_errors import ToolError

__all__ = [
    "READ_ONLY",
    "Audio",
    "Completer",
    "Context",
    "File",
    "Image",
    "Link",
    "Offer",
    "OldForms",
    "Peer",
    "Prompt",
    "Provided",
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
