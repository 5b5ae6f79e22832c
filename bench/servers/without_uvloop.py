"""Runs our program as if uvloop were not installed, as on Windows: `python -m bench.servers.without_uvloop MODULE ARGS`."""

import runpy
import sys
from typing import Any

if __name__ == "__main__":
    hidden: dict[str, Any] = sys.modules
    hidden["uvloop"] = None  # importing it fails from now on, as if it were not installed
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
