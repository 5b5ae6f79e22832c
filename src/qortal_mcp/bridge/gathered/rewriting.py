"""What is changed in the messages of one server so that they can stand beside those of others. Pure.

Nothing else in them is changed: what needs no change keeps its bytes.
"""

from typing import Any, Literal

from msgspec import Raw

from ...protocol import jsonrpc
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from .names import offered, offered_uri

Kind = Literal["tools", "prompts", "resources", "resourceTemplates"]
Listing = Literal["tools", "prompts", "resources"]
LISTINGS: tuple[Listing, ...] = ("tools", "prompts", "resources")
METHODS: dict[str, Kind] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
LIST_METHODS: dict[Kind, str] = {kind: method for method, kind in METHODS.items()}
LISTING_OF: dict[Kind, Listing] = {
    "tools": "tools",
    "prompts": "prompts",
    "resources": "resources",
    "resourceTemplates": "resources",
}
CHANGED: dict[str, Listing] = {f"notifications/{one}/list_changed": one for one in LISTINGS}
UPDATED = "notifications/resources/updated"
_MESSAGE = "notifications/message"
_ADDRESS: dict[Kind, str] = {"resources": "uri", "resourceTemplates": "uriTemplate"}


def with_address(item: dict[str, Any], kind: Kind, label: str) -> dict[str, Any]:
    """A listed resource or template under its offered address; anything else as it is."""
    member = _ADDRESS.get(kind)
    if member is None or not isinstance(item.get(member), str):
        return item
    return {**item, member: offered_uri(label, item[member])}


def with_addresses(result: Raw, label: str) -> bytes:
    """The result of a call or a prompt, with the addresses of its links and embedded resources as they are offered."""
    data = bytes(result)
    if b'"resource' not in data:
        return data
    try:
        tree = values.read(data)
    except UNREADABLE:
        return data
    if not isinstance(tree, dict):
        return data
    changed = _in_content(tree.get("content"), label)
    messages = tree.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            changed |= _in_content(message.get("content"), label)
    return values.write(tree) if changed else data


def _in_content(content: Any, label: str) -> bool:
    changed = False
    for block in content if isinstance(content, list) else (content,):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "resource_link":
            changed |= _in_place(block, label)
        elif block.get("type") == "resource" and isinstance(block.get("resource"), dict):
            changed |= _in_place(block["resource"], label)
    return changed


def _in_place(holder: dict[str, Any], label: str) -> bool:
    if not isinstance(holder.get("uri"), str):
        return False
    holder["uri"] = offered_uri(label, holder["uri"])
    return True


def read_result(result: Raw, label: str) -> bytes:
    """The result of `resources/read` with the addresses of its contents as they are offered."""
    data = bytes(result)
    try:
        tree = values.read(data)
    except UNREADABLE:
        return data
    contents = tree.get("contents") if isinstance(tree, dict) else None
    changed = False
    for one in contents if isinstance(contents, list) else ():
        if isinstance(one, dict):
            changed |= _in_place(one, label)
    return values.write(tree) if changed else data


def said(message: bytes, server: str, label: str) -> bytes:
    """What a server says besides its answers: addresses as they are offered, and logs with its name."""
    is_concerned = UPDATED.encode() in message or _MESSAGE.encode() in message
    notification = jsonrpc.read(message) if is_concerned else None
    if not isinstance(notification, jsonrpc.Notification) or notification.params is None:
        return message
    try:
        params = values.read(notification.params)
    except UNREADABLE:
        return message
    if not isinstance(params, dict):
        return message
    if notification.method == UPDATED:
        _in_place(params, label)
    elif notification.method == _MESSAGE:
        logger = params.get("logger")
        params["logger"] = f"{server}/{logger}" if isinstance(logger, str) and logger else server
    else:
        return message
    return jsonrpc.notification(notification.method, values.write(params))


def with_note(item: dict[str, Any], server: str) -> dict[str, Any]:
    """A listed item of a server that is away."""
    note = f"({server} does not answer now.)"
    description = item.get("description")
    told = f"{note} {description}" if isinstance(description, str) and description else note
    return {**item, "description": told}


def with_name(item: dict[str, Any], server: str, names: dict[str, str]) -> dict[str, Any]:
    """A listed prompt or tool under its offered name."""
    own = item["name"]
    return {**item, "name": names.get(own) or offered(server, own)}
