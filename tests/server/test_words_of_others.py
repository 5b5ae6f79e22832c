"""What people write who come from other libraries: it works, or it is refused with a sentence that says what to write here."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from qortal_mcp import Audio, Image, Server, ToolAnnotations, ToolError, tool
from qortal_mcp.client import connect

PNG = b"\x89PNG\r\n\x1a\n"


def test_a_title_and_a_description_may_be_named() -> None:
    server = Server("words")

    @server.tool(title="Hello", description="Greets a person.")
    def hello(name: str) -> str:
        return name

    assert (hello.definition.title, hello.definition.description) == ("Hello", "Greets a person.")


def test_a_description_stands_in_place_of_the_docstring() -> None:
    @tool(description="For models.")
    def hello() -> None:
        """For readers of the code."""

    assert hello.description == "For models."


def test_annotations_may_be_written_as_a_dict() -> None:
    made = tool(annotations={"readOnlyHint": True}, description="Reads.")(lambda: None)
    assert made.annotations == ToolAnnotations(readOnlyHint=True)


async def test_a_tool_error_may_be_a_sentence_alone() -> None:
    server = Server("words")

    @server.tool
    def find() -> str:
        """Finds nothing."""
        raise ToolError("Not found.")

    async with connect(server) as client:
        answer = await client.call_tool("find")
    assert answer.is_error
    assert "Not found." in str(answer.content)
    assert ToolError("Not found.").code == "FAILED"


def test_a_picture_may_be_given_as_data_and_format_or_as_a_path(tmp_path: Any) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(PNG)
    for picture in (Image(data=PNG, format="png"), Image(path=file), Image(path=str(file)), Image(PNG)):
        assert (picture.block.mimeType, base64.b64decode(picture.block.data)) == ("image/png", PNG)
    assert Audio(data=b"?", format="WAV").block.mimeType == "audio/wav"


class Shelf:
    def find(self, title: str) -> str:
        """Finds a book."""
        return title


def test_a_method_of_an_object_can_be_a_tool() -> None:
    assert list(Server("words").add_tool(Shelf().find).definition.inputSchema["properties"]) == ["title"]


def _a_local_class() -> Any:
    class Local:
        pass

    @tool
    def shown(book: Local) -> None:
        """Shows a book."""


def _a_local_class_returned() -> Any:
    class Local:
        pass

    @tool
    def shown() -> Local:
        """Shows a book."""
        return Local()


def _untyped(x) -> None:  # type: ignore[no-untyped-def]
    """Takes something."""


def _any_object(x: object = None) -> None:
    """Takes something."""


def _at(uri: str) -> Callable[[], Any]:
    def read(x: str) -> str:
        """Reads."""
        return x

    return lambda: Server("words").resource(uri)(read)


def _with(annotations: Any) -> Callable[[], Any]:
    return lambda: tool(annotations=annotations, name="look", description="Looks.")(lambda: None)


ODD: Any = [1]
REFUSED: list[tuple[str, Callable[[], Any], str]] = [
    ("method", lambda: tool(Shelf.find), r"write server\.add_tool\(Shelf\(\)\.find\)"),
    ("no URI", lambda: Server("words").resource(_any_object), r"needs its URI: write @server\.resource\("),  # type: ignore[arg-type]
    ("no type", lambda: tool(_untyped), "_untyped: the parameter x has no type.* write x: str.* or x: Any"),
    ("object", lambda: tool(_any_object), "_any_object: write x: Any"),
    (
        "local class",
        _a_local_class,
        "shown: the type of the parameter book .* Local is not defined at the top",
    ),
    ("returned", _a_local_class_returned, "shown: the type of what it returns .* Local is not defined"),
    ("star", _at("a://{x*}"), r"\{x\*\} in a://\{x\*\} is not supported; .* there is no \*"),
    ("query", _at("a://{x}{?y}"), r"\{\?y\} in .* is not supported"),
    ("open brace", _at("a://{x}/{y"), r"\{y in .* is not supported"),
    ("version", lambda: Server("words", ODD), r'a server has a name and a version: Server\("shelf", "1.0"'),
    ("name", lambda: Server(ODD), "a server has a name"),
    ("annotation", _with({"readOnly": True}), "look: annotations are READ_ONLY, or some of readOnlyHint, "),
    ("annotations", _with([True]), "look: annotations are READ_ONLY"),
    ("annotation value", _with({"readOnlyHint": "yes"}), "look: each annotation is True or False"),
    ("two sources", lambda: Image(PNG, data=PNG), "Image takes bytes or a path"),
    ("no source", lambda: Audio(), "Audio takes bytes or a path"),
    ("odd word", lambda: Image(PNG, kind="png"), "Image takes bytes or a path"),  # type: ignore[call-arg]
]


@pytest.mark.parametrize(
    ("make", "sentence"), [pytest.param(make, sentence, id=name) for name, make, sentence in REFUSED]
)
def test_what_is_written_otherwise_here_is_refused_with_what_to_write(
    make: Callable[[], Any], sentence: str
) -> None:
    with pytest.raises(TypeError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("name", "instead"), [("run", r"write run\(server\)"), ("http_app", r"write HttpApp\(server\)")]
)
def test_a_server_says_what_to_write_instead_of_methods_that_it_lacks(name: str, instead: str) -> None:
    server = Server("words")
    with pytest.raises(AttributeError, match=f"a server has no {name}: {instead}"):
        getattr(server, name)
    assert not hasattr(server, "walk")
