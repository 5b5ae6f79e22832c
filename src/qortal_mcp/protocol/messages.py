"""Parameters and results, one Struct each, as they appear on the wire. No behaviour."""

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LOG_LEVELS: tuple[LogLevel, ...] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
ProgressToken = int | str

PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


class Wire(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Optional members are left out, never null: a single null makes some clients reject the whole reply."""


class Implementation(Wire, frozen=True, kw_only=True):
    """The name and version of a client or server."""

    name: str
    version: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    websiteUrl: str | UnsetType = UNSET


class ClientCapabilities(Wire, frozen=True, kw_only=True):
    """What a client can be asked for."""

    sampling: dict[str, Any] | UnsetType = UNSET
    elicitation: dict[str, Any] | UnsetType = UNSET
    roots: dict[str, Any] | UnsetType = UNSET

    def has(self, name: str) -> bool:
        return getattr(self, name, UNSET) is not UNSET


class DeclaredCapabilities(Wire, frozen=True, kw_only=True):
    """`ClientCapabilities` as they arrive. Only presence counts; their content is never decoded."""

    sampling: dict[str, Raw] | UnsetType = UNSET
    elicitation: dict[str, Raw] | UnsetType = UNSET
    roots: dict[str, Raw] | UnsetType = UNSET

    def bare(self) -> ClientCapabilities:
        """The same without their content, which would be held as long as the connection."""
        return ClientCapabilities(
            **{name: {} for name in self.__struct_fields__ if getattr(self, name) is not UNSET}
        )


class RequestMeta(Wire, frozen=True, kw_only=True):
    """`params._meta`. Of the capabilities only presence counts, so they stay as they came."""

    version: str | UnsetType = field(name=PROTOCOL_VERSION, default=UNSET)
    capabilities: dict[str, Raw] | UnsetType = field(name=CLIENT_CAPABILITIES, default=UNSET)
    log_level: LogLevel | UnsetType = field(name=LOG_LEVEL, default=UNSET)
    progress_token: ProgressToken | UnsetType = field(name="progressToken", default=UNSET)


class CommonParams(Wire, frozen=True, kw_only=True):
    """Any parameters: `_meta`, what `Mcp-Name` repeats, and all that a call of a tool has. Those are read only once."""

    meta: RequestMeta | UnsetType = field(name="_meta", default=UNSET)
    name: str | UnsetType = UNSET
    uri: str | UnsetType = UNSET
    arguments: Raw | UnsetType = UNSET
    inputResponses: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET


class LooseMeta(Wire, frozen=True, kw_only=True):
    """`params._meta` with a member of a wrong type, which must be told from an absent one."""

    version: Raw | UnsetType = field(name=PROTOCOL_VERSION, default=UNSET)
    capabilities: Raw | UnsetType = field(name=CLIENT_CAPABILITIES, default=UNSET)
    log_level: Raw | UnsetType = field(name=LOG_LEVEL, default=UNSET)
    progress_token: Raw | UnsetType = field(name="progressToken", default=UNSET)


class LooseParams(Wire, frozen=True, kw_only=True):
    meta: LooseMeta | UnsetType = field(name="_meta", default=UNSET)
    name: Raw | UnsetType = UNSET
    uri: Raw | UnsetType = UNSET
    arguments: Raw | UnsetType = UNSET
    inputResponses: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET


class InitializeParams(Wire, frozen=True, kw_only=True):
    protocolVersion: str
    # Both are required by the schema; a client that leaves them out is still served.
    capabilities: DeclaredCapabilities = DeclaredCapabilities()
    clientInfo: dict[str, Raw] | UnsetType = UNSET


class ListParams(Wire, frozen=True, kw_only=True):
    cursor: str | UnsetType = UNSET


class CallToolParams(Wire, frozen=True, kw_only=True):
    name: str
    arguments: Raw | UnsetType = UNSET
    inputResponses: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET


class GetPromptParams(Wire, frozen=True, kw_only=True):
    name: str
    arguments: dict[str, str] | UnsetType = UNSET
    inputResponses: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET


class ReadResourceParams(Wire, frozen=True, kw_only=True):
    uri: str
    inputResponses: Raw | UnsetType = UNSET
    requestState: Raw | UnsetType = UNSET


class SubscribeParams(Wire, frozen=True, kw_only=True):
    uri: str


class SetLevelParams(Wire, frozen=True, kw_only=True):
    level: LogLevel


class CompletionRef(Wire, frozen=True, kw_only=True):
    type: Literal["ref/prompt", "ref/resource"]
    name: str | UnsetType = UNSET
    uri: str | UnsetType = UNSET


class CompletionArgument(Wire, frozen=True, kw_only=True):
    name: str
    value: str


class CompletionContext(Wire, frozen=True, kw_only=True):
    arguments: dict[str, str] = {}


class CompleteParams(Wire, frozen=True, kw_only=True):
    ref: CompletionRef
    argument: CompletionArgument
    context: CompletionContext = CompletionContext()


class ListenFilter(Wire, frozen=True, kw_only=True):
    """The notifications a subscription asks for; also those that were accepted."""

    toolsListChanged: bool = False
    promptsListChanged: bool = False
    resourcesListChanged: bool = False
    resourceSubscriptions: list[str] | UnsetType = UNSET


class ListenParams(Wire, frozen=True, kw_only=True):
    notifications: ListenFilter


class CancelledParams(Wire, frozen=True, kw_only=True):
    requestId: int | str


class ContentAnnotations(Wire, frozen=True, kw_only=True):
    audience: list[Literal["user", "assistant"]] | UnsetType = UNSET
    priority: float | UnsetType = UNSET
    lastModified: str | UnsetType = UNSET


class TextContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    text: str
    annotations: ContentAnnotations | UnsetType = UNSET


class ImageContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """`data` is Base64."""

    data: str
    mimeType: str
    annotations: ContentAnnotations | UnsetType = UNSET


class AudioContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="audio"):
    """`data` is Base64."""

    data: str
    mimeType: str
    annotations: ContentAnnotations | UnsetType = UNSET


class ResourceContents(Wire, frozen=True, kw_only=True):
    """Text or Base64 `blob`: exactly one of the two."""

    uri: str
    mimeType: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    blob: str | UnsetType = UNSET


class EmbeddedResource(Wire, frozen=True, kw_only=True, tag_field="type", tag="resource"):
    resource: ResourceContents
    annotations: ContentAnnotations | UnsetType = UNSET


class ResourceLink(Wire, frozen=True, kw_only=True, tag_field="type", tag="resource_link"):
    uri: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mimeType: str | UnsetType = UNSET


Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink


class ToolAnnotations(Wire, frozen=True, kw_only=True):
    """What a tool claims about its effects. What is not set is not claimed."""

    readOnlyHint: bool | UnsetType = UNSET
    destructiveHint: bool | UnsetType = UNSET
    idempotentHint: bool | UnsetType = UNSET
    openWorldHint: bool | UnsetType = UNSET


class ToolDefinition(Wire, frozen=True, kw_only=True):
    name: str
    title: str | UnsetType = UNSET
    description: str
    inputSchema: dict[str, Any]
    outputSchema: dict[str, Any] | UnsetType = UNSET
    annotations: ToolAnnotations | UnsetType = UNSET


class ResourceDefinition(Wire, frozen=True, kw_only=True):
    uri: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mimeType: str | UnsetType = UNSET
    size: int | UnsetType = UNSET


class ResourceTemplateDefinition(Wire, frozen=True, kw_only=True):
    uriTemplate: str
    name: str
    title: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    mimeType: str | UnsetType = UNSET


class PromptArgument(Wire, frozen=True, kw_only=True):
    name: str
    description: str | UnsetType = UNSET
    required: bool | UnsetType = UNSET


class PromptDefinition(Wire, frozen=True, kw_only=True):
    name: str
    title: str | UnsetType = UNSET
    description: str
    arguments: list[PromptArgument] | UnsetType = UNSET


class PromptMessage(Wire, frozen=True, kw_only=True):
    role: Literal["user", "assistant"]
    content: Content


class GetPromptResult(Wire, frozen=True, kw_only=True):
    description: str | UnsetType = UNSET
    messages: list[PromptMessage]


class ReadResourceResult(Wire, frozen=True, kw_only=True):
    contents: list[ResourceContents]


class Completion(Wire, frozen=True, kw_only=True):
    values: list[str]
    total: int | UnsetType = UNSET
    hasMore: bool | UnsetType = UNSET


class CompleteResult(Wire, frozen=True, kw_only=True):
    completion: Completion


class ElicitParams(Wire, frozen=True, kw_only=True):
    message: str
    requestedSchema: dict[str, Any]


class SamplingMessage(Wire, frozen=True, kw_only=True):
    role: Literal["user", "assistant"]
    content: TextContent | ImageContent | AudioContent


class SamplingParams(Wire, frozen=True, kw_only=True):
    messages: list[SamplingMessage]
    maxTokens: int
    systemPrompt: str | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    stopSequences: list[str] | UnsetType = UNSET


class ElicitResult(Wire, frozen=True, kw_only=True):
    """What a person answered. `content` is set when they accepted a form."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | UnsetType = UNSET


class SamplingResult(Wire, frozen=True, kw_only=True):
    """What the client's model answered."""

    role: Literal["user", "assistant"]
    content: Any
    model: str
    stopReason: str | UnsetType = UNSET


class Root(Wire, frozen=True, kw_only=True):
    uri: str
    name: str | UnsetType = UNSET


class RootsResult(Wire, frozen=True, kw_only=True):
    roots: list[Root]
