"""What is known of a client: where its settings are, what an entry looks like, how it gets the token. The table is in `clients.py`."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal

from msgspec import Struct

from .settings_files.formats import Form

# What the server is called in the settings of a client.
SERVER_NAME = "qortal"

System = Literal["macOS", "Linux", "Windows"]
SYSTEMS: tuple[System, ...] = ("macOS", "Linux", "Windows")


class Part(Enum):
    """Stands in an entry or a command line for what differs from one server to the next."""

    PROGRAM = "the program"
    ARGUMENTS = "its arguments, as a list"
    COMMAND = "both, as one list"
    URL = "the address of the endpoint"
    NAME = "the name of the server"
    DESCRIPTION = "what it is, in a few words"
    # In command lines only.
    TOKEN = "the words that say where the token is, if one is needed"
    NAMED_ENTRY = "the entry as JSON, with its name and what belongs beside it"


Word = str | Part


Level = Literal["user", "project"]


class Place(Struct, frozen=True):
    """A settings file. `~` is the home of the user; a project's file is below the folder of the project.

    If several places of one level count, the first one does.
    """

    level: Level
    path: str
    systems: tuple[System, ...] = SYSTEMS
    # A variable that names another folder than the one at the beginning of the path, and that folder.
    moved_by: tuple[str, str] | None = None
    # It counts only if the one is there and the other is not. A star stands for what is found, here and in the path.
    if_there: str = ""
    if_missing: str = ""


class Unread(Struct, frozen=True, kw_only=True):
    """A file that looks like the client's, and that it does not read."""

    path: str
    # The members under which people put servers there.
    key: tuple[str, ...]
    form: Form = "json"
    systems: tuple[System, ...] = SYSTEMS
    if_there: str = ""


class Surroundings(Struct, frozen=True, kw_only=True):
    """What a program that the client starts gets to see of the client's own variables."""

    # Started from a menu, without the PATH of a shell.
    is_desktop: bool = False
    # None: all of them.
    inherits: tuple[str, ...] | None = None
    # What is taken away then, by parts of names.
    drops: tuple[str, ...] = ()


class Setup(Struct, frozen=True, kw_only=True):
    """One way to connect: the entry in the settings file, and shorter ways to get it there."""

    entry: Mapping[str, Any]
    # The client's own command line.
    command: tuple[Word, ...] = ()
    # An address that makes the client ask whether to add the entry; `rendering.link` says what the names in braces are.
    link: str = ""
    # The same as an address of the web, for pages on which links to programs do not work.
    web_link: str = ""


class Token(Struct, frozen=True, kw_only=True):
    """How a client gets the token for an HTTP server, ideally without having it written into its file."""

    # variable: it reads the variable; prompt: it asks the person; file: the token itself must be in the file.
    source: Literal["variable", "prompt", "file"]
    # What is added to the entry, to the command line, and to the file beside the entries.
    members: Mapping[str, Any]
    words: tuple[str, ...] = ()
    beside: Mapping[str, Any] = {}
    # What is added to an entry that stands alone, with nothing beside it; None: the same.
    alone: Mapping[str, Any] | None = None


class Evidence(Struct, frozen=True):
    """How sure a row is: the client was run with it, or its documentation or source was read."""

    kind: Literal["run", "read"]
    # As YYYY-MM-DD.
    on: str
    version: str = ""
    # What was read.
    source: str = ""

    def in_words(self) -> str:
        if self.kind == "run":
            return f"Checked on {self.on} by running it, version {self.version}; from {self.source}."
        return f"From {self.source}, read on {self.on}. Not run."


class Client(Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    title: str
    places: tuple[Place, ...]
    form: Form
    # Other names that people know it by.
    aliases: tuple[str, ...] = ()
    # Under which keys of the file the servers are.
    key: tuple[str, ...] = ("mcpServers",)
    # Where else in the user's file it reads entries from; {project} is the folder of the project.
    other_keys: tuple[tuple[str, ...], ...] = ()
    unread: tuple[Unread, ...] = ()
    surroundings: Surroundings = Surroundings()
    stdio: Setup
    # None: it has no entry for a server over HTTP.
    http: Setup | None
    token: Token | None = None
    remarks: tuple[str, ...] = ()
    must_restart: bool = False
    evidence: Evidence


class Target(Struct, frozen=True):
    """The server that clients are told of: how it is started, where it listens, whether it wants a token."""

    command: tuple[str, ...]
    url: str
    needs_token: bool = False
    # Whether whoever reads this sits at the machine on which the command works.
    is_here: bool = True
    name: str = SERVER_NAME
    description: str = "Reads the Qortal blockchain"
