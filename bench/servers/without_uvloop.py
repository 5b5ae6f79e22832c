"""Runs our program as it runs where the extra `fast` is not installed: `python -m bench.servers.without_uvloop MODULE ARGS`."""

import runpy
import sys
from typing import Any

if __name__ == "__main__":
    hidden: dict[str, Any] = sys.modules
    hidden["uvloop"] = None  # an import of it fails from now on, as if it were not there
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
