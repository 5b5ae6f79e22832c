"""Results that are pictures, sounds, files and links: what they are is found out, and they mix with text and objects."""

import base64
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, Struct

from qortal_mcp import Audio, File, Image, Limits, Link, Server, ServerOptions
from qortal_mcp.client import CallResult, connect
from qortal_mcp.protocol.messages import ResourceLink
from qortal_mcp.protocol.versions import REVISIONS

PNG = b"\x89PNG\r\n\x1a\n and so on"
WAV = b"RIFF\x24\0\0\0WAVEfmt "


class Point(Struct):
    x: int


async def result_of(function: Any, revision: str = "2025-11-25", **limits: Any) -> CallResult:
    function.__doc__ = "Gives something back."
    options = ServerOptions(limits=Limits(**limits))
    async with connect(Server("content", tools=[function], options=options), revision=revision) as client:
        return await client.call_tool(function.__name__)


def first(result: CallResult) -> Any:
    assert not result.is_error, result.text
    (block,) = result.content
    return block


MEDIA = [
    pytest.param(Image, PNG, "a.bin", "image/png", id="png"),
    pytest.param(Image, b"\xff\xd8\xff\xe0", "a.bin", "image/jpeg", id="jpeg"),
    pytest.param(Image, b"GIF89a", "a.bin", "image/gif", id="gif"),
    pytest.param(Image, b"RIFF\0\0\0\0WEBPVP8 ", "a.bin", "image/webp", id="webp"),
    pytest.param(Image, b"<svg/>", "a.svg", "image/svg+xml", id="svg-by-name"),
    pytest.param(Audio, WAV, "a.bin", "audio/wav", id="wav"),
    pytest.param(Audio, b"ID3\x04", "a.bin", "audio/mpeg", id="mp3"),
    pytest.param(Audio, b"OggS", "a.bin", "audio/ogg", id="ogg"),
    pytest.param(Audio, b"????", "a.mp3", "audio/mpeg", id="mp3-by-name"),
]


@pytest.mark.promise(
    "Library",
    "A tool returns pictures, sounds, files and links from bytes or a path; their media type is found out.",
)
@pytest.mark.parametrize(("kind", "data", "name", "mime_type"), MEDIA)
async def test_a_medium_is_recognised(
    tmp_path: Path, kind: Any, data: bytes, name: str, mime_type: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)

    def give() -> Any:
        return kind(path)

    block = first(await result_of(give))
    assert block.mimeType == mime_type
    assert base64.b64decode(block.data) == data
    assert kind(str(path)).block == kind(data, mime_type).block == block


@pytest.mark.parametrize("source", [b"????", "a.txt"])
@pytest.mark.parametrize("kind", [Image, Audio])
def test_a_medium_that_is_not_recognised_must_be_named(tmp_path: Path, kind: Any, source: Any) -> None:
    if isinstance(source, str):
        source = tmp_path / source
        source.write_text("text")
    with pytest.raises(ValueError, match="say it with mime_type="):
        kind(source)
    assert kind(source, "image/x-new").block.mimeType == "image/x-new"


FILES = [
    pytest.param("a.txt", b"text", "text/plain", "text", id="text"),
    pytest.param("a.json", b"{}", "application/json", "{}", id="json"),
    pytest.param("a.txt", b"\xff", "text/plain", None, id="text-that-is-none"),
    pytest.param("a b.zip", b"PK", "application/zip", None, id="zip"),
    pytest.param("picture", PNG, "image/png", None, id="by-content"),
    pytest.param("thing", b"?", "application/octet-stream", None, id="unknown"),
]


@pytest.mark.parametrize(("name", "data", "mime_type", "text"), FILES)
def test_a_file_is_text_where_it_can_be(
    tmp_path: Path, name: str, data: bytes, mime_type: str, text: str | None
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    made = File(path).block.resource
    assert made.mimeType == mime_type
    assert made.text == (UNSET if text is None else text)
    assert text is not None or base64.b64decode(str(made.blob)) == data
    # Where a server keeps its files is nobody's business.
    assert made.uri == f"file:///{name.replace(' ', '%20')}"
    assert File(data, name=name).block.resource == made


def test_a_link_is_named_after_what_it_leads_to() -> None:
    assert Link("shelf://books/Emma.pdf").block == ResourceLink(
        uri="shelf://books/Emma.pdf", name="Emma.pdf", mimeType="application/pdf"
    )
    assert Link("https://a.example").block.name == "https://a.example"
    full = Link("a:b", "B", title="The B", description="A thing.", mime_type="text/x").block
    assert full == ResourceLink(uri="a:b", name="B", title="The B", description="A thing.", mimeType="text/x")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_blocks_mix_with_text_and_objects(revision: str) -> None:
    def mixed() -> list[str | Image | Point | Link]:
        return ["See:", Image(PNG), Point(1), Link("a://b")]

    result = await result_of(mixed, revision)
    assert not result.is_error
    assert "See:" in result.text
    assert '{"x":1}' in result.text
    assert result.structured == {"x": 1}
    assert len(result.content) == 4


async def test_several_objects_beside_blocks_are_text_alone() -> None:
    def mixed() -> Any:
        return Point(1), Image(PNG), Point(2), [3]

    result = await result_of(mixed)
    assert result.structured is UNSET
    assert result.text == '{"x":1}\n{"x":2}\n[3]'


async def test_nothing_instead_of_a_picture_is_an_empty_result() -> None:
    def none() -> Image | None:
        return None

    assert (await result_of(none)).content == []


@pytest.mark.parametrize("kind", [Image, Audio, File])
async def test_blocks_are_bounded(kind: Any) -> None:
    def large() -> Any:
        return [kind(PNG + bytes(1000), "image/png")]

    assert not (await result_of(large)).is_error
    assert (await result_of(large, content_bytes=500)).text == "Answer too large."


async def test_an_endless_file_is_given_up() -> None:
    def endless() -> Any:
        return File("/dev/zero")

    assert (await result_of(endless)).text == "Answer too large."


@pytest.mark.parametrize("declared", [list, dict])
async def test_a_picture_among_data_is_a_bug_of_which_the_log_says_what_to_write(
    declared: type, caplog: pytest.LogCaptureFixture
) -> None:
    def draw() -> Any:
        return [Image(PNG)] if declared is list else {"picture": Image(PNG)}

    draw.__annotations__["return"] = declared
    assert (await result_of(draw)).is_error
    assert "declare Image, list[str | Image] or nothing" in caplog.text
