"""Runs a command on one core, whatever core its parent runs on: `python on_core.py CORE COMMAND [ARGUMENT]...`."""

import os
import sys

if __name__ == "__main__":
    os.sched_setaffinity(0, {int(sys.argv[1])})
    os.execv(sys.argv[2], sys.argv[2:])
