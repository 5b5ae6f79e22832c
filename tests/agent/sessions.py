"""Terminal sessions in documents: a command and all that it shows, run again with a scripted model."""

import re
import shlex
import subprocess
from pathlib import Path

from msgspec import Struct
from tests.agent.scripted_endpoint import Script, ScriptedEndpoint
from tests.cli.running import COMMAND, SECONDS, environment

# Where the documents say that the model is.
ADDRESS = "http://127.0.0.1:11434/v1"
MODEL = "qwen3:8b"
_SESSION = re.compile(r"<!-- session:(\w+) -->\n```sh\n(.*?)\n```\n```text\n(.*?)```", re.DOTALL)
# What differs from run to run: how long something took, and the weight of instructions that name the date.
_VARYING = re.compile(
    r"[0-9.]+(?= (?:ms|s)\b)|(?<=instructions for the model  ~)[0-9]+|(?<=\ntotal) +~[0-9,]+"
)


class Session(Struct, frozen=True):
    """A command of a document, and what the document says that it shows."""

    command: str
    shown: str

    def shows(self, script: Script, folder: Path) -> tuple[str, str]:
        """What the command shows on a terminal, and what the document says; without what differs from run to run."""
        with ScriptedEndpoint(script) as endpoint:
            shown = on_terminal(self.command, endpoint, folder).replace(endpoint.base_url, ADDRESS)
        return _VARYING.sub("N", shown), _VARYING.sub("N", self.shown)


def sessions_of(page: str) -> dict[str, Session]:
    return {name: Session(command, shown) for name, command, shown in _SESSION.findall(page)}


def on_terminal(command: str, endpoint: ScriptedEndpoint, folder: Path) -> str:
    """Standard output and standard error of a command, in the order in which they appear."""
    program, *words = shlex.split(command)
    assert program == "qortal-mcp"
    env = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_MODEL": MODEL, "OPENAI_API_KEY": ""}
    done = subprocess.run(
        [*COMMAND, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        env=environment(env),
        cwd=folder,
    )
    return done.stdout.decode()
