"""The options of the shared store: what is refused, in which words, and that nobody else pays for them."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import environment, run

from qortal_mcp.store.address import Address, address_of

ADDRESSES = [
    ("redis://127.0.0.1", Address(host="127.0.0.1")),
    ("redis://store.example:7000/3", Address(host="store.example", port=7000, database=3)),
    ("valkey://[::1]:6380", Address(host="::1", port=6380)),
    ("rediss://store.example", Address(host="store.example", tls=True)),
    ("valkeys://store.example/1", Address(host="store.example", database=1, tls=True)),
    ("unix:///run/valkey/valkey.sock", Address(path="/run/valkey/valkey.sock")),
]


@pytest.mark.parametrize(("url", "address"), ADDRESSES)
def test_the_usual_addresses_are_understood(url: str, address: Address) -> None:
    assert address_of(url) == address


REFUSED = [
    pytest.param(
        "redis://planted:planted@127.0.0.1", "must not contain a user name or password", id="password"
    ),
    pytest.param("redis://planted@127.0.0.1", "must not contain a user name or password", id="user"),
    pytest.param("127.0.0.1:6379", "--cache must be an address such as redis://", id="no-scheme"),
    pytest.param("http://127.0.0.1:6379", "must start with redis://", id="another-scheme"),
    pytest.param("redis://127.0.0.1:99999", "needs a port from 0 to 65535", id="port"),
    pytest.param("redis:///1", "needs a host", id="no-host"),
    pytest.param("redis://127.0.0.1/planted", "may end with the number of a database", id="database"),
    pytest.param("redis://127.0.0.1?ssl_cert_reqs=none", "takes no options", id="options"),
    pytest.param("unix://", "--cache must be", id="no-path"),
]


@pytest.mark.parametrize(("url", "sentence"), REFUSED)
def test_a_wrong_address_is_refused_in_a_sentence(url: str, sentence: str) -> None:
    ended = run("serve", "--sample", "--cache", url)
    assert ended.code == 2
    assert sentence in ended.err
    assert "planted" not in ended.err


def test_a_password_for_nothing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("a-password")
    ended = run("serve", "--sample", "--cache-password-file", str(file))
    assert ended.code == 2
    assert "--cache-password-file is for --cache" in ended.err


def test_a_password_in_the_settings_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[serve]\ncache-password = "planted"\n')
    ended = run("serve", "--sample", "--config", str(file))
    assert ended.code == 2
    assert "cache-password-file" in ended.err
    assert "planted" not in ended.err


def _python(code: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment())


def test_without_the_client_it_is_said_what_to_install() -> None:
    code = "import sys; sys.modules['valkey'] = None; from qortal_mcp.cli.main import main; sys.exit(main())"
    ended = _python(code, "serve", "--sample", "--cache", "redis://127.0.0.1")
    assert ended.returncode == 2
    assert "install qortal-mcp with its extra `shared`" in ended.stderr


@pytest.mark.parametrize(
    "module", ["qortal_mcp.cli.stdio", "qortal_mcp.application", "qortal_mcp.qortal.server"]
)
def test_whoever_shares_nothing_loads_nothing_of_it(module: str) -> None:
    code = f"import sys, {module}; print([name for name in sys.modules if name.startswith(('valkey', 'qortal_mcp.store'))])"
    assert _python(code).stdout.strip() == "[]"
