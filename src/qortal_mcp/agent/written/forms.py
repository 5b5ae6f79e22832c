"""How models print a call instead of making it: each form that local models are known to use, read into one shape.

A tagged call counts anywhere in a message. JSON without a tag counts only where the message begins or ends with it:
in the middle of an explanation it is an example.
"""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Literal

from msgspec import Struct

from ...protocol.decoding import decode

# More than one message of any model holds; what follows is not read.
_MOST_SHAPES = 64
# Places in one message where a list or an object may begin. Each is scanned once, to the end in the worst case.
_MOST_STARTS = 16
_DEEPEST = 64
_NAMES = ("name", "tool", "tool_name", "function_name", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs")
_BESIDE = {"id", "call_id", "tool_call_id", "type", "index"}
FENCES = ("", "json", "tool_call", "tool_calls", "tool_code", "tool", "xml")

# An unclosed string takes the rest, so that each character is scanned once.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_PYTHON_TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"?' r"|'(?P<text>[^'\\]*(?:\\.[^'\\]*)*)'?" r"|\b(?P<word>True|False|None)\b",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BETWEEN = re.compile(r"[\s,;]*")
_LINE_WITH_JSON = re.compile(r"^[ \t]*(?=[\[{])", re.MULTILINE)
_LINE_WITH_FENCE = re.compile(r"^[ \t]*+```[ \t]*+([\w-]*+)[ \t]*+(?:\n|\Z)", re.MULTILINE)

# What begins a call: with the tool's name in it, or with everything in what follows.
_BAR = "[|\uff5c]"
_MARK = re.compile(
    r"<function=[\"']?(?P<function>[^<>\"'\s]{1,200})[\"']?>"
    r"|<(?:\w{1,20}:)?invoke name=[\"'](?P<invoke>[^<>\"'\s]{1,200})[\"']>"
    rf"|\bto=(?P<to>[\w.:-]{{1,100}}+)(?:[^<\n]|<{_BAR}(?:constrain|channel){_BAR}>){{0,40}}+<{_BAR}message{_BAR}>"
    rf"|(?P<open><(?:tool_?calls?|function_?calls?|tools)>"
    rf"|<{_BAR}(?:tool_calls?|tool_call_(?:start|begin)|python_tag|tool\u2581call\u2581begin){_BAR}>"
    r"|\[TOOL_(?:CALLS|REQUEST)\]|\bfunctools(?=\[))"
    r"|(?P<close></(?:function|tool_?calls?|function_?calls?|tools|(?:\w{1,20}:)?invoke)>"
    r"|\[/TOOL_CALLS\]|\[END_TOOL_REQUEST\]"
    rf"|<{_BAR}(?:/tool_calls?|tool_calls?_(?:end|section_end)|tool\u2581calls?\u2581end"
    rf"|call|eom_id|eot_id|im_end|end){_BAR}>)"
)
# What stands between a name and its arguments.
_SEPARATOR = re.compile(
    rf"\[ARGS\]|\[CALL_ID\][^\[\n]{{0,64}}|<{_BAR}(?:tool_call_argument_begin|tool\u2581sep){_BAR}>"
)
_NAME_THEN_ARGUMENTS = re.compile(r"(?:function\s+)?([\w.:/-]{1,200})\s*(?=\{|```)")
_PARAMETER = re.compile(
    r"<parameter(?:=| name=)[\"']?(?P<key>[^<>\"']{1,200})[\"']?>(?P<value>.*?)(?=</parameter>|<parameter|\Z)",
    re.DOTALL,
)
_PAIR = re.compile(
    r"<arg_key>(?P<key>[^<]{1,200})</arg_key>\s*<arg_value>(?P<value>.*?)(?=</arg_value>|<arg_key>|\Z)",
    re.DOTALL,
)
_PYTHON_CALL = re.compile(
    r"(?P<printed>print\(\s*)?(?P<name>[A-Za-z_][\w.-]{0,199})\((?P<inside>.*)\)", re.DOTALL
)
_PYTHON_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?' r"|'[^'\\]*(?:\\.[^'\\]*)*'?|[\[\](){},]", re.DOTALL)
_KEYWORD = re.compile(r"\s*([A-Za-z_]\w{0,199})\s*=\s*")


class Shape(Struct, frozen=True, kw_only=True):
    """What looks like a call: `arguments` is None if it says nothing of them, and a text if they are JSON in JSON."""

    name: str
    arguments: Any
    # As the model wrote it.
    text: str
    form: Literal["tagged", "json", "python"]


