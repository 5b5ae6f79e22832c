"""The set-up of each client as steps in words, for a person: what to copy, where it goes, what to do then. Pure."""

import shlex
from typing import Literal

from msgspec import Struct

from ..settings import TOKEN_VARIABLE
from .client import SYSTEMS, Client, Place, Setup, Target
from .clients import CLIENTS
from .rendering import document, install_command, link, shell_command, snippet
from .token_references import PLACEHOLDER

Kind = Literal["stdio", "http"]
TITLES: dict[Kind, str] = {"stdio": "The client starts it", "http": "Over HTTP"}
_TRIAL = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'


class File(Struct, frozen=True, rename="camel"):
    """Where a settings file is, and for whom."""

    path: str
    used_for: str


class Step(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing to do. `code` is to be copied, `link` to be opened."""

    text: str
    code: str = ""
    language: str = ""
    link: str = ""
    files: tuple[File, ...] = ()


class Way(Struct, frozen=True):
    """One way to connect a client, step by step."""

    kind: Kind
    title: str
    steps: tuple[Step, ...]


class Guide(Struct, frozen=True):
    """All about one client."""

    name: str
    title: str
    ways: tuple[Way, ...]
    remarks: tuple[str, ...]
    certainty: str


def guides(target: Target) -> tuple[Guide, ...]:
    return tuple(guide(client, target) for client in CLIENTS)


def guide(client: Client, target: Target) -> Guide:
    ways = [Way("stdio", TITLES["stdio"], (*_elsewhere(target), *_steps(client, client.stdio, target)))]
    if client.http is not None:
        ways.append(
            Way("http", TITLES["http"], (*_token_steps(client, target), *_steps(client, client.http, target)))
        )
    return Guide(client.name, client.title, tuple(ways), client.remarks, client.evidence.in_words())


def trial(target: Target) -> Step:
    """How to see that the server answers, without a client."""
    words = ["curl", "-s", target.url, "-H", "content-type: application/json", "-d", _TRIAL]
    code = shlex.join(words)
    if target.needs_token:
        # In double quotes, so that the shell puts the token in.
        code += f' -H "Authorization: Bearer ${TOKEN_VARIABLE}"'
    return Step(text="Run this in a terminal; the reply lists the tools.", code=code, language="sh")


def files(places: tuple[Place, ...]) -> tuple[File, ...]:
    return tuple(File(place.path, _used_for(place)) for place in places)


def _used_for(place: Place) -> str:
    if place.level == "project":
        who = "for one project"
    else:
        who = "for you" if place.systems == SYSTEMS else f"for you, on {' and '.join(place.systems)}"
    return f"{who}, if there is one" if place.if_there else who


def _steps(client: Client, setup: Setup, target: Target) -> tuple[Step, ...]:
    """Ways to add the entry, the shortest first; any one of them is enough."""
    steps = []
    if address := link(client, setup, target):
        steps.append(Step(text=f"Open this link; {client.title} asks before it adds anything.", link=address))
    if command := install_command(client, setup, target):
        text = "run this in a terminal. It shows the change, keeps a copy of the file, and can be undone."
        steps.append(Step(text=_either(steps, text), code=command, language="sh"))
    if command := shell_command(client, setup, target):
        steps.append(
            Step(text=_either(steps, f"run a command of {client.title}."), code=command, language="sh")
        )
    steps.append(
        Step(
            text=_either(steps, f"add this to its settings file. {_what_is_new(client, setup, target)}"),
            code=snippet(client, setup, target),
            language=client.form,
            files=files(client.places),
        )
    )
    if client.must_restart:
        steps.append(Step(text=f"Quit {client.title} and start it again: it reads the file only then."))
    return tuple(steps)


def _what_is_new(client: Client, setup: Setup, target: Target) -> str:
    new = [f"“{target.name}” under “{client.key[-1]}”"]
    new += [f"what is under “{name}”" for name in document(client, setup, target) if name not in client.key]
    return f"Keep what is there; new {'is' if len(new) == 1 else 'are'} {' and '.join(new)}."


def _elsewhere(target: Target) -> tuple[Step, ...]:
    if target.is_here:
        return ()
    text = (
        "These paths are those of the machine on which this server runs. For a client on another machine, "
        "install qortal-mcp there and write its path instead."
    )
    return (Step(text=text),)


def _either(before: list[Step], text: str) -> str:
    return f"Or {text}" if before else text[0].upper() + text[1:]


def _token_steps(client: Client, target: Target) -> tuple[Step, ...]:
    if not target.needs_token or client.token is None:
        return ()
    if client.token.source == "prompt":
        return (
            Step(
                text=f"This server wants a token. {client.title} asks for it once and keeps it outside the file."
            ),
        )
    if client.token.source == "file":
        text = (
            f"This server wants a token, and {client.title} is not known to read one from a variable: write the token in place of "
            f"{PLACEHOLDER}, and remember that the file then holds a secret."
        )
        return (Step(text=text),)
    return (
        Step(
            text=f"This server wants a token. {client.title} reads it from the variable {TOKEN_VARIABLE}: set it where {client.title} is "
            "started, for example from the file that holds the token.",
            code=f'export {TOKEN_VARIABLE}="$(cat TOKEN-FILE)"',
            language="sh",
        ),
    )
