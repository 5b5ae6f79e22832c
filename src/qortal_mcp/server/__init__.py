"""What a server does with a good message: tools, resources, prompts, and everything around a call."""

from .asking import Question, elicit, roots, sample
from .context import Context
from .dispatch import OldForms, Reply, Server
from .offers.prompt import Completer, Prompt, completer, prompt
from .offers.resource import Resource, ResourceNotFound, resource
from .offers.tool import READ_ONLY, Tool, tool
from .peer import Peer
from .tool_errors import ToolError

__all__ = [
    "READ_ONLY",
    "Completer",
    "Context",
    "OldForms",
    "Peer",
    "Prompt",
    "Question",
    "Reply",
    "Resource",
    "ResourceNotFound",
    "Server",
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