def shapes(text: str) -> list[Shape]:
    """Everything in a message that looks like a call, in order."""
    found = _tagged(text)
    if found is None:
        found = _untagged(text)
    return found[:_MOST_SHAPES]


def _tagged(text: str) -> list[Shape] | None:
    """None: no call is tagged."""
    marks = list(_MARK.finditer(text))
    found: list[Shape] = []
    for at, mark in enumerate(marks):
        # In backticks it is the name of a tag.
        if len(found) > _MOST_SHAPES or mark["close"] or text[mark.start() - 1 : mark.start()] == "`":
            continue
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        name = mark["function"] or mark["invoke"] or mark["to"]
        body = _SEPARATOR.sub(" ", text[mark.end() : end])
        whole = text[mark.start() : end]
        found += _named(name, body, whole) if name else _in_tag(body, whole)
    return found or None


def _named(name: str, body: str, whole: str) -> list[Shape]:
    inside = _without_fence(body)
    arguments: Any = _texts(_PARAMETER, inside)
    if arguments is None:
        values, rest = _values(inside)
        arguments = values[0] if len(values) == 1 else {} if not values and not rest else None
        if not isinstance(arguments, dict):
            return [_unreadable(whole)]
    return [Shape(name=name, arguments=arguments, text=whole, form="tagged")]


def _in_tag(body: str, whole: str) -> list[Shape]:
    inside = _without_fence(body)
    if inside[:1] in ("{", "["):
        values, _ = _values(inside)
        found = [shape for value in values for shape in _from_json(value, whole, "tagged") or ()]
        return found or _python_calls(inside, whole, "tagged") or [_unreadable(whole)]
    if (pairs := _texts(_PAIR, inside)) is not None:
        name = inside[: inside.index("<arg_key>")].strip()
        return [Shape(name=name, arguments=pairs, text=whole, form="tagged")]
    if named := _NAME_THEN_ARGUMENTS.match(inside):
        return _named(named[1], inside[named.end() :], whole)
    return _python_calls(inside, whole, "tagged")


def _unreadable(text: str) -> Shape:
    return Shape(name="", arguments="", text=text, form="tagged")


def _texts(form: re.Pattern[str], inside: str) -> dict[str, str] | None:
    found = {match["key"].strip(): match["value"].strip() for match in form.finditer(inside)}
    return found or None


def _without_fence(text: str) -> str:
    """What is inside a fence, if there is one."""
    text = text.strip()
    if fence := _LINE_WITH_FENCE.match(text):
        return text[fence.end() :].split("```", 1)[0].strip()
    return text


def _untagged(text: str) -> list[Shape]:
    # None stands for prose.
    units: list[list[Shape] | None] = []
    for is_fenced, part in _fences(text):
        whole = part.strip()
        if not whole:
            continue
        if python := _python_calls(whole, whole, "python"):
            units.append(python)
        elif is_fenced:
            units.append(_all_calls(whole))
        else:
            units += _beside_prose(part)
    first = list(takewhile(lambda unit: unit is not None, units))
    last = list(takewhile(lambda unit: unit is not None, reversed(units[len(first) :])))
    return [shape for unit in (*first, *reversed(last)) if unit for shape in unit]


