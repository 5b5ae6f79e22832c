"""`doctor` about the shared store: reachable, the right password, its version, its memory."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.doctor.examined import closed, doctor, silent
from tests.store.tiny_store import TinyStore, tiny_store


@pytest.fixture
def store() -> Iterator[TinyStore]:
    with tiny_store() as running:
        yield running


def test_a_store_that_answers_is_good(tmp_path: Path, store: TinyStore) -> None:
    found = doctor(tmp_path, "--sample", "--cache", store.url).section("Shared store")
    assert found["store-reachable"]["state"] == "good"
    assert found["store-version"]["says"] == "valkey 8.1.1"
    assert found["store-memory"]["says"] == "at most 256 MiB"


@pytest.mark.parametrize("where", [closed, silent])
def test_a_store_that_is_away_is_a_warning(
    tmp_path: Path, where: Callable[[], AbstractContextManager[int]]
) -> None:
    with where() as port:
        found = doctor(tmp_path, "--sample", "--cache", f"redis://127.0.0.1:{port}").one("store-reachable")
    assert found["state"] == "warning"
    assert "by itself" in found["advice"]


def test_a_wrong_password_is_a_problem_and_is_not_shown(tmp_path: Path) -> None:
    with tiny_store("right-password") as store:
        env = {"QORTAL_MCP_CACHE_PASSWORD": "wrong-password"}
        examined = doctor(tmp_path, "--sample", "--cache", store.url, env=env)
    assert examined.one("store-reachable")["state"] == "problem"
    assert "wrong-password" not in examined.ended.out + examined.ended.err
    assert examined.code == 1


def test_what_is_no_store_is_called_that(tmp_path: Path, store: TinyStore) -> None:
    store.manner = lambda words: b"HTTP/1.1 400 Bad Request\r\n\r\n"
    found = doctor(tmp_path, "--sample", "--cache", store.url).one("store-reachable")
    assert "no Valkey or Redis server" in found["says"]


def test_memory_without_a_bound_is_a_warning(tmp_path: Path, store: TinyStore) -> None:
    said = b"maxmemory:0\r\nmaxmemory_policy:noeviction\r\n"
    store.manner = lambda words: (
        b"$%d\r\n%b\r\n" % (len(said), said) if words == [b"INFO", b"memory"] else None
    )
    found = doctor(tmp_path, "--sample", "--cache", store.url).one("store-memory")
    assert found["state"] == "warning"
    assert "allkeys-lru" in found["advice"]
