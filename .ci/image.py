"""Takes the steps of the Dockerfile in a folder, without a container engine, and runs what the image would run.

The folders of the image become folders of a temporary one. The last stage runs as its user, who can write nowhere, where that user may
run the interpreter: PYTHON names another one.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("/build", "/opt/qortal-mcp")
TOKEN = "a-token-of-this-test"


def steps(text: str) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile: a word, and what follows it."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def is_ignored(name: str) -> bool:
    """Whether .dockerignore keeps a name of the top folder out."""
    return f"!{name}" not in (ROOT / ".dockerignore").read_text().splitlines()


class Image:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user: int | None = None
        self.variables = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder)}
        for name in ("PIP_INDEX_URL", "PIP_CACHE_DIR", "PIP_CONFIG_FILE", "XDG_CACHE_HOME"):
            if name in os.environ:
                self.variables[name] = os.environ[name]
        for place in PLACES:
            Path(f"{folder}{place}").mkdir(parents=True)
        (folder / "bin").mkdir()
        self.python = os.path.realpath(shutil.which(os.environ.get("PYTHON", "")) or sys.executable)
        (folder / "bin/python").symlink_to(self.python)

    def moved(self, text: str) -> str:
        return re.sub(r"(?<![\w.}])(/build|/opt/qortal-mcp)\b", rf"{self.folder}\1", text)

    def take(self, word: str, rest: str) -> None:
        if word == "RUN":
            print(f"  {rest}", flush=True)
            command = ["sh", "-euc", self.moved(rest)]
            subprocess.run(command, cwd=f"{self.folder}/build", env=self.variables, check=True)
        elif word == "COPY" and not rest.startswith("--from=build "):
            *names, target = rest.split()
            for name in names:
                assert not is_ignored(name), f".dockerignore keeps {name} out"
                self._copy(ROOT / name, Path(f"{self.folder}/build", target))
        elif word == "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                self.variables[name] = self.moved(value).replace("$PATH", self.variables["PATH"])
        elif word == "USER":
            self.user = int(rest.partition(":")[0])

    def _copy(self, source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(source, target)

    def identity(self) -> dict[str, Any]:
        """How to become the user of the image: only root can, and only if that user may run this interpreter."""
        who = {"user": self.user, "group": self.user, "extra_groups": []}
        try:
            subprocess.run([self.python, "-c", ""], **who, check=True)
        except OSError:
            return {}
        return who

    def start(self, words: list[str], **variables: str) -> subprocess.Popen[str]:
        assert self.user, "the image runs as an ordinary user"
        who = self.identity()
        return subprocess.Popen(
            words,
            env={**self.variables, **variables},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **who,
        )


def main() -> None:
    found = steps((ROOT / "Dockerfile").read_text())
    told = {word: rest for word, rest in found}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        image = Image(Path(folder))
        for word, rest in found:
            image.take(word, rest)
        entry, words = json.loads(told["ENTRYPOINT"]), json.loads(told["CMD"])
        program = [str(Path(folder, "opt/qortal-mcp/bin", entry[0])), *entry[1:]]
        refused = image.start([*program, *words])
        assert refused.wait(30) == 2, "without a token it must not start"
        serves(image, [*program, *(word.replace(":8000", ":0") for word in words)], told["HEALTHCHECK"])
        asked = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        answered, _ = image.start([*program, "stdio", "--sample"]).communicate(asked, timeout=30)
        assert json.loads(answered)["id"] == 1
        by = "its user" if image.identity() else "us, as its user cannot run this Python"
    print(f"The steps of the Dockerfile: done, and what they install serves, run by {by}.")


def serves(image: Image, words: list[str], health: str) -> None:
    server = image.start([*words, "--sample"], QORTAL_MCP_TOKEN=TOKEN)
    assert server.stderr is not None
    try:
        listening = next(line for line in server.stderr if line.startswith("Listening on "))
        port = listening.split(":")[-1].split("/")[0]
        check = json.loads(health.partition("CMD ")[2].replace(":8000", f":{port}"))
        check[0] = f"{image.folder}/opt/qortal-mcp/bin/{check[0]}"
        assert image.start(check).wait(30) == 0, "the health check fails on a healthy server"
        ready = urllib.request.Request(
            f"http://127.0.0.1:{port}/readyz", headers={"authorization": f"Bearer {TOKEN}"}
        )
        assert urllib.request.urlopen(ready, timeout=20).status == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
        assert image.start(check).wait(30) != 0, "the health check passes without a server"
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
