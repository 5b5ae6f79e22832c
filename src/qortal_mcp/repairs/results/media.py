"""Blocks that are more than text: images, audio, embedded resources and links."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ..repair import ABSENT, ALL, SAFE, Change, Repair, repair
from ..subjects import CallResult
from .reading import Json, as_text, blocks_of, content_of, text_block, texts_of

_MEDIA = ("image", "audio")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+", re.DOTALL)
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},")
_OTHER_ALPHABET = str.maketrans("-_", "+/")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
# How files of these types begin, and what follows eight bytes later in the two that share a beginning.
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"<svg", "image/svg+xml"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_IN_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_UNKNOWN = "application/octet-stream"
_IN_RESOURCE = ("uri", "mimeType", "text", "blob")


@repair(
    "image-data-not-base64",
    SAFE,
    CallResult,
    makes="The data: prefix is removed; a block without any data becomes a text with its JSON.",
)
def data_not_base64(call: CallResult) -> Iterator[Change]:
    """An image or audio block whose data is not Base64."""
    for at, block in blocks_of(call, *_MEDIA):
        data = block.get("data")
        if not isinstance(data, str):
            content_of(call)[at] = text_block(as_text(block))
            yield Change(path=f"content[{at}]", before=block, after=content_of(call)[at])
        elif (prefix := _DATA_URL.match(data)) is not None:
            block["data"] = data[prefix.end() :]
            if prefix[1] and not isinstance(block.get("mimeType"), str):
                block["mimeType"] = prefix[1]
            yield Change(path=f"content[{at}].data", before=data, after=block["data"])
        elif not _is_base64(data) and _is_base64(other := data.translate(_OTHER_ALPHABET)):
            block["data"] = other
            yield Change(path=f"content[{at}].data", before=data, after=other)


def _is_base64(text: str) -> bool:
    # Blanks first: a pattern that has them in two places tries every way to share them out.
    return _BASE64.fullmatch("".join(text.split())) is not None


@repair(
    "image-mimetype-missing", SAFE, CallResult, makes="The type is taken from the first bytes of the data."
)
def mimetype_missing(call: CallResult) -> Iterator[Change]:
    """An image or audio block without mimeType."""
    for at, block in blocks_of(call, *_MEDIA):
        before, data = block.get("mimeType", ABSENT), block.get("data")
        if isinstance(data, str) and not isinstance(before, str):
            block["mimeType"] = _sniffed(data)
            yield Change(path=f"content[{at}].mimeType", before=before, after=block["mimeType"])


def _sniffed(data: str) -> str:
    try:
        first = base64.b64decode("".join(data[:64].split())[:24])
    except (binascii.Error, ValueError):
        return _UNKNOWN
    if first.startswith(b"RIFF"):
        return _IN_RIFF.get(first[8:12], _UNKNOWN)
    return next((kind for beginning, kind in _BEGINNINGS if first.startswith(beginning)), _UNKNOWN)


@repair(
    "embedded-resource-empty",
    SAFE,
    CallResult,
    makes="Members beside resource move into it; its text becomes a string, an empty one if there is none.",
)
def resource_empty(call: CallResult) -> Iterator[Change]:
    """An embedded resource with neither text nor blob."""
    for at, block in blocks_of(call, "resource"):
        before = block.get("resource", ABSENT)
        resource = before
        if not isinstance(resource, dict):
            moved = {name: block.pop(name) for name in _IN_RESOURCE if name in block}
            block["resource"] = resource = {"uri": before, **moved} if isinstance(before, str) else moved
        elif any(isinstance(resource.get(name), str) for name in ("text", "blob")):
            continue
        if not isinstance(resource.get("blob"), str):
            resource["text"] = as_text(resource.get("text"))
        yield Change(path=f"content[{at}].resource", after=resource)


@repair("resource-link-name-missing", SAFE, CallResult, makes="Its uri is also its name.")
def link_name_missing(call: CallResult) -> Iterator[Change]:
    """A link without a name."""
    for at, block in blocks_of(call, "resource_link"):
        before, uri = block.get("name", ABSENT), block.get("uri")
        if not isinstance(before, str) and isinstance(uri, str):
            block["name"] = uri
            yield Change(path=f"content[{at}].name", before=before, after=uri)


@repair(
    "uri-missing",
    SAFE,
    CallResult,
    makes="A text block with the text of the resource, or with what the link says.",
)
def uri_missing(call: CallResult) -> Iterator[Change]:
    """A resource or link without a uri, unless it holds bytes."""
    for at, block in blocks_of(call, "resource", "resource_link"):
        holder = _holder(block)
        if isinstance(holder.get("uri"), str):
            continue
        text = as_text(_without_type(block)) if holder is block else holder.get("text")
        if isinstance(text, str):
            content_of(call)[at] = text_block(text)
            yield Change(path=f"content[{at}]", before=block, after=content_of(call)[at], keep=True)


def _without_type(block: Json) -> Json:
    return {name: part for name, part in block.items() if name != "type" and part is not None}


@repair("uri-missing", ALL, CallResult, makes="A uri is made up.")
def uri_of_bytes_missing(call: CallResult) -> Iterator[Change]:
    """Bytes of a resource without a uri."""
    for at, block in blocks_of(call, "resource"):
        resource = block.get("resource")
        if isinstance(resource, dict) and not isinstance(resource.get("uri"), str):
            before = resource.get("uri", ABSENT)
            resource["uri"] = f"resource:///content/{at}"
            yield Change(path=f"content[{at}].resource.uri", before=before, after=resource["uri"])


@repair("uri-not-absolute", SAFE, CallResult, makes="The scheme resource: is put before it.")
def uri_not_absolute(call: CallResult) -> Iterator[Change]:
    """A relative uri."""
    for at, block in blocks_of(call, "resource", "resource_link"):
        holder = _holder(block)
        before = holder.get("uri")
        if isinstance(before, str) and _ABSOLUTE.fullmatch(before) is None:
            # Not file: a client must not look for it on its own disk.
            holder["uri"] = f"resource:///{quote(before.lstrip('/'), safe='/?#&=%:@+,;')}"
            place = ".uri" if holder is block else ".resource.uri"
            yield Change(path=f"content[{at}]{place}", before=before, after=holder["uri"], keep=True)


def _holder(block: Json) -> Json:
    """What must have a uri: a link itself, or the resource in a block."""
    resource = block.get("resource")
    if block.get("type") != "resource":
        return block
    return resource if isinstance(resource, dict) else {}


@repair(
    "resource-link",
    ALL,
    CallResult,
    makes="A text block with name and uri, and the description if there is one.",
)
def link(call: CallResult) -> Iterator[Change]:
    """A link to a resource, which many clients do not follow."""
    for at, block in blocks_of(call, "resource_link"):
        if isinstance(block.get("uri"), str) and isinstance(name := block.get("name"), str):
            text = f"{block['title'] if isinstance(block.get('title'), str) else name}: {block['uri']}"
            if isinstance(about := block.get("description"), str):
                text = f"{text}\n{about}"
            content_of(call)[at] = text_block(text)
            yield Change(path=f"content[{at}]", before=block, after=content_of(call)[at], keep=True)


@repair("audio-result", ALL, CallResult, makes="A text block with the type and size of what was left out.")
def audio(call: CallResult) -> Iterator[Change]:
    """Audio as a result, which few models can use and one client fails on."""
    for at, block in blocks_of(call, "audio"):
        if isinstance(data := block.get("data"), str):
            said = f"[audio, {as_text(block.get('mimeType')) or _UNKNOWN}, {_size(data):,} bytes: left out]"
            content_of(call)[at] = text_block(said)
            yield Change(path=f"content[{at}]", after=content_of(call)[at])


@repair("binary-result", ALL, CallResult, makes="A text block before it says its uri, type and size.")
def binary(call: CallResult) -> Iterator[Change]:
    """Binary data that most models never see."""
    if any(text.strip() for _, text in texts_of(call)):
        return
    said = []
    for at, block in blocks_of(call, "resource"):
        resource = block.get("resource")
        if isinstance(resource, dict) and isinstance(blob := resource.get("blob"), str):
            kind = as_text(resource.get("mimeType")) or _UNKNOWN
            said.append(f"[{as_text(resource.get('uri'))}, {kind}, {_size(blob):,} bytes]")
            yield Change(path=f"content[{at}]", after=said[-1])
    if said:
        call.value["content"] = [text_block("\n".join(said)), *content_of(call)]


def _size(data: str) -> int:
    """The bytes that Base64 stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


MEDIA: tuple[Repair[Any], ...] = (
    data_not_base64,
    mimetype_missing,
    resource_empty,
    link_name_missing,
    uri_missing,
    uri_of_bytes_missing,
    uri_not_absolute,
    link,
    audio,
    binary,
)
