"""A case's server as a program: lines in, lines out. Run as a script, with the name of the case."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.audit.cases import SERVERS
from tests.audit.stub import EXIT, HANG, Connection, Server, Sleep, encoded


def main(server: Server) -> None:
    out = sys.stdout.buffer
    connection = Connection(server)
    sys.stderr.buffer.write(server.stderr)
    out.write(server.banner)
    out.flush()
    for line in sys.stdin.buffer:
        for reply in connection.receive(line):
            if reply is EXIT:
                return
            if reply is HANG:
                break
            if isinstance(reply, Sleep):
                time.sleep(reply.seconds)
                continue
            out.write(server.frame(encoded(reply)))
        out.flush()
    time.sleep(server.lingers)


if __name__ == "__main__":
    main(SERVERS[sys.argv[1]])
