"""What each method does. A handler returns the finished result, or a function to run where it takes time."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import UNSET, Raw

from ..protocol import errors, headers, jsonrpc, messages, results, versions
from ..protocol.inbound import Route
from ..protocol.messages import SUBSCRIPTION_ID, ClientCapabilities, ListenFilter
from ..text import printable, shortened
from . import tool_errors
from .asking import questions_of
from .catalogue import Kind, capabilities_in
from .context import Context, Send
from .peer import Peer
from .private_keys import looks_secret
from .resource import ResourceNotFound
from .tool import BoundTool

if TYPE_CHECKING:
    from .dispatch import Server

log = logging.getLogger(__name__)

# Called with a context unless the call says that it needs none.
Running = Callable[[Any], Awaitable[bytes]]
_Params = TypeVar("_Params")
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode
_NO_CAPABILITIES = ClientCapabilities()
_EMPTY = b"{}"
_VERSION = re.compile(r"[0-9A-Za-z.-]{1,20}")
# Addresses are kept with subscriptions; no honest one is longer.
_LONGEST_URI = 2048
_LOOKED_AT = 10_000


class Call:
    """One acceptable request on its way through a handler."""

    __slots__ = (
        "error_type",
        "http",
        "needs_context",
        "peer",
        "purpose",
        "request",
        "responses",
        "retry_after",
        "route",
        "server",
        "shape",
        "state",
        "tool_name",
    )

    def __init__(
        self,
        server: Server,
        peer: Peer,
        request: jsonrpc.Request,
        route: Route,
        http: headers.Mirrored | None,
    ) -> None:
        self.server = server
        self.peer = peer
        self.request = request
        self.route = route
        self.http = http
        self.shape = server.shapes[route.revision]
        self.tool_name = ""
        # Whether the function that runs wants to do more than return.
        self.needs_context = True
        # What logs and metrics call the outcome; empty for a success.
        self.error_type = ""
        self.retry_after: float | None = None
        # What binds a sealed state to this call, and what the client answered (modern only).
        self.purpose = b""
        self.responses: Any = UNSET
        self.state: Any = UNSET

    def params(self, decode: Callable[[Raw], _Params]) -> _Params:
        """Raises: ProtocolError where the parameters are not what the method takes."""
        raw = self.request.params
        try:
            return decode(Raw(_EMPTY) if raw is None else raw)
        except msgspec.ValidationError as exc:
            raise errors.ProtocolError(errors.INVALID_PARAMS, f"Invalid params: {exc}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise errors.ProtocolError(errors.PARSE_ERROR, "Parse error: not readable JSON") from None

    def context(self, send: Send, close_stream: Callable[[], None] | None) -> Context:
        meta, modern = self.route.meta, self.route.modern
        return Context(
            server=self.server,
            peer=self.peer,
            revision=self.route.revision,
            request_id=self.request.id,
            capabilities=_read_capabilities(meta.capabilities) if modern else self.peer.capabilities,
            send=send,
            progress_token=meta.progress_token,
            log_level=(meta.log_level if meta.log_level is not UNSET else None)
            if modern
            else self.peer.log_level,
            questions=questions_of(self.server.seal, self.purpose, self.responses, self.state)
            if modern and self.purpose
            else None,
            close_stream=close_stream,
        )

    def may_ask(self, what: Any, params: Any) -> None:
        """Remember what a retry of this call must be about, and the answers it came with."""
        if self.route.modern:
            self.purpose = _encode_sorted([self.request.method, what])
            self.responses, self.state = params.inputResponses, params.requestState

    def tool_failed(self, error: tool_errors.ToolError) -> bytes:
        self.error_type = error.code
        self.retry_after = error.retry_after
        return self.shape.complete(results.error_result(str(error)), error.meta)


def _repeated(text: str, at_most: int) -> str:
    """What a client called something, for an error, unless it looks like a secret."""
    # No more is looked at than a secret needs: a client may have sent a megabyte.
    is_secret = looks_secret(unquote(text[:_LOOKED_AT]))
    return "(not repeated)" if is_secret else printable(shortened(text, at_most))


def _read_capabilities(declared: Any) -> ClientCapabilities:
    try:
        return msgspec.convert(declared, ClientCapabilities)
    except msgspec.ValidationError:
        return _NO_CAPABILITIES


# -- lifecycle ------------------------------------------------------------------------------------------

_decode_initialize = msgspec.json.Decoder(messages.InitializeParams).decode


def initialize(call: Call) -> bytes:
    params = call.params(_decode_initialize)
    peer, server = call.peer, call.server
    if peer.revision is not None:
        raise errors.ProtocolError(errors.INVALID_REQUEST, "this connection is initialized already")
    revision = versions.negotiate(params.protocolVersion)
    peer.shake_hands(revision, params.capabilities)
    log.info(
        "initialized",
        extra={
            "qortal_mcp.requested": _as_version(params.protocolVersion),
            "qortal_mcp.answered": revision,
            "qortal_mcp.server": server.info.name,
        },
    )
    answer: dict[str, Any] = {
        "protocolVersion": revision,
        "capabilities": _capabilities(call, revision),
        "serverInfo": server.info,
    }
    if server.instructions:
        answer["instructions"] = server.instructions
    return _encode(answer)


def _as_version(text: str) -> str:
    """What a client calls its version, unless it is something else: it may be anything, a secret too."""
    return text if _VERSION.fullmatch(text) else "not a version"


def _capabilities(call: Call, revision: str) -> dict[str, Any]:
    server = call.server
    can_tell = call.route.modern or call.peer.post is not None
    # What a wire cannot keep is not promised on it: a log level that nobody would remember, changes nobody would hear of.
    offers = server.catalogue.capabilities(
        server.client_logging and can_tell, server.announces_changes and can_tell
    )
    return capabilities_in(revision, offers, subscribe=server.resource_updates and can_tell)


def ping(call: Call) -> bytes:
    return _EMPTY


def discover(call: Call) -> bytes:
    answer: dict[str, Any] = {
        "supportedVersions": list(versions.MODERN),
        "capabilities": _capabilities(call, call.route.revision),
    }
    if call.server.instructions:
        answer["instructions"] = call.server.instructions
    return call.shape.complete(_encode(answer), cache=call.server.cache)


# -- lists ------------------------------------------------------------------------------------------------

_decode_list = msgspec.json.Decoder(messages.ListParams).decode


def _lister(kind: Kind) -> Callable[[Call], bytes]:
    def handler(call: Call) -> bytes:
        cursor = call.params(_decode_list).cursor
        body = call.server.catalogue.page(kind, call.route.revision, None if cursor is UNSET else cursor)
        return call.shape.complete(body, cache=call.server.cache)

    return handler


# -- tools ------------------------------------------------------------------------------------------------

_decode_call = msgspec.json.Decoder(messages.CallToolParams).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def call_tool(call: Call) -> bytes | Running:
    params = _call_params(call)
    tool = call.server.catalogue.tool(params.name)
    if tool is None:
        name = _repeated(params.name, 60)
        hint = call.server.catalogue.near(params.name)
        raise errors.ProtocolError(
            errors.INVALID_PARAMS, f"Unknown tool: {name}" + (f". {hint}" if hint else "")
        )
    call.tool_name = tool.name
    raw = _arguments(params.arguments)
    try:
        if tool.header_params and call.route.modern and call.http is not None:
            mismatch = headers.param_mismatch(tool.header_params, raw or Raw(_EMPTY), call.http)
            if mismatch:
                raise errors.ProtocolError(errors.HEADER_MISMATCH, mismatch)
        if wait := call.server.must_wait(call.peer):
            raise tool_errors.rate_limited(wait)
        arguments, notes = tool.read_arguments(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise errors.ProtocolError(errors.PARSE_ERROR, "Parse error: not readable JSON") from None
    if tool.is_async or tool.wants_context:
        call.needs_context = tool.wants_context
        if tool.wants_context:
            given = None if raw is None else msgspec.json.decode(raw)
            call.may_ask([tool.name, given], params)
        return _run_tool(call, tool, arguments, notes)
    return _tool_result(call, tool, tool.call(arguments, None), notes)


def _call_params(call: Call) -> messages.CallToolParams:
    try:
        return call.params(_decode_call)
    except errors.ProtocolError:
        renamed = _old_call_params(call)
        if renamed is None:
            raise
        return renamed


def _old_call_params(call: Call) -> messages.CallToolParams | None:
    """The parameters in the spelling of an earlier server, where `name` is absent and that is allowed."""
    old = call.server.old_forms
    if old is None or call.route.modern or call.request.params is None:
        return None
    members = call.params(_decode_members)
    if "name" in members or old.tool_member not in members:
        return None
    renamed = {"name": members[old.tool_member]}
    arguments = members.get(old.arguments_member, members.get("arguments"))
    if arguments is not None:
        renamed["arguments"] = arguments
    call.request = jsonrpc.Request(call.request.id, call.request.method, Raw(_encode(renamed)))
    return call.params(_decode_call)


def _arguments(raw: Any) -> Raw | None:
    """Raises: ProtocolError where `arguments` is there but no object."""
    if raw is UNSET:
        return None
    if bytes(memoryview(raw)[:1]) != b"{":
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Invalid params: arguments must be an object")
    found: Raw = raw
    return found


def _run_tool(call: Call, tool: BoundTool, arguments: Any, notes: list[str]) -> Running:
    async def run(context: Context | None) -> bytes:
        value = tool.call(arguments, context)
        if tool.is_async or inspect.isawaitable(value):
            value = await value
        return _tool_result(call, tool, value, notes)

    return run


def _tool_result(call: Call, tool: BoundTool, value: Any, notes: list[str]) -> bytes:
    body = tool.result(value, notes, call.route.revision, call.server.limits)
    return call.shape.complete(body)


# -- resources ----------------------------------------------------------------------------------------------

_decode_read = msgspec.json.Decoder(messages.ReadResourceParams).decode
_decode_subscribe = msgspec.json.Decoder(messages.SubscribeParams).decode


def read_resource(call: Call) -> Running:
    params = call.params(_decode_read)
    found = call.server.catalogue.find_resource(params.uri)
    if found is None:
        raise _resource_not_found(call, params.uri)
    bound, variables = found
    call.may_ask(params.uri, params)

    async def run(context: Context) -> bytes:
        try:
            value = bound.call(variables, context)
            if inspect.isawaitable(value):
                value = await value
        except ResourceNotFound:
            raise _resource_not_found(call, params.uri) from None
        except tool_errors.ToolError as exc:
            # A resource has no `isError`; the caller's mistake and the node's are told apart by code alone.
            mine = exc.code in ("INVALID_ARGUMENT", "NOT_FOUND", "REFUSED")
            if mine:
                raise _resource_not_found(call, params.uri, str(exc)) from None
            raise errors.ProtocolError(errors.INTERNAL_ERROR, str(exc)) from None
        body = _encode(messages.ReadResourceResult(contents=bound.resource.contents(params.uri, value)))
        # What a resource says may change at any moment: keep the bytes, but ask again.
        return call.shape.complete(body, cache=results.CacheHint(0))

    return run


def _resource_not_found(call: Call, uri: str, why: str = "Resource not found") -> errors.ProtocolError:
    code = errors.INVALID_PARAMS if call.route.modern else errors.RESOURCE_NOT_FOUND
    return errors.ProtocolError(code, why, {"uri": _repeated(uri, 500)})


def subscribe(call: Call) -> bytes:
    uri = call.params(_decode_subscribe).uri
    if len(uri) > _LONGEST_URI or call.server.catalogue.find_resource(uri) is None:
        raise _resource_not_found(call, uri)
    subscriptions = call.peer.subscriptions
    if len(subscriptions) >= call.server.limits.peer_subscriptions and uri not in subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    subscriptions.add(uri)
    _watch(call, [uri])
    return _EMPTY


def _watch(call: Call, uris: Iterable[str]) -> None:
    """Begin to look for changes of resources that somebody has just subscribed to."""
    for uri in uris:
        changed = call.server.catalogue.change_of(uri)
        if changed is not None:
            call.server.hub.watch(uri, changed)


def unsubscribe(call: Call) -> bytes:
    call.peer.subscriptions.discard(call.params(_decode_subscribe).uri)
    return _EMPTY


_decode_listen = msgspec.json.Decoder(messages.ListenParams).decode


def listen(call: Call) -> Running:
    wanted = call.params(_decode_listen).notifications
    accepted = _accepted(call, wanted)
    hub = call.server.hub
    if sum(work.streams for work in call.peer.working.values()) >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    meta = {SUBSCRIPTION_ID: call.request.id}

    async def run(context: Context) -> bytes:
        listener = hub.listen(call.request.id, accepted)
        try:
            _watch(call, listener.uris)
            acknowledged = _encode({"notifications": accepted, "_meta": meta})
            await context.send(jsonrpc.notification("notifications/subscriptions/acknowledged", acknowledged))
            while (message := await listener.next()) is not None:
                await context.send(message)
            if call.peer.lasting:
                # 2026-07-28 asks for this on stdio when the server ends a subscription, beside the response.
                cancelled = _encode({"requestId": call.request.id, "reason": "the server is stopping"})
                await context.send(jsonrpc.notification("notifications/cancelled", cancelled))
            return call.shape.complete(_EMPTY, meta)
        finally:
            hub.drop(listener)

    return run


def _accepted(call: Call, wanted: ListenFilter) -> ListenFilter:
    """The part of a subscription that this server can keep."""
    offers = call.server.catalogue.capabilities(False, call.server.announces_changes)

    def tells(kind: str, wants: bool) -> bool:
        return wants and offers.get(kind, {}).get("listChanged", False)

    uris: list[str] = []
    if wanted.resourceSubscriptions is not UNSET and call.server.resource_updates:
        known = call.server.catalogue.find_resource
        uris = [
            uri
            for uri in dict.fromkeys(wanted.resourceSubscriptions)
            if len(uri) <= _LONGEST_URI and known(uri) is not None
        ]
    return ListenFilter(
        toolsListChanged=tells("tools", wanted.toolsListChanged),
        promptsListChanged=tells("prompts", wanted.promptsListChanged),
        resourcesListChanged=tells("resources", wanted.resourcesListChanged),
        resourceSubscriptions=uris[: call.server.limits.peer_subscriptions] or UNSET,
    )


# -- prompts, completion, logging -----------------------------------------------------------------------------

_decode_prompt = msgspec.json.Decoder(messages.GetPromptParams).decode
_decode_complete = msgspec.json.Decoder(messages.CompleteParams).decode
_decode_level = msgspec.json.Decoder(messages.SetLevelParams).decode


def get_prompt(call: Call) -> Running:
    params = call.params(_decode_prompt)
    bound = call.server.catalogue.prompts.get(params.name)
    if bound is None:
        raise errors.ProtocolError(errors.INVALID_PARAMS, f"Unknown prompt: {_repeated(params.name, 60)}")
    arguments = {} if params.arguments is UNSET else params.arguments
    bound.prompt.check(arguments)
    call.may_ask([params.name, arguments], params)

    async def run(context: Context) -> bytes:
        try:
            value = bound.call(arguments, context)
            if inspect.isawaitable(value):
                value = await value
        except tool_errors.ToolError as exc:
            mine = exc.code in ("INVALID_ARGUMENT", "NOT_FOUND", "REFUSED")
            code = errors.INVALID_PARAMS if mine else errors.INTERNAL_ERROR
            raise errors.ProtocolError(code, str(exc)) from None
        result = bound.prompt.result(value)
        known = [
            msgspec.structs.replace(
                message, content=results.known_block(message.content, call.route.revision)
            )
            for message in result.messages
        ]
        return call.shape.complete(_encode(msgspec.structs.replace(result, messages=known)))

    return run


def complete(call: Call) -> bytes | Running:
    params = call.params(_decode_complete)
    of = params.ref.name if params.ref.type == "ref/prompt" else params.ref.uri
    try:
        if of is UNSET:
            raise KeyError
        found = call.server.catalogue.completer(of, params.argument.name)
    except KeyError:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Nothing of that name can be completed") from None
    if found is None:
        return _completion(call, [])

    async def run(context: Context) -> bytes:
        values = found.suggest(params.argument.value, params.context.arguments)
        if inspect.isawaitable(values):
            values = await values
        return _completion(call, list(values))

    return run


def _completion(call: Call, values: list[str]) -> bytes:
    limits = call.server.limits
    shown = values[: limits.completion_values]
    while len(_encode(shown)) > limits.result_bytes:
        shown = shown[: len(shown) // 2]
    completion = messages.Completion(values=shown, total=len(values), hasMore=len(values) > len(shown))
    return call.shape.complete(_encode(messages.CompleteResult(completion=completion)))


def set_level(call: Call) -> bytes:
    call.peer.log_level = call.params(_decode_level).level
    return _EMPTY


METHOD_TABLE: dict[str, Callable[[Call], bytes | Running]] = {
    "initialize": initialize,
    "ping": ping,
    "server/discover": discover,
    "subscriptions/listen": listen,
    "tools/list": _lister("tools"),
    "tools/call": call_tool,
    "resources/list": _lister("resources"),
    "resources/templates/list": _lister("resourceTemplates"),
    "resources/read": read_resource,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "prompts/list": _lister("prompts"),
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "logging/setLevel": set_level,
}
