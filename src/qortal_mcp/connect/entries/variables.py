"""Variables in the files of clients: `${NAME}`, `${NAME:-otherwise}`, `${env:NAME}`, `{env:NAME}` and `${userHome}`."""

import os.path
import re
from collections.abc import Mapping

# opencode writes {env:NAME}.
_VARIABLE = re.compile(r"\$\{([^{}]*)\}|(?<!\$)\{(env:[A-Za-z_][A-Za-z0-9_]*)\}")
# What editors fill in by themselves, and nobody else can.
_OF_CLIENTS = re.compile(
    r"workspaceFolder\w*|file\w*|relativeFile\w*|extensionPath|cwd|lineNumber|selectedText"
)
_HOME = "userHome"
# One inside another, which clients fill in differently if at all.
_NESTED = re.compile(r"\$\{([^{}]*)\$\{")
_KNOWN = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


class NotSet(Exception):
    """A variable without a value. The text is a sentence that names it."""


class Expansion:
    """Puts values in the place of variables, and remembers which, since they may be secrets."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.used: dict[str, str] = {}

    def of(self, text: str) -> str:
        """Raises: NotSet."""
        for outer in _NESTED.finditer(text):
            name, otherwise, _ = outer[1].partition(":-")
            if otherwise:
                raise NotSet(f"The variable {name[:100]} has another one inside its default; write a value.")
        return _VARIABLE.sub(self._value, text)

    def value(self, name: str) -> str:
        """A variable by its name. Raises: NotSet."""
        found = self._environ.get(name, "")
        if not found:
            raise NotSet(f"The variable {name[:100]} is not set.")
        self.used[name] = found
        return found

    def _value(self, match: re.Match[str]) -> str:
        inner = match[1] if match[1] is not None else match[2]
        known = _KNOWN.fullmatch(inner)
        if inner == _HOME and not self._environ.get(_HOME):
            return os.path.expanduser("~")
        is_of_client = _OF_CLIENTS.fullmatch(inner) is not None and not self._environ.get(inner)
        if known is None or is_of_client:
            raise NotSet(
                f"{match[0][:100]} can only be filled in by the client whose file this is; write the value itself."
            )
        name, otherwise = known[1], known[2]
        if otherwise is not None and not self._environ.get(name):
            self.used[name] = str(otherwise)
            return str(otherwise)
        return self.value(name)
