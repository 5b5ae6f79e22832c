"""Regular expressions that are compiled when they are first used: a client waits for every start."""

import re
from typing import Any, AnyStr, Generic


class Pattern(Generic[AnyStr]):
    """What `re.compile` would give, once it is asked for something."""

    def __init__(self, pattern: AnyStr, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._pattern, self._flags)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
