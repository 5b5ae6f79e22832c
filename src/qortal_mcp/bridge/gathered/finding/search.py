"""Tools by search: four tools in place of all definitions, and how they find what a model is looking for. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from ....text import printable, shortened

FIND, DESCRIBE, CALL_READ_ONLY, CALL = "find_tools", "describe_tool", "call_read_only_tool", "call_tool"
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SENTENCE_CHARS = 200
_QUERY_WORDS = 20
_SEARCHED_CHARS = 4_000
_NAME = {"type": "string", "description": "The name of a tool as find_tools gives it."}
_ARGUMENTS = {
    "type": "object",
    "description": "The arguments of the tool, as describe_tool shows them in inputSchema.",
    "properties": {},
    "additionalProperties": True,
}


def _definition(
    tool: str,
    title: str,
    description: str,
    annotations: dict[str, bool],
    required: list[str],
    **properties: Any,
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if not required:
        del schema["required"]
    return {
        "name": tool,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "annotations": annotations,
    }


_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
DEFINITIONS: tuple[dict[str, Any], ...] = (
    _definition(
        FIND,
        "Find tools",
        "Search the tools of all servers by words. Returns names with the first sentence of each description. "
        "Use it first: the tools are not listed elsewhere. Without a query it lists the servers and how many tools each has.",
        _READS,
        [],
        query={
            "type": "string",
            "description": "A few words about what the tool should do, such as 'create issue'.",
        },
        server={"type": "string", "description": "Only tools of this server."},
        limit={
            "type": "integer",
            "minimum": 1,
            "maximum": 100,
            "description": "How many to return at most. Default 20.",
        },
    ),
    _definition(
        DESCRIBE,
        "Describe a tool",
        "The full definition of one tool: what it does and the schema of its arguments. Use it before calling a tool.",
        _READS,
        ["name"],
        name=_NAME,
    ),
    _definition(
        CALL_READ_ONLY,
        "Call a read-only tool",
        "Call a tool that declares itself read-only. Returns what the tool returns. Others are refused; use call_tool for them.",
        {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True},
        ["name"],
        name=_NAME,
        arguments=_ARGUMENTS,
    ),
    _definition(
        CALL,
        "Call a tool",
        "Call any tool, also one that changes something. Returns what the tool returns.",
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
        ["name"],
        name=_NAME,
        arguments=_ARGUMENTS,
    ),
)
NAMES = frozenset(one["name"] for one in DEFINITIONS)


# The words of a tool's name, title, description and arguments, and what a match there counts.
Fields = tuple[frozenset[str], ...]
_WEIGHTS = (8.0, 5.0, 2.0, 1.0)


class Searched(Struct, frozen=True):
    """One tool and the server that has it."""

    server: str
    definition: dict[str, Any]
    fields: Fields
    is_away: bool = False

    @property
    def name(self) -> str:
        name: str = self.definition["name"]
        return name


def fields_of(definition: dict[str, Any]) -> Fields:
    """What a search looks at."""
    texts = [_text(definition, member) for member in ("name", "title", "description")]
    return tuple(frozenset(_words(text)) for text in (*texts, " ".join(_argument_names(definition))))


def is_read_only(definition: dict[str, Any]) -> bool:
    """As it declares itself, which is all that anybody can know."""
    annotations = definition.get("annotations")
    return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True


def found(tools: Iterable[Searched], query: str, limit: int) -> tuple[list[Searched], int]:
    """The best matches, and how many there are in all. A tool matches with any word; more and better matches come first."""
    tools = list(tools)
    words = list(dict.fromkeys(_words(query)))[:_QUERY_WORDS]
    known = frozenset().union(*(field for one in tools for field in one.fields))
    alike = [frozenset(one for one in known if _is_alike(word, one)) for word in words]
    wanted = list(zip(words, alike, strict=True))
    scored = [(_score(one.fields, wanted), place, one) for place, one in enumerate(tools)]
    ranked = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))
    return [one for _, _, one in ranked[:limit]], len(ranked)


def _score(fields: Fields, wanted: Sequence[tuple[str, frozenset[str]]]) -> float:
    total, matched = 0.0, 0
    for word, alike in wanted:
        best = max(
            weight * (1.0 if word in those else 0.0 if alike.isdisjoint(those) else 0.6)
            for weight, those in zip(_WEIGHTS, fields, strict=True)
        )
        total += best
        matched += best > 0
    # Who has all the words comes before who has one of them often.
    return total * matched / len(wanted) if wanted else 0.0


def _is_alike(word: str, other: str) -> bool:
    return len(word) >= 3 and (other.startswith(word) or (len(other) >= 4 and word.startswith(other)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text[:_SEARCHED_CHARS]))]


def _text(definition: dict[str, Any], member: str) -> str:
    value = definition.get(member)
    return value if isinstance(value, str) else ""


def _argument_names(definition: dict[str, Any]) -> list[str]:
    schema = definition.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return [str(name)[:100] for name in properties][:100] if isinstance(properties, dict) else []


def shown(one: Searched) -> dict[str, Any]:
    """A tool as a search shows it."""
    told: dict[str, Any] = {
        "name": one.name,
        "about": first_sentence(_text(one.definition, "description") or _text(one.definition, "title")),
        "readOnly": is_read_only(one.definition),
    }
    if one.is_away:
        told["note"] = f"{one.server} does not answer now."
    return told


def first_sentence(text: str) -> str:
    plain = " ".join(printable(text[:_SEARCHED_CHARS]).split())
    end = re.search(r"[.!?](?= |$)", plain)
    return shortened(plain if end is None else plain[: end.end()], _SENTENCE_CHARS)
