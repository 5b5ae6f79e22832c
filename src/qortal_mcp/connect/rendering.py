"""The texts that a person copies, from a client and a target: the piece of a settings file, a command line, a link. Pure."""

import base64
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .client import Client, Part, Setup, Target

# A list that is longer on one line is written with one item per line.
_LINE_CHARS = 88
_YAML_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
# What TOML and YAML want escaped besides what JSON escapes.
_UNSEEN = re.compile("[\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029]")


def entry(client: Client, setup: Setup, target: Target, *, alone: bool = False) -> dict[str, Any]:
    """What the client's settings hold about the server. `alone`: nothing else is put beside it."""
    members = dict(setup.entry)
    if _wants_token(client, setup, target) and client.token is not None:
        token = client.token
        members |= token.alone if alone and token.alone is not None else token.members
    return {name: _filled(value, target) for name, value in members.items()}


def document(client: Client, setup: Setup, target: Target) -> dict[str, Any]:
    """A settings file with nothing but the entry in it."""
    inner: dict[str, Any] = {target.name: entry(client, setup, target)}
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


def install_command(client: Client, setup: Setup, target: Target) -> str:
    """The command of ours that writes the entry, for a POSIX shell; empty if there is none for this target."""
    if not target.is_here or _writes_token(client, setup, target):
        return ""  # the program of another machine, or a token that is never written
    at = target.command.index("stdio")
    words = [*target.command[:at], "install", client.name]
    if setup is client.stdio:
        return shlex.join([*words, *target.command[at + 1 :]])
    return shlex.join([*words, "--http", target.url, "--token" if target.needs_token else "--no-token"])


def link(client: Client, setup: Setup, target: Target) -> str:
    """The address that makes the client ask whether to add the entry; empty if there is none for this target."""
    return _filled_link(setup.link, client, setup, target)


def web_link(client: Client, setup: Setup, target: Target) -> str:
    """The same by way of a page of the client's maker."""
    return _filled_link(setup.web_link, client, setup, target)


def _filled_link(template: str, client: Client, setup: Setup, target: Target) -> str:
    if _writes_token(client, setup, target):
        return ""  # it would add an entry that cannot work
    if _wants_token(client, setup, target) and "{url}" in template:
        return ""  # it has the address only, and no place for where the token is
    compact = _compact(entry(client, setup, target))
    return template.format(
        name=quote(target.name, safe=""),
        # Standard Base64: its plus signs, slashes and padding must not reach the address as they are.
        base64=quote(base64.b64encode(compact.encode()).decode(), safe=""),
        json=quote(compact, safe=""),
        named_json=quote(_named_entry(client, setup, target), safe=""),
        url=quote(target.url, safe=""),
        description=quote(target.description, safe=""),
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
        Part.NAME: target.name,
        Part.DESCRIPTION: target.description,
    }[value]


def _words(part: Part, client: Client, setup: Setup, target: Target) -> list[str]:
    """The words of a command line that a part stands for."""
    if part is Part.NAMED_ENTRY:
        return [_named_entry(client, setup, target)]
    if part is Part.TOKEN:
        return list(client.token.words) if client.token and _wants_token(client, setup, target) else []
    value = _filled(part, target)
    return value if isinstance(value, list) else [value]


def _named_entry(client: Client, setup: Setup, target: Target) -> str:
    return _compact({"name": target.name, **entry(client, setup, target), **_beside(client, setup, target)})


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_text(value: Any, indent: str = "", unit: str = "  ") -> str:
    """JSON as people write it: an object has a line for each member, a short list is one line."""
    line = json.dumps(value, ensure_ascii=False)
    deeper = indent + unit
    if isinstance(value, Mapping) and value:
        members = [
            f"{deeper}{json.dumps(name, ensure_ascii=False)}: {json_text(v, deeper, unit)}"
            for name, v in value.items()
        ]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(value, Sequence) and not isinstance(value, str) and len(line) > _LINE_CHARS:
        items = ",\n".join(deeper + json_text(item, deeper, unit) for item in value)
        return f"[\n{items}\n{indent}]"
    return line


def toml_text(value: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """Tables of plain values and lists; keys are plain words."""
    plain = [f"{name} = {_scalar(v)}" for name, v in value.items() if not isinstance(v, Mapping)]
    head = [f"[{'.'.join(path)}]"] if path else []
    parts = ["\n".join([*head, *plain])] if plain else []
    parts += [toml_text(v, (*path, name)) for name, v in value.items() if isinstance(v, Mapping)]
    return "\n\n".join(parts)


def yaml_text(value: Mapping[str, Any], indent: str = "", unit: str = "  ") -> str:
    """Mappings in blocks; lists and texts as YAML shares them with JSON."""
    lines = []
    for name, v in value.items():
        if isinstance(v, Mapping):
            lines += [f"{indent}{_yaml_key(name)}:", yaml_text(v, indent + unit, unit)]
        else:
            lines.append(f"{indent}{_yaml_key(name)}: {_scalar(v)}")
    return "\n".join(lines)


def _yaml_key(name: str) -> str:
    """A name that could be read as a number or a truth value needs quotation marks."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name) and name.lower() not in _YAML_WORDS
    return name if is_plain else _scalar(name)


def _scalar(value: Any) -> str:
    """A text, number, truth value or list of them, which TOML and YAML write as JSON does, but for a few characters."""
    return _UNSEEN.sub(lambda found: f"\\U{ord(found[0]):08X}", json.dumps(value, ensure_ascii=False))


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "json": json_text,
    "jsonc": json_text,
    "toml": toml_text,
    "yaml": yaml_text,
}
