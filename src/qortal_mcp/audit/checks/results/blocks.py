"""The blocks of a result's content, one by one."""

import re
from collections.abc import Iterator
from typing import Any

from ....text import printable
from ...judging.check import ADVICE, MUST, PORTABILITY, SHOULD, Check, Defect, check, count_note, since
from ...subjects import Called, Session, Whole

_CONTENT = "server/tools: CallToolResult.content"
_RESOURCE = "schema: EmbeddedResource"
_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})
_MEDIA = frozenset({"image", "audio"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+", re.DOTALL)
_SAID_ELSEWHERE = re.compile(r"[\ud800-\udfff]|\\u\{")
_ANSI = re.compile("\x1b[\\[\\]()#P_^X]")


def _blocks(call: Called, *types: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for at, block in enumerate(call.blocks):
        if isinstance(block, dict) and (not types or block.get("type") in types):
            yield f"result.content[{at}]", block


@check(
    "content-block-not-object",
    MUST,
    Called,
    clause=_CONTENT,
    expected="Each block is an object with a type.",
    fix='Wrap each text: {"type": "text", "text": ...}.',
)
def content_block_not_object(call: Called) -> Iterator[Defect]:
    """A block that is not an object."""
    for at, block in enumerate(call.blocks):
        if not isinstance(block, dict):
            yield Defect(path=f"result.content[{at}]", evidence=block)


@check(
    "content-type-missing",
    MUST,
    Called,
    clause=_CONTENT,
    expected="Each block has a type.",
    fix='Add "type": "text" if the block holds text.',
)
def content_type_missing(call: Called) -> Iterator[Defect]:
    """A block without a type."""
    for path, block in _blocks(call):
        if not isinstance(block.get("type"), str):
            yield Defect(path=f"{path}.type", evidence=block)


@check(
    "content-type-unknown",
    MUST,
    Called,
    clause=_CONTENT,
    expected=f"A block's type is one of {', '.join(sorted(_TYPES))}.",
    fix="Send JSON as a text block, and as structuredContent if it is an object. There is no type object or json.",
)
def content_type_unknown(call: Called) -> Iterator[Defect]:
    """A block with a type that does not exist."""
    for path, block in _blocks(call):
        kind = block.get("type")
        if isinstance(kind, str) and kind not in _TYPES:
            case = "modern-block-object" if call.is_modern else "block-object"
            yield Defect(path=f"{path}.type", evidence=block, case=case)


@check(
    "text-not-string",
    MUST,
    Called,
    clause="schema: TextContent.text",
    expected="text is a string.",
    fix="Serialise the value into a string.",
)
def text_not_string(call: Called) -> Iterator[Defect]:
    """A text block whose text is not a string."""
    for path, block in _blocks(call, "text"):
        if not isinstance(block.get("text"), str):
            yield Defect(path=f"{path}.text", evidence=block)


@check(
    "annotations-present",
    ADVICE,
    Called,
    clause="schema: Annotations",
    expected="Results have no annotations: models never see them.",
    fix="Leave them out unless one of your clients reads them.",
)
def annotations_present(call: Called) -> Iterator[Defect]:
    """A block with annotations."""
    noted = [
        (path, block)
        for path, block in _blocks(call)
        if isinstance(block.get("annotations"), dict) and not list(_wrong_annotations(block))
    ]
    for path, block in noted[:1]:
        yield Defect(path=f"{path}.annotations", evidence=block["annotations"], note=count_note(noted))


@check(
    "annotations-invalid",
    MUST,
    Called,
    clause="schema: Annotations",
    expected="priority is a number from 0 to 1, audience a list of user and assistant.",
    fix="Correct them, or leave annotations out.",
)
def annotations_invalid(call: Called) -> Iterator[Defect]:
    """Annotations with invalid values."""
    for path, block in _blocks(call):
        for name, case in _wrong_annotations(block):
            yield Defect(path=f"{path}.annotations.{name}", evidence=block["annotations"], case=case)


def _wrong_annotations(block: dict[str, Any]) -> Iterator[tuple[str, str]]:
    annotations = block.get("annotations")
    if not isinstance(annotations, dict):
        return
    priority = annotations.get("priority", 0)
    if isinstance(priority, bool) or not isinstance(priority, int | float) or not 0 <= priority <= 1:
        yield "priority", "ann-priority-range"
    audience = annotations.get("audience", [])
    if not isinstance(audience, list) or any(one not in ("user", "assistant") for one in audience):
        yield "audience", "ann-audience"


@check(
    "resource-link",
    ADVICE,
    Called,
    clause="schema: ResourceLink",
    expected="The answer contains what the model needs: many clients do not follow links.",
    fix="Add a text block with the important part of the linked resource.",
)
def resource_link(call: Called) -> Iterator[Defect]:
    """A link to a resource."""
    links = [
        (path, block)
        for path, block in _blocks(call, "resource_link")
        if isinstance(block.get("name"), str) and isinstance(block.get("uri"), str)
    ]
    for path, block in links[:1]:
        yield Defect(path=path, evidence=block, note=count_note(links))


@check(
    "resource-link-name-missing",
    MUST,
    Called,
    clause="schema: ResourceLink.name",
    expected="A link has a name.",
    fix="Add the name.",
)
def resource_link_name_missing(call: Called) -> Iterator[Defect]:
    """A link without a name."""
    for path, block in _blocks(call, "resource_link"):
        if not isinstance(block.get("name"), str):
            yield Defect(path=f"{path}.name", evidence=block)


def _addresses(call: Called) -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that must have a uri."""
    for path, block in _blocks(call, "resource_link"):
        yield path, block
    for path, block in _blocks(call, "resource"):
        resource = block.get("resource")
        yield f"{path}.resource", resource if isinstance(resource, dict) else {}


@check(
    "uri-missing",
    MUST,
    Called,
    clause=f"{_RESOURCE}.resource.uri",
    expected="An embedded resource and a link have a uri.",
    fix="Add the uri.",
)
def uri_missing(call: Called) -> Iterator[Defect]:
    """A resource without a uri."""
    for path, holder in _addresses(call):
        if not isinstance(holder.get("uri"), str):
            yield Defect(path=f"{path}.uri", evidence=holder)


@check(
    "uri-not-absolute",
    MUST,
    Called,
    clause=f"{_RESOURCE}: uri has the format uri",
    expected="A uri begins with a scheme.",
    fix="Write it in full: file:///a/b.txt, or a scheme of your own.",
)
def uri_not_absolute(call: Called) -> Iterator[Defect]:
    """A relative uri."""
    for path, holder in _addresses(call):
        uri = holder.get("uri")
        if isinstance(uri, str) and _ABSOLUTE.fullmatch(uri) is None:
            yield Defect(path=f"{path}.uri", evidence=uri)


@check(
    "embedded-resource-empty",
    MUST,
    Called,
    clause=_RESOURCE,
    expected="An embedded resource has a text or a blob.",
    fix="Add the text, or the Base64 of the bytes as blob.",
)
def embedded_resource_empty(call: Called) -> Iterator[Defect]:
    """An embedded resource with neither text nor blob."""
    for path, block in _blocks(call, "resource"):
        resource = block.get("resource")
        if not isinstance(resource, dict) or not any(
            isinstance(resource.get(name), str) for name in ("text", "blob")
        ):
            yield Defect(path=f"{path}.resource", evidence=block)


@check(
    "binary-result",
    ADVICE,
    Called,
    clause=_RESOURCE,
    expected="Binary data comes with a text block: most clients do not show a blob to the model.",
    fix="Add a text block that says what the bytes are.",
)
def binary_result(call: Called) -> Iterator[Defect]:
    """Binary data that most models never see."""
    if any(text.strip() for text in call.texts):
        return
    for path, block in _blocks(call, "resource"):
        resource = block.get("resource")
        if (
            isinstance(resource, dict)
            and isinstance(resource.get("blob"), str)
            and isinstance(resource.get("uri"), str)
        ):
            yield Defect(path=f"{path}.resource.blob", evidence=resource)


@check(
    "image-data-not-base64",
    MUST,
    Called,
    clause="schema: ImageContent.data",
    expected="data is Base64, with no prefix.",
    fix="Remove the data: prefix; the type belongs in mimeType.",
)
def image_data_not_base64(call: Called) -> Iterator[Defect]:
    """An image or audio block whose data is not Base64."""
    for path, block in _blocks(call, *_MEDIA):
        data = block.get("data")
        if not isinstance(data, str) or not _is_base64(data):
            yield Defect(path=f"{path}.data", evidence=data)


def _is_base64(text: str) -> bool:
    # Blanks first: a pattern that has them in two places tries every way to share them out.
    return _BASE64.fullmatch("".join(text.split())) is not None


@check(
    "image-mimetype-missing",
    MUST,
    Called,
    clause="schema: ImageContent.mimeType",
    expected="An image or audio block has a mimeType.",
    fix="Add it: image/png, audio/wav…",
)
def image_mimetype_missing(call: Called) -> Iterator[Defect]:
    """An image or audio block without mimeType."""
    for path, block in _blocks(call, *_MEDIA):
        if not isinstance(block.get("mimeType"), str):
            yield Defect(path=f"{path}.mimeType", evidence={**block, "data": "…"})


@check(
    "audio-result",
    PORTABILITY,
    Called,
    clause="schema: AudioContent",
    expected="Audio comes with a text block: few models can use audio, and one client fails on it.",
    fix="Add a text block, and offer the audio as a resource.",
)
def audio_result(call: Called) -> Iterator[Defect]:
    """Audio as a result."""
    for path, _ in _blocks(call, "audio"):
        yield Defect(path=path, evidence={"type": "audio"})


@check(
    "invisible-characters",
    ADVICE,
    Called,
    expected="Texts have no invisible or reordering characters.",
    fix="Escape or remove them; they can carry instructions that no person sees.",
)
def invisible_characters(call: Called) -> Iterator[Defect]:
    """Invisible characters in a text."""
    for at, text in enumerate(call.texts):
        # Escapes of terminals and lone surrogates have codes of their own, and an escape that is shown hides nothing.
        plain = _SAID_ELSEWHERE.sub("", text)
        if printable(plain) != plain and _ANSI.search(text) is None:
            yield Defect(path=f"result.content[{at}].text", evidence=text)


@check(
    "ansi-escape",
    ADVICE,
    Called,
    expected="Texts are for a model: they have no terminal colours or cursor movements.",
    fix="Run the program that the tool uses without colours (NO_COLOR=1), or strip them.",
)
def ansi_escape(call: Called) -> Iterator[Defect]:
    """Terminal escape sequences in a text."""
    for at, text in enumerate(call.texts):
        if _ANSI.search(text) is not None:
            yield Defect(path=f"result.content[{at}].text", evidence=text)


@check(
    "embedded-without-resources",
    SHOULD,
    Whole,
    clause="server/tools: embedded resources",
    expected="A server whose tools embed resources declares the capability resources.",
    fix='Declare "resources": {} and answer resources/list, if only with an empty list.',
)
def embedded_without_resources(whole: Whole) -> Iterator[Defect]:
    """A resource in a result of a server that declares no resources."""
    bare = {id(one.visit) for one in whole.all(Session) if _lacks_resources(one)}
    for call in whole.all(Called):
        if call.revision in _EMBEDS and id(call.visit) in bare:
            for path, block in _blocks(call, "resource"):
                place = f"tools/call {call.step.subject}: {path}"
                yield Defect(path=place, evidence=block, at=(call.visit, call.step))
                return


def _lacks_resources(session: Session) -> bool:
    return isinstance(session.capabilities, dict) and "resources" not in session.capabilities


_EMBEDS = since("2025-06-18")

CHECKS: tuple[Check[Any], ...] = (
    content_block_not_object,
    content_type_missing,
    content_type_unknown,
    text_not_string,
    annotations_present,
    annotations_invalid,
    resource_link,
    resource_link_name_missing,
    uri_missing,
    uri_not_absolute,
    embedded_resource_empty,
    binary_result,
    image_data_not_base64,
    image_mimetype_missing,
    audio_result,
    invisible_characters,
    ansi_escape,
    embedded_without_resources,
)
