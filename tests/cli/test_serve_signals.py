"""`serve` as a service: what SIGHUP reads again, what a service manager is told, and the socket that it hands over."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.running import COMMAND, SECONDS, Listening, environment, listening
from tests.cli.terminals import ended_with_its_terminal

# Python starts it in a session of its own: the signal of a closed terminal cannot be meant then.
DETACHED = (
    sys.executable,
    "-c",
    "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[1:])",
    *COMMAND,
)
# Starts it as systemd does that listens in its place; the first words say on what, and which sockets it speaks of.
HANDING = (
    sys.executable,
    "-c",
    "import os, socket, sys\n"
    "family, address, files, whose = sys.argv[1:5]\n"
    "sock = socket.socket(getattr(socket, family))\n"
    "sock.bind(address if family == 'AF_UNIX' else (address, 0))\n"
    "sock.listen()\n"
    "print('handed over:', sock.getsockname()[-1], file=sys.stderr)\n"
    "os.dup2(sock.fileno(), 3)\n"
    "os.set_inheritable(3, True)\n"
    "os.environ.update(LISTEN_FDS=files, LISTEN_PID=whose or str(os.getpid()))\n"
    "os.execv(sys.argv[5], sys.argv[5:])\n",
)
FIRST, SECOND = "first-token-of-16", "second-token-of-16"
STATUS_ASKED = "/metrics"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text(FIRST)
    (tmp_path / "config.toml").write_text(f'token-file = "{tmp_path / "token"}"\nlog-level = "warning"\n')
    return tmp_path


@pytest.fixture
def service(files: Path) -> Iterator[Listening]:
    words = ("serve", "--sample", "--config", str(files / "config.toml"))
    with listening(*words, command=DETACHED) as server:
        yield server


def let_in(server: Listening, token: str) -> bool:
    return server.ask(STATUS_ASKED, headers={"Authorization": f"Bearer {token}"})[0] == 200


def reload(server: Listening, says: str) -> None:
    os.kill(server.pid, signal.SIGHUP)
    server.wait_for(lambda said: says in said)


@pytest.mark.promise(
    "Operations", "On SIGHUP `serve` reads its token and log level again, without a restart."
)
def test_a_signal_makes_it_take_the_new_token_and_refuse_the_old(service: Listening, files: Path) -> None:
    assert (let_in(service, FIRST), let_in(service, SECOND)) == (True, False)
    (files / "token").write_text(SECOND)
    config = files / "config.toml"
    config.write_text(config.read_text().replace("warning", "info"))
    reload(service, "read again: the token and the log level")
    assert (let_in(service, FIRST), let_in(service, SECOND)) == (False, True)


BROKEN = [
    pytest.param("token", "short", "must have at least 16 characters", id="short-token"),
    pytest.param("token", None, "--token-file cannot be read", id="no-token"),
    pytest.param("config.toml", "log-level = 'loud'", "log-level", id="wrong-level"),
    pytest.param("config.toml", "nonsense", "is not TOML", id="no-toml"),
]


@pytest.mark.promise("Operations", "A token file or settings file that became unusable changes nothing.")
@pytest.mark.parametrize(("name", "text", "why"), BROKEN)
def test_a_file_that_cannot_be_used_changes_nothing(
    service: Listening, files: Path, name: str, text: str | None, why: str
) -> None:
    (files / "token").write_text(SECOND)
    (files / name).unlink() if text is None else (files / name).write_text(text)
    reload(service, "not read again, everything stays as it is")
    (line,) = [json.loads(one) for one in service.err.splitlines() if "not read again" in one]
    assert why in line["event"]
    assert (let_in(service, FIRST), let_in(service, SECOND)) == (True, False)


def test_a_flag_still_beats_the_file_that_is_read_again(files: Path) -> None:
    words = ("serve", "--sample", "--config", str(files / "config.toml"), "--log-level", "info")
    with listening(*words, command=DETACHED) as server:
        reload(server, "read again: the token and the log level")
        os.kill(server.pid, signal.SIGHUP)
        server.wait_for(lambda said: said.count("read again: ") == 2)  # at warning, it would be silent


def test_with_nothing_to_read_it_says_so_and_goes_on() -> None:
    with listening("serve", "--sample", command=DETACHED) as server:
        reload(server, "read again: nothing, as there is neither --token-file nor --config")
        assert server.ask("/healthz")[0] == 200


def test_the_closed_terminal_that_it_was_started_from_ends_it() -> None:
    words = [*COMMAND, "serve", "--sample", "--listen", "127.0.0.1:0"]
    assert ended_with_its_terminal(words, once_said=b"Listening on") == 0


@pytest.mark.promise("Operations", "systemd is told when `serve` listens, and not before.")
@pytest.mark.parametrize("prefix", ["", "@"], ids=["path", "abstract"])
def test_a_service_manager_is_told_when_it_listens(tmp_path: Path, prefix: str) -> None:
    if prefix and sys.platform != "linux":
        pytest.skip("only Linux has sockets without a file")
    address = f"{prefix}{tmp_path}/notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(SECONDS)
        manager.bind(address.replace("@", "\0"))
        with listening("serve", "--sample", env={"NOTIFY_SOCKET": address}) as server:
            assert manager.recv(100) == b"READY=1"
            assert server.ask("/healthz")[0] == 200


@pytest.mark.parametrize("address", ["/nobody/listens/here", "@nobody-listens", "rubbish", "", "@"])
def test_a_service_manager_that_is_not_there_is_no_reason_not_to_serve(address: str) -> None:
    with listening("serve", "--sample", env={"NOTIFY_SOCKET": address}) as server:
        assert server.ask("/healthz")[0] == 200


@pytest.mark.promise(
    "Operations", "systemd may listen in the place of `serve`, so that a restart refuses nobody."
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_socket_that_a_service_manager_hands_over_is_served(workers: str) -> None:
    command = (*HANDING, "AF_INET", "127.0.0.1", "1", "", *COMMAND)
    with listening("serve", "--sample", "--workers", workers, command=command) as server:
        assert server.url == f"http://127.0.0.1:{_handed_port(server)}/mcp"
        assert server.ask("/healthz")[0] == 200


def test_the_rules_for_addresses_hold_for_a_socket_that_is_handed_over() -> None:
    done = handed("AF_INET", "0.0.0.0", "1", "")
    assert done.returncode == 2
    assert "needs a token" in done.stderr


def test_a_socket_for_another_process_is_left_alone() -> None:
    command = (*HANDING, "AF_INET", "127.0.0.1", "1", "1", *COMMAND)
    with listening("serve", "--sample", command=command) as server:
        assert server.url != f"http://127.0.0.1:{_handed_port(server)}/mcp"


def test_a_socket_that_cannot_be_served_is_refused_with_a_sentence(tmp_path: Path) -> None:
    several, other = handed("AF_INET", "127.0.0.1", "2", ""), handed("AF_UNIX", f"{tmp_path}/s", "1", "")
    assert (several.returncode, other.returncode) == (2, 2)
    assert "one ListenStream=" in several.stderr
    assert "ListenStream=HOST:PORT" in other.stderr


def test_a_connection_instead_of_a_socket_is_refused() -> None:
    unready = tuple(word.replace("sock.listen()\n", "") for word in HANDING)
    done = subprocess.run(
        [*unready, "AF_INET", "127.0.0.1", "1", "", *COMMAND, "serve", "--sample"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    assert "write Accept=no" in done.stderr


def _handed_port(server: Listening) -> str:
    return server.err.partition("handed over: ")[2].split()[0]


def handed(*told: str) -> subprocess.CompletedProcess[str]:
    """What becomes of `serve` that is given such a socket."""
    words = [*HANDING, *told, *COMMAND, "serve", "--sample"]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=environment())
