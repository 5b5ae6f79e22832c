"""What a tool says about itself: name, description, annotations, and whether it has schemas."""

import re
from collections.abc import Iterator
from typing import Any

from ....text import printable
from ...judging.check import ADVICE, MUST, PORTABILITY, SHOULD, Check, Defect, check, since
from ...subjects import MISSING, Tool

_TOOL = "schema: Tool"
_NAMES = "server/tools: tool names (2025-11-25)"
_NAME = re.compile(r"[A-Za-z0-9_.-]*")
_EVERYWHERE = re.compile(r"[A-Za-z0-9_-]*")
_LONGEST = 128
# What the APIs of model providers accept.
_LONGEST_EVERYWHERE = 64
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def _name(tool: Tool) -> str | None:
    name = tool.tool.get("name") if isinstance(tool.tool, dict) else None
    return name if isinstance(name, str) else None


@check(
    "tool-malformed",
    MUST,
    Tool,
    clause=_TOOL,
    expected="Each entry is an object with a name.",
    fix="Leave out what is not a tool; because of one bad entry many clients reject the whole list.",
)
def tool_malformed(tool: Tool) -> Iterator[Defect]:
    """An entry that is not a tool."""
    if _name(tool) is None:
        yield Defect(evidence=tool.tool)
    elif not isinstance(tool.tool.get("annotations", {}), dict | None):
        yield Defect(path="annotations", evidence=tool.tool["annotations"])


@check(
    "tool-name-empty",
    SHOULD,
    Tool,
    clause=_NAMES,
    expected="A name has at least one character.",
    fix="Give the tool a name.",
)
def tool_name_empty(tool: Tool) -> Iterator[Defect]:
    """A tool with an empty name."""
    if _name(tool) == "":
        yield Defect(path="name", evidence=tool.tool)


@check(
    "tool-name-charset",
    SHOULD,
    Tool,
    clause=_NAMES,
    expected="Names consist of A-Z a-z 0-9 _ and -; a dot is allowed, but not every model provider accepts it.",
    fix="Rename the tool, for example with _ in place of the other characters.",
)
def tool_name_charset(tool: Tool) -> Iterator[Defect]:
    """A name with characters that clients change or reject."""
    name = _name(tool) or ""
    if _NAME.fullmatch(name) is None:
        yield Defect(path="name", evidence=name)
    elif _EVERYWHERE.fullmatch(name) is None:
        yield Defect(path="name", evidence=name, severity=PORTABILITY, case="name-dot")


@check(
    "tool-name-length",
    SHOULD,
    Tool,
    clause=_NAMES,
    expected=f"A name has at most {_LONGEST_EVERYWHERE} characters; {_LONGEST} by the specification.",
    fix="Shorten the name.",
)
def tool_name_length(tool: Tool) -> Iterator[Defect]:
    """A long name."""
    name = _name(tool) or ""
    if len(name) > _LONGEST:
        yield Defect(path="name", evidence=name)
    elif len(name) > _LONGEST_EVERYWHERE:
        yield Defect(path="name", evidence=name, severity=PORTABILITY)


@check(
    "tool-description-missing",
    ADVICE,
    Tool,
    clause=_TOOL,
    expected="A tool has a description: without one a model can only guess from the name.",
    fix="Say in one sentence what the tool returns and when to use it.",
)
def tool_description_missing(tool: Tool) -> Iterator[Defect]:
    """A tool without a description."""
    if _name(tool) is not None and tool.tool.get("description", "") == "":
        yield Defect(path="description", evidence=tool.tool)


@check(
    "tool-description-not-string",
    MUST,
    Tool,
    clause=_TOOL,
    expected="description and title are strings.",
    fix="Join the parts into one string.",
)
def tool_description_not_string(tool: Tool) -> Iterator[Defect]:
    """A description or title that is not a string."""
    for name in ("description", "title") if _name(tool) is not None else ():
        if not isinstance(tool.tool.get(name, ""), str | None):
            yield Defect(path=name, evidence=tool.tool[name])


