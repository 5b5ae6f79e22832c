"""The texts that a person copies, from a client and a target: the piece of a settings file, a command line, a link. Pure."""

import base64
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .client import SERVER_NAME, Client, Part, Setup, Target

# A list that is longer on one line is written with one item per line.
_LINE_CHARS = 88
# What TOML and YAML want escaped besides what JSON escapes.
_UNSEEN = re.compile("[\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029]")


def entry(client: Client, setup: Setup, target: Target) -> dict[str, Any]:
    """What the client's settings hold about the server."""
    members = dict(setup.entry)
    if _wants_token(client, setup, target) and client.token is not None:
        members |= client.token.members
    return {name: _filled(value, target) for name, value in members.items()}


def document(client: Client, setup: Setup, target: Target) -> dict[str, Any]:
    """A settings file with nothing but the entry in it."""
    inner: dict[str, Any] = {SERVER_NAME: entry(client, setup, target)}
    for key in reversed(client.key):
        inner = {key: inner}
    return {**inner, **_beside(client, setup, target)}


def snippet(client: Client, setup: Setup, target: Target) -> str:
    """The same as text, in the format of the client's file."""
    return written(client.form, document(client, setup, target))


def written(form: str, members: Mapping[str, Any]) -> str:
    """Members of a settings file in its format."""
    return _WRITERS[form](members)


def shell_command(client: Client, setup: Setup, target: Target) -> str:
    """The client's own command line, for a POSIX shell; empty if it has none for this target."""
    if _writes_token(client, setup, target):
        return ""  # the token would stay in the history of the shell
    words: list[str] = []
    for word in setup.command:
        words += [word] if isinstance(word, str) else _words(word, client, setup, target)
    return shlex.join(words)


def link(client: Client, setup: Setup, target: Target) -> str:
    """The address that makes the client ask whether to add the entry; empty if there is none for this target."""
    if _writes_token(client, setup, target):
        return ""  # it would add an entry that cannot work
    if _wants_token(client, setup, target) and "{url}" in setup.link:
        return ""  # it has the address only, and no place for where the token is
    compact = _compact(entry(client, setup, target))
    return setup.link.format(
        name=quote(SERVER_NAME, safe=""),
        # Standard Base64: its plus signs, slashes and padding must not reach the address as they are.
        base64=quote(base64.b64encode(compact.encode()).decode(), safe=""),
        json=quote(compact, safe=""),
        named_json=quote(_named_entry(client, setup, target), safe=""),
        url=quote(target.url, safe=""),
    )


def _wants_token(client: Client, setup: Setup, target: Target) -> bool:
    return target.needs_token and setup is client.http and client.token is not None


def _writes_token(client: Client, setup: Setup, target: Target) -> bool:
    """Whether the token itself must be written down."""
    return _wants_token(client, setup, target) and client.token is not None and client.token.source == "file"


def _beside(client: Client, setup: Setup, target: Target) -> Mapping[str, Any]:
    if client.token is None or not _wants_token(client, setup, target):
        return {}
    return client.token.beside


def _filled(value: Any, target: Target) -> Any:
    if not isinstance(value, Part):
        return value
    program, *arguments = target.command
    return {
        Part.PROGRAM: program,
        Part.ARGUMENTS: arguments,
        Part.COMMAND: list(target.command),
        Part.URL: target.url,
    }[value]


def _words(part: Part, client: Client, setup: Setup, target: Target) -> list[str]:
    """The words of a command line that a part stands for."""
    if part is Part.NAME:
        return [SERVER_NAME]
    if part is Part.NAMED_ENTRY:
        return [_named_entry(client, setup, target)]
    if part is Part.TOKEN:
        return list(client.token.words) if client.token and _wants_token(client, setup, target) else []
    value = _filled(part, target)
    return value if isinstance(value, list) else [value]


def _named_entry(client: Client, setup: Setup, target: Target) -> str:
    return _compact({"name": SERVER_NAME, **entry(client, setup, target), **_beside(client, setup, target)})


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json(value: Any, indent: str = "") -> str:
    """JSON as people write it: an object has a line for each member, a short list is one line."""
    line = json.dumps(value, ensure_ascii=False)
    deeper = indent + "  "
    if isinstance(value, Mapping) and value:
        members = [
            f"{deeper}{json.dumps(name, ensure_ascii=False)}: {_json(v, deeper)}" for name, v in value.items()
        ]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(value, Sequence) and not isinstance(value, str) and len(line) > _LINE_CHARS:
        return "[\n" + ",\n".join(deeper + _json(item, deeper) for item in value) + f"\n{indent}]"
    return line


def _toml(value: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """Tables of plain values and lists; keys are plain words."""
    plain = [f"{name} = {_scalar(v)}" for name, v in value.items() if not isinstance(v, Mapping)]
    head = [f"[{'.'.join(path)}]"] if path else []
    parts = ["\n".join([*head, *plain])] if plain else []
    parts += [_toml(v, (*path, name)) for name, v in value.items() if isinstance(v, Mapping)]
    return "\n\n".join(parts)


def _yaml(value: Mapping[str, Any], indent: str = "") -> str:
    """Mappings in blocks; lists and texts as YAML shares them with JSON."""
    lines = []
    for name, v in value.items():
        if isinstance(v, Mapping):
            lines += [f"{indent}{name}:", _yaml(v, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {_scalar(v)}")
    return "\n".join(lines)


def _scalar(value: Any) -> str:
    """A text, number, truth value or list of them, which TOML and YAML write as JSON does, but for a few characters."""
    return _UNSEEN.sub(lambda found: f"\\U{ord(found[0]):08X}", json.dumps(value, ensure_ascii=False))


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "json": _json,
    "jsonc": _json,
    "toml": _toml,
    "yaml": _yaml,
}
