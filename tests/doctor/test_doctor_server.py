"""Where `serve` would listen, and its token: what is in the way, as `doctor` reports it."""

import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.cli.running import listening
from tests.cli.strangers import Answered, http_node
from tests.doctor.examined import CODES, closed, doctor, silent

from qortal_mcp import __version__
from qortal_mcp.doctor.checks.server import port as port_check
from qortal_mcp.doctor.looks.server import ServerFacts
from qortal_mcp.qortal.server import NAME

TOKEN = "planted0123456789abcdef"
BEYOND = "0.0.0.0:0"


@contextmanager
def says(words: bytes) -> Iterator[int]:
    """A program that greets whoever connects, as those of mail and SSH do."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            try:
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.sendall(words)
                        connection.recv(4096)
            except OSError:
                return

        thread = threading.Thread(target=greet)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def port_of(url: str) -> int:
    return urlsplit(url).port or 0


def web(target: str) -> Answered:
    return 404, {}, b"no"


def older(target: str) -> Answered:
    return 200, {"content-type": "application/json"}, json.dumps({"name": NAME, "version": "0.0.1"}).encode()


@contextmanager
def web_server() -> Iterator[int]:
    with http_node(web) as url:
        yield port_of(url)


@contextmanager
def older_server() -> Iterator[int]:
    with http_node(older) as url:
        yield port_of(url)


@contextmanager
def our_server(**env: str) -> Iterator[int]:
    with listening("serve", "--sample", env=env) as server:
        yield port_of(server.url)


BUSY = [
    pytest.param(web_server, "problem", "another web server", "--listen", id="web-server"),
    pytest.param(lambda: says(b"SSH-2.0-x\r\n"), "problem", "does not speak HTTP", "--listen", id="ssh"),
    pytest.param(silent, "problem", "does not answer HTTP", "--listen", id="silent"),
    pytest.param(closed, "problem", "another program", "--listen", id="bound-only"),
    pytest.param(older_server, "warning", "version 0.0.1", "Restart", id="older-version-of-ours"),
]


@pytest.mark.promise(
    "Doctor", "`doctor` says what occupies the port of `serve`: our own server, or something else."
)
@pytest.mark.parametrize(("occupied", "state", "words", "advice"), BUSY)
def test_what_occupies_the_port_is_said(
    tmp_path: Path, occupied: object, state: str, words: str, advice: str
) -> None:
    assert callable(occupied)
    with occupied() as port:
        examined = doctor(tmp_path, "--sample", "--listen", f"127.0.0.1:{port}")
    found = examined.one("server-port")
    assert found["state"] == state
    assert words in found["says"]
    assert advice in found["advice"]
    assert examined.code == CODES[state]


@pytest.mark.parametrize(
    ("env", "words"),
    [({}, "runs there already"), ({"QORTAL_MCP_TOKEN": TOKEN}, "runs there already, with a token")],
    ids=["open", "with-token"],
)
def test_our_own_server_on_the_port_is_recognised_without_a_token(
    tmp_path: Path, env: dict[str, str], words: str
) -> None:
    with our_server(**env) as port:
        examined = doctor(tmp_path, "--sample", "--listen", f"127.0.0.1:{port}")
    found = examined.one("server-port")
    assert (found["state"], found["says"]) == ("good", f"qortal-mcp serve {words}")
    assert examined.code == 0


def test_the_token_is_never_sent_to_what_occupies_the_port(tmp_path: Path) -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hear() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(b'HTTP/1.1 401 No\r\nwww-authenticate: Bearer realm="mcp"\r\n\r\n')

        thread = threading.Thread(target=hear)
        thread.start()
        port = server.getsockname()[1]
        doctor(tmp_path, "--sample", "--listen", f"127.0.0.1:{port}", env={"QORTAL_MCP_TOKEN": TOKEN})
        thread.join()
    assert heard[0].startswith(b"GET ")
    assert TOKEN.encode() not in heard[0]


def test_what_a_stranger_says_of_itself_is_shown_without_its_controls(tmp_path: Path) -> None:
    with says(b"HTTP/1.1 404 No\r\nServer: nginx\x1b[31m/1.0\r\n\r\n") as port:
        found = doctor(tmp_path, "--sample", "--listen", f"127.0.0.1:{port}").one("server-port")
    assert "nginx\\u{001B}[31m/1.0" in found["says"]


@pytest.mark.parametrize(("is_default", "state"), [(True, "warning"), (False, "problem")])
def test_a_busy_port_that_nobody_chose_is_only_a_warning(is_default: bool, state: str) -> None:
    # Most clients start the program themselves and need no port.
    refusal = OSError(errno.EADDRINUSE, "in use")
    facts = ServerFacts(
        listen="127.0.0.1:8000",
        is_default=is_default,
        host="127.0.0.1",
        address="127.0.0.1",
        is_on_loopback=True,
        port=8000,
        refusal=refusal,
    )
    assert [finding.state for finding in port_check.judge(facts)] == [state]


UNUSABLE = [
    pytest.param("no-such-host.invalid:8000", "cannot be resolved", id="unknown-host"),
    pytest.param("192.0.2.1:8000", "cannot be listened on", id="not-ours"),
]


@pytest.mark.parametrize(("listen", "words"), UNUSABLE)
def test_an_address_that_cannot_be_listened_on_is_a_problem(tmp_path: Path, listen: str, words: str) -> None:
    examined = doctor(tmp_path, "--sample", "--listen", listen)
    assert words in examined.one("server-port")["says"]
    assert examined.code == 1


def written(folder: Path, content: bytes, mode: int = 0o600) -> str:
    file = folder / "token"
    file.write_bytes(content)
    file.chmod(mode)
    return str(file)


FILES = [
    pytest.param(TOKEN.encode(), 0o600, "good", "from --token-file", id="right"),
    pytest.param(TOKEN.encode(), 0o644, "warning", "Other users", id="open-to-others"),
    pytest.param(TOKEN.encode(), 0o640, "warning", "Other users", id="open-to-the-group"),
    pytest.param(b"short", 0o600, "problem", "at least 16 characters", id="short"),
    pytest.param(b"", 0o600, "problem", "one word", id="empty"),
    pytest.param(b"two words and more", 0o600, "problem", "one word", id="words"),
    pytest.param(b"\xff" * 20, 0o600, "problem", "not text", id="not-text"),
]


@pytest.mark.promise("Doctor", "`doctor` says what is wrong with a token, and never shows it.")
@pytest.mark.parametrize(("content", "mode", "state", "words"), FILES)
def test_what_is_wrong_with_a_token_file_is_said(
    tmp_path: Path, content: bytes, mode: int, state: str, words: str
) -> None:
    file = written(tmp_path, content, mode)
    examined = doctor(
        tmp_path, "--sample", "--listen", BEYOND, "--token-file", file, "--allow-host", "mcp.example"
    )
    found = examined.one("server-token")
    assert found["state"] == state
    assert words in found["says"]
    assert TOKEN not in examined.ended.out
    assert examined.code == CODES[state]


def a_pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        pytest.param(lambda folder: str(folder / "none"), "No such file", id="missing"),
        pytest.param(str, "not a file", id="folder"),
        pytest.param(a_pipe, "not a file", id="pipe-that-nobody-writes-to"),
    ],
)
def test_a_token_file_that_is_none_is_a_problem(tmp_path: Path, made: object, words: str) -> None:
    assert callable(made)
    found = doctor(tmp_path, "--sample", "--token-file", made(tmp_path)).one("server-token")
    assert found["state"] == "problem"
    assert words in found["says"]
    assert "openssl rand" in found["advice"]


def test_a_short_token_in_the_variable_is_a_problem(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample", env={"QORTAL_MCP_TOKEN": "planted"})
    assert "QORTAL_MCP_TOKEN" in examined.one("server-token")["says"]
    assert "planted" not in examined.ended.out
    assert examined.code == 1


def test_listening_beyond_loopback_needs_a_token(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample", "--listen", BEYOND, "--allow-host", "mcp.example")
    assert "needs a token" in examined.one("server-options")["says"]
    assert examined.of("server-token") == []
    assert examined.code == 1


def test_listening_beyond_loopback_without_a_token_on_purpose_is_a_warning(tmp_path: Path) -> None:
    examined = doctor(
        tmp_path, "--sample", "--listen", BEYOND, "--without-token", "--allow-host", "mcp.example"
    )
    assert examined.one("server-token")["state"] == "warning"
    assert "--token-file" in examined.one("server-token")["advice"]
    assert examined.code == 0


def test_without_the_name_that_clients_use_they_will_be_refused(tmp_path: Path) -> None:
    file = written(tmp_path, TOKEN.encode())
    words = ("--sample", "--listen", BEYOND, "--token-file", file)
    found = doctor(tmp_path, *words).one("server-host-names")
    assert (found["state"], "--allow-host" in found["advice"]) == ("warning", True)
    named = doctor(tmp_path, *words, "--allow-host", "mcp.example").one("server-host-names")
    assert (named["state"], named["says"]) == ("good", "localhost, mcp.example")


def test_a_proxy_that_is_no_network_keeps_serve_from_starting(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample", "--trusted-proxy", "10.0.0.0/99")
    assert "--trusted-proxy" in examined.one("server-options")["says"]
    assert examined.code == 1


def test_on_loopback_nothing_is_needed(tmp_path: Path) -> None:
    examined = doctor(tmp_path, "--sample", "--listen", "127.0.0.1:0")
    checks = examined.section("Server at 127.0.0.1:0")
    assert {check["state"] for check in checks.values()} == {"good"}
    assert examined.report["version"] == __version__