def _fences(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a message, and whether each stands in a fence that may hold a call."""
    at = start = 0
    is_inside = may_hold = False
    for _ in range(2 * _MOST_STARTS):
        fence = _LINE_WITH_FENCE.search(text, at)
        if fence is None:
            break
        yield is_inside and may_hold, text[start : fence.start()]
        is_inside = not is_inside
        may_hold = fence[1].lower() in FENCES
        start = at = fence.end()
    yield is_inside and may_hold, text[start:]


def _all_calls(text: str) -> list[Shape] | None:
    values, rest = _values(text)
    found = [_from_json(value, text, "json") for value in values]
    if rest or not found or None in found:
        return None
    return [shape for one in found for shape in one or ()]


def _beside_prose(text: str) -> list[list[Shape] | None]:
    units: list[list[Shape] | None] = []
    at = 0
    for _ in range(_MOST_STARTS):
        start = _LINE_WITH_JSON.search(text, at)
        if start is None:
            break
        end = _end_of_values(text, start.end())
        if end is None:
            units.append(None)
            # The next line that begins like this may be complete.
            at = start.end() + 1
            continue
        if _BETWEEN.sub("", text[at : start.start()], count=1):
            units.append(None)
        part = text[start.end() : end]
        units.append(_all_calls(part) or _python_calls(part, part, "python") or None)
        at = end
    if _BETWEEN.sub("", text[at:], count=1):
        units.append(None)
    return units


def _values(text: str) -> tuple[list[Any], str]:
    """The objects and lists that a text begins with, and the rest of it."""
    found: list[Any] = []
    at = 0
    while at < len(text) and len(found) < _MOST_SHAPES:
        end = _end_of_value(text, at) if text[at] in "{[" else None
        if end is None:
            break
        value = _read(text[at:end])
        if value is None:
            break
        found.append(value)
        between = _BETWEEN.match(text, end)
        at = end if between is None else between.end()
    return found, text[at:]


def _end_of_values(text: str, start: int) -> int | None:
    """Where the last of the objects and lists ends that follow each other."""
    end = None
    for _ in range(_MOST_SHAPES):
        next_end = _end_of_value(text, start)
        if next_end is None:
            break
        end = next_end
        between = _BETWEEN.match(text, end)
        start = end if between is None else between.end()
        if not text.startswith(("{", "["), start):
            break
    return end


def _end_of_value(text: str, start: int) -> int | None:
    depth = 0
    for token in _TOKEN.finditer(text, start):
        first = token.group()[0]
        if first in "[{":
            depth += 1
            if depth > _DEEPEST:
                return None
        elif first != '"':
            depth -= 1
            if depth <= 0:
                return token.end()
    return None


def _read(text: str) -> Any:
    """JSON, or what Python prints of the same; None if it is neither."""
    for form in (text, _PYTHON_TOKEN.sub(_as_json, text)):
        try:
            return decode(form)
        except (ValueError, RecursionError):
            continue
    return None


def _as_json(token: re.Match[str]) -> str:
    if token["word"]:
        return _WORDS[token["word"]]
    if token["text"] is not None:
        inside = token["text"].replace("\\'", "'")
        return (
            '"'
            + re.sub(r'\\.|"', lambda part: '\\"' if part[0] == '"' else part[0], inside, flags=re.DOTALL)
            + '"'
        )
    return token[0]


def _from_json(value: Any, text: str, form: Literal["tagged", "json"]) -> list[Shape] | None:
    """The calls that a value consists of; None if it is anything else."""
    if isinstance(value, dict) and isinstance(inside := value.get("tool_calls"), list):
        value = inside
    if isinstance(value, list):
        each = [_one(item, text, form) for item in value[: _MOST_SHAPES + 1]]
    else:
        each = [_one(value, text, form)]
    found = [shape for shape in each if shape is not None]
    return found if found and len(found) == len(each) else None


def _one(value: Any, text: str, form: Literal["tagged", "json"]) -> Shape | None:
    if not isinstance(value, dict):
        return None
    if isinstance(inner := value.get("function"), dict):
        if value.keys() - {"function", *_BESIDE}:
            return None
        value = inner
    named = [key for key in _NAMES if isinstance(value.get(key), str)]
    given = [key for key in _ARGUMENTS if key in value]
    if not named or len(given) > 1 or value.keys() - {named[0], *given, *_BESIDE}:
        return None
    arguments = value[given[0]] if given else None
    if given and arguments is None:
        arguments = {}
    return Shape(name=value[named[0]], arguments=arguments, text=text, form=form)


def _python_calls(text: str, whole: str, form: Literal["tagged", "python"]) -> list[Shape]:
    """`name(key=value)`: alone, printed, in a list, or several on lines of their own."""
    is_list = text.startswith("[") and text.endswith("]")
    written = _arguments(text[1:-1]) if is_list else text.splitlines()
    found: list[Shape] = []
    for one in written[: _MOST_SHAPES + 1]:
        call = _PYTHON_CALL.fullmatch(one.strip())
        if call is None:
            return []
        arguments = _keywords(call["inside"].removesuffix(")") if call["printed"] else call["inside"])
        if arguments is None:
            return []
        found.append(Shape(name=call["name"], arguments=arguments, text=whole, form=form))
    return found


def _keywords(text: str) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for argument in _arguments(text):
        keyword = _KEYWORD.match(argument)
        value = _read(f"[{argument[keyword.end() :]}]") if keyword else None
        if keyword is None or not isinstance(value, list) or len(value) != 1:
            return None
        found[keyword[1]] = value[0]
    return found


def _arguments(text: str) -> list[str]:
    """What stands between the commas, but not between those inside brackets and texts."""
    found = []
    depth = start = 0
    for token in _PYTHON_PART.finditer(text):
        first = token.group()[0]
        if first in "[({":
            depth += 1
        elif first in "])}":
            depth -= 1
        elif first == "," and depth <= 0:
            found.append(text[start : token.start()])
            start = token.end()
    return [*found, text[start:]] if text[start:].strip() else found
