"""A program whose standard input and output are a stand-in in the tests' own process. Run as a script, with its port."""

import os
import socket
import sys
import threading


def main(port: int) -> None:
    wire = socket.create_connection(("127.0.0.1", port))
    wire.sendall(b"%d\n" % os.getpid())
    threading.Thread(target=read, args=(wire,), daemon=True).start()
    while data := os.read(0, 65536):
        wire.sendall(data)


def read(wire: socket.socket) -> None:
    """Write what the stand-in says; when it closes, this program ends as if it had crashed."""
    while data := wire.recv(65536):
        while data:
            data = data[os.write(1, data) :]
    os._exit(7)


if __name__ == "__main__":
    main(int(sys.argv[1]))
