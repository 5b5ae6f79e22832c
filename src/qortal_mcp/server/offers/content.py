"""Pictures, sounds, files and links as results of tools, made from bytes or a file; and which results are such blocks.

What they are is guessed: from the first bytes, then from the name.
"""

import base64
import types
import typing
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import Any, TypedDict, Unpack

from msgspec import UNSET

from ...protocol.messages import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from ..tool_errors import too_large

Source = bytes | str | PathLike[str]

# Far more than any server sends (`Limits.content_bytes`): a file may be endless.
_MOST_BYTES = 64 * 1024 * 1024
_SNIFFED_BYTES = 16
_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (0, b"BM", "image/bmp"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftypM4A", "audio/mp4"),
)
# Types that are text although their names do not say so.
_TEXTUAL = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})
_UNKNOWN = "application/octet-stream"


class SourceOptions(TypedDict, total=False):
    """Other words for the source of a picture or sound and its type, known from elsewhere."""

    data: bytes
    path: str | PathLike[str]
    format: str


class Image:
    """A picture: its bytes, or the path of its file."""

    def __init__(
        self, source: Source | None = None, mime_type: str | None = None, **options: Unpack[SourceOptions]
    ) -> None:
        data, kind = _medium("image", source, mime_type, options)
        self.block = ImageContent(data=_base64(data), mimeType=kind)


class Audio:
    """A sound: its bytes, or the path of its file."""

    def __init__(
        self, source: Source | None = None, mime_type: str | None = None, **options: Unpack[SourceOptions]
    ) -> None:
        data, kind = _medium("audio", source, mime_type, options)
        self.block = AudioContent(data=_base64(data), mimeType=kind)


class File:
    """A file that is part of the result: its bytes, or its path. Of a path, only the last part is shown to clients."""

    def __init__(
        self,
        source: Source,
        mime_type: str | None = None,
        *,
        name: str | None = None,
        uri: str | None = None,
    ) -> None:
        from urllib.parse import quote  # not needed to start

        data, found = _read(source)
        name = name or found or "file"
        kind = mime_type or _by_name(name) or _by_magic(data) or _UNKNOWN
        text = _text(data) if kind.startswith("text/") or kind in _TEXTUAL else None
        contents = ResourceContents(
            uri=uri or f"file:///{quote(name)}",
            mimeType=kind,
            text=UNSET if text is None else text,
            blob=_base64(data) if text is None else UNSET,
        )
        self.block = EmbeddedResource(resource=contents)


class Link:
    """A reference to something that the client may read: a resource of this server, or any address."""

    def __init__(
        self,
        uri: str,
        name: str | None = None,
        *,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
    ) -> None:
        from urllib.parse import unquote, urlsplit  # not needed to start

        last = unquote(urlsplit(uri).path.rstrip("/").rpartition("/")[2])
        self.block = ResourceLink(
            uri=uri,
            name=name or last or uri,
            title=title or UNSET,
            description=description or UNSET,
            mimeType=mime_type or _by_name(last) or UNSET,
        )


_MADE = (Image, Audio, File, Link)
_BLOCKS = (TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink)
_ANY_BLOCK = (*_MADE, *_BLOCKS)


def is_content(declared: Any) -> bool:
    """Whether a declared type is a block, or has one among its alternatives or items."""
    if declared in _ANY_BLOCK:
        return True
    if typing.get_origin(declared) in (list, tuple, Sequence, types.UnionType, typing.Union):
        return any(is_content(part) for part in typing.get_args(declared))
    return False


def blocks_of(value: Any, encode: Callable[[Any], bytes]) -> tuple[Sequence[Content], bytes | None] | None:
    """The blocks of a result that has any, and what is structured in it; None for all other values.

    Beside blocks a text is a text, and any other value its JSON. A single object is also the structured content.
    """
    if isinstance(value, _ANY_BLOCK):
        return (_block(value),), None
    if not isinstance(value, list | tuple) or not any(isinstance(item, _ANY_BLOCK) for item in value):
        return None
    blocks: list[Content] = []
    objects: list[bytes] = []
    for item in value:
        if isinstance(item, _ANY_BLOCK):
            blocks.append(_block(item))
        elif isinstance(item, str):
            blocks.append(TextContent(text=item))
        else:
            body = encode(item)
            blocks.append(TextContent(text=body.decode()))
            if body[:1] == b"{":
                objects.append(body)
    return blocks, objects[0] if len(objects) == 1 else None


def _block(value: Any) -> Content:
    block: Content = value.block if isinstance(value, _MADE) else value
    return block


def _read(source: Source) -> tuple[bytes, str]:
    """The bytes, and the name of the file they come from.

    Raises: OSError; ToolError if there are more than any server sends.
    """
    if isinstance(source, bytes):
        return source, ""
    path = fspath(source)
    with open(path, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise too_large()
    return data, path.replace("\\", "/").rpartition("/")[2]


def _medium(
    kind: str, source: Source | None, mime_type: str | None, options: SourceOptions
) -> tuple[bytes, str]:
    """The bytes, and their type.

    Raises: TypeError, ValueError if it is not clear what is meant; as `_read` does.
    """
    sources = [each for each in (source, options.get("data"), options.get("path")) if each is not None]
    if len(sources) != 1 or not set(options) <= SourceOptions.__annotations__.keys():
        name = kind.capitalize()
        raise TypeError(f'{name} takes bytes or a path, and perhaps a type: {name}(source, "{kind}/…")')
    if mime_type is None and "format" in options:
        mime_type = f"{kind}/{options['format'].lower()}"
    data, name = _read(sources[0])
    return data, mime_type or _guessed(kind, data, name)


def _guessed(kind: str, data: bytes, name: str) -> str:
    found = _by_magic(data) or _by_name(name)
    if found is None or not found.startswith(f"{kind}/"):
        what = name or "this"
        raise ValueError(f'cannot tell what kind of {kind} {what} is: say it with mime_type="{kind}/…"')
    return found


def _by_magic(data: bytes) -> str | None:
    start = data[:_SNIFFED_BYTES]
    return next((kind for at, magic, kind in _MAGIC if start.startswith(magic, at)), None)


def _by_name(name: str) -> str | None:
    from mimetypes import guess_type  # it reads the tables of the system

    return guess_type(f"/{name}")[0]


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
