"""`doctor`: one screen about everything that has to work together, each problem with its next step."""

import os

import click

from ..doctor.setup import Setup, usable
from ..settings import ListenOptions, NodeOptions, ShareOptions
from .input.options import SettingsCommand
from .running import failures

_CODES = {"good": failures.GOOD, "problem": failures.BAD, "unknown": failures.UNDETERMINED}


def _folder() -> str:
    """Where it was started; the home, if that folder is gone."""
    try:
        return os.getcwd()
    except OSError:
        return os.path.expanduser("~")


@click.command(
    cls=SettingsCommand,
    groups=(NodeOptions, ListenOptions, ShareOptions),
    asks_once=True,
    environ=lambda: usable(os.environ),
)
@click.option("--json", "as_json", is_flag=True, help="Show the report as one JSON object.")
def command(chain: NodeOptions, door: ListenOptions, sharing: ShareOptions, as_json: bool) -> int:
    """Say what is wrong with this installation, its node and its clients.

    Give the options that you give to serve or stdio: the same nodes, the same address. Every check runs at once, and what takes
    longer than 15 seconds is given up. Nothing is changed; nothing but your nodes, the port of serve, the store of
    --cache and the servers in the files of your clients is asked.

    \b
      qortal-mcp doctor
      qortal-mcp doctor --node http://192.168.1.5:12391 --node http://127.0.0.1:12391
      qortal-mcp doctor --listen 0.0.0.0:8000 --token-file FILE --allow-host mcp.example
      qortal-mcp doctor --sample --json

    Exit codes: 0 all is well, or there are only warnings; 1 there is a problem; 2 wrong usage; 3 no problem was found, but
    something could not be determined.
    """
    from ..doctor.examination import examine
    from .output import doctor_report
    from .output.progress import Progress
    from .running.unwaited import leave, run

    progress = Progress()
    try:
        report = run(
            examine(
                Setup(chain, door, os.environ, _folder(), sharing),
                lambda waiting: progress.say(doctor_report.waiting(waiting)),
            )
        )
    finally:
        progress.clear()
    doctor_report.show(report, as_json=as_json)
    return leave(_CODES[report.outcome])