@check(
    "tool-annotation-not-boolean",
    MUST,
    Tool,
    clause="schema: ToolAnnotations",
    expected="Hints are booleans.",
    fix="Send true or false, not a string.",
)
def tool_annotation_not_boolean(tool: Tool) -> Iterator[Defect]:
    """A hint that is not a boolean."""
    annotations = tool.tool.get("annotations") if isinstance(tool.tool, dict) else None
    if not isinstance(annotations, dict):
        return
    for name in _HINTS:
        if not isinstance(annotations.get(name, False), bool):
            yield Defect(path=f"annotations.{name}", evidence=annotations)


@check(
    "tool-hidden-text",
    ADVICE,
    Tool,
    expected="Names and descriptions have no invisible or control characters.",
    fix="Remove the characters; they can hide instructions from the person who approves a tool.",
)
def tool_hidden_text(tool: Tool) -> Iterator[Defect]:
    """Invisible characters in a name or description."""
    for name in ("name", "title", "description"):
        text = tool.tool.get(name) if isinstance(tool.tool, dict) else None
        if isinstance(text, str) and printable(text) != text and "\\u{" not in text:
            yield Defect(path=name, evidence=text)


@check(
    "input-schema-missing",
    MUST,
    Tool,
    clause="schema: Tool.inputSchema",
    expected="Every tool has an inputSchema.",
    fix='Send "inputSchema": {"type": "object"} for a tool without arguments; check the spelling.',
)
def input_schema_missing(tool: Tool) -> Iterator[Defect]:
    """A tool without inputSchema."""
    if _name(tool) is not None and not isinstance(tool.tool.get("inputSchema"), dict):
        yield Defect(path="inputSchema", evidence=tool.tool)


@check(
    "input-schema-type-missing",
    MUST,
    Tool,
    clause="schema: Tool.inputSchema",
    expected='inputSchema has "type": "object" at its root.',
    fix='Add "type": "object".',
)
def input_schema_type_missing(tool: Tool) -> Iterator[Defect]:
    """An inputSchema without a type."""
    schema = _schema(tool, "inputSchema")
    if schema is not None and "type" not in schema:
        yield Defect(path="inputSchema.type", evidence=schema)


@check(
    "input-schema-root-not-object",
    MUST,
    Tool,
    clause="schema: Tool.inputSchema",
    expected='inputSchema has "type": "object" at its root.',
    fix="Arguments are always an object: make the value a property of it.",
)
def input_schema_root_not_object(tool: Tool) -> Iterator[Defect]:
    """An inputSchema whose root is not an object."""
    schema = _schema(tool, "inputSchema")
    if schema is not None and schema.get("type", "object") != "object":
        yield Defect(path="inputSchema.type", evidence=schema)


@check(
    "output-schema-root-not-object",
    MUST,
    Tool,
    revisions=since("2025-06-18") - since("2026-07-28"),
    clause="schema: Tool.outputSchema (2025-06-18, 2025-11-25)",
    expected='outputSchema has "type": "object" at its root.',
    fix='Wrap it: {"type": "object", "properties": {"result": <your schema>}, "required": ["result"]}, and wrap the value the same way.',
)
def output_schema_root_not_object(tool: Tool) -> Iterator[Defect]:
    """An outputSchema whose root is not an object."""
    schema = _schema(tool, "outputSchema")
    if schema is not None and schema.get("type") != "object":
        case = "os-notype" if "type" not in schema else "os-array"
        yield Defect(path="outputSchema.type", evidence=schema, case=case)


def _schema(tool: Tool, name: str) -> dict[str, Any] | None:
    schema = tool.tool.get(name, MISSING) if isinstance(tool.tool, dict) else None
    return schema if isinstance(schema, dict) else None


CHECKS: tuple[Check[Tool], ...] = (
    tool_malformed,
    tool_name_empty,
    tool_name_charset,
    tool_name_length,
    tool_description_missing,
    tool_description_not_string,
    tool_annotation_not_boolean,
    tool_hidden_text,
    input_schema_missing,
    input_schema_type_missing,
    input_schema_root_not_object,
    output_schema_root_not_object,
)
