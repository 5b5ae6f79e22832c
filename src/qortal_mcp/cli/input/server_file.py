"""A server object in a Python file, as a command line names it: `FILE.py:NAME`."""

import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from ...server.receiver import Receiver
from ...text import shortened, visible
from ..running import failures

_TARGET = re.compile(r"(?P<file>.+\.py)(?::(?P<name>[A-Za-z_]\w*))?")
_EXPECTED = "Give a Python file and the name of a server in it, such as server.py:server."
_SHOWN_CHARS = 300


class CannotLoad(Exception):
    """The file has no server that can be run. `files` are those whose change may put that right."""

    def __init__(self, sentence: str, line: str = "", files: frozenset[Path] = frozenset()) -> None:
        super().__init__(sentence)
        # The line of code that is wrong, if it is known.
        self.line = line
        self.files = files


class ServerFile:
    """Which file, and which object in it."""

    def __init__(self, target: str) -> None:
        """Raises: WrongUsage."""
        found = _TARGET.fullmatch(target)
        if found is None:
            raise failures.WrongUsage(f"{shortened(visible(target), 60)} is not a server. {_EXPECTED}")
        self.path = Path(found["file"]).absolute()
        self.name: str | None = found["name"]
        if not self.path.is_file():
            raise failures.WrongUsage(f"There is no file {visible(found['file'])}. {_EXPECTED}")

    @property
    def folder(self) -> Path:
        return self.path.parent

    def load(self) -> Receiver:
        """Run the file and take the server from it.

        Raises: CannotLoad.
        """
        return self._server_in(self._run())

    def _run(self) -> ModuleType:
        # Under its own name, so that its types can be resolved and its neighbours can import it, unless that name is taken.
        stem = self.path.stem
        name = stem if stem.isidentifier() and stem not in sys.modules else "_server_file"
        spec = importlib.util.spec_from_file_location(name, self.path)
        assert spec is not None, "it ends with .py"
        assert spec.loader is not None, "it ends with .py"
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(self.folder))
        try:
            spec.loader.exec_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # SystemExit as well: the file belongs to somebody else
            raise self._broken(exc) from exc
        return module

    def _broken(self, exc: BaseException) -> CannotLoad:
        frames = [
            (Path(frame.filename), frame.lineno, frame.line or "")
            for frame in traceback.extract_tb(exc.__traceback__)
            if self.folder in Path(frame.filename).parents
        ]
        if isinstance(exc, SyntaxError) and exc.filename:
            frames.append((Path(exc.filename), exc.lineno, exc.text or ""))
        said = f"{type(exc).__name__}: {exc.msg if isinstance(exc, SyntaxError) else exc}"
        path, number, line = frames[-1] if frames else (self.path, None, "")
        where = path.name if number is None else f"{path.name}, line {number}"
        sentence = f"{visible(where)}: {shortened(visible(said), _SHOWN_CHARS)}"
        return CannotLoad(
            sentence, shortened(visible(line.strip()), _SHOWN_CHARS), frozenset(at for at, _, _ in frames)
        )

    def _server_in(self, module: ModuleType) -> Receiver:
        file = visible(self.path.name)
        found = {name: thing for name, thing in vars(module).items() if isinstance(thing, Receiver)}
        if self.name is not None:
            if self.name in found:
                return found[self.name]
            wrong = "is not a server" if hasattr(module, self.name) else "does not exist"
            raise CannotLoad(f"{self.name} in {file} {wrong}{_instead(file, found)}")
        if len({id(thing) for thing in found.values()}) != 1:
            raise CannotLoad(
                f"{file} has {'several servers' if found else 'no server'}{_instead(file, found)}"
            )
        return next(iter(found.values()))


def _instead(file: str, found: dict[str, Receiver]) -> str:
    if not found:
        return ': there must be one, such as server = Server("name", tools=[...])'
    return f": choose {' or '.join(f'{file}:{name}' for name in found)}"
