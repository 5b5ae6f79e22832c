"""Results on their way between the eras: what is added, what is taken out, what is left as it came."""

import pytest
from msgspec import Raw

from qortal_mcp.bridge.eras import NO_CACHE, asks_for_input, legacy_result, modern_result, readable_in
from qortal_mcp.protocol.decoding import decode

INFO = {"name": "s", "version": "1"}
SAID = "io.modelcontextprotocol/serverInfo"


def test_an_old_result_gets_what_the_modern_era_asks_for() -> None:
    found = decode(modern_result(b'{"tools":[]}', INFO, NO_CACHE))
    assert found == {
        "tools": [],
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {SAID: INFO},
    }


def test_what_a_modern_server_said_itself_stays() -> None:
    body = b'{"tools":[],"resultType":"complete","ttlMs":5,"cacheScope":"public","_meta":{"%b":{"name":"own","version":"2"}}}'
    assert decode(modern_result(body % SAID.encode(), INFO, NO_CACHE)) == decode(body % SAID.encode())


@pytest.mark.parametrize("hints", ['"ttlMs":-1,"cacheScope":"public"', '"ttlMs":5,"cacheScope":"all"'])
def test_hints_that_mean_nothing_are_replaced(hints: str) -> None:
    found = decode(modern_result(f'{{"tools":[],{hints}}}'.encode(), INFO, NO_CACHE))
    assert (found["ttlMs"], found["cacheScope"]) == (0, "private")


@pytest.mark.parametrize("body", [b"5", b'"x"', b'{"_meta":5}', b'{"a":1}', b'{"a":1,"_meta":{"b":2}}'])
def test_a_result_without_anything_modern_stays_as_it_came(body: bytes) -> None:
    assert bytes(legacy_result(Raw(body))) == body


def test_an_empty_result_is_empty_for_an_old_client() -> None:
    body = b'{"resultType":"complete","_meta":{"%b":{"name":"s","version":"1"}}}' % SAID.encode()
    assert bytes(legacy_result(Raw(body))) == b"{}"


@pytest.mark.parametrize(
    "body", [b'"input_required"', b'["input_required"]', b'{"text":"input_required"}', b"{", b'{"a":1}']
)
def test_only_a_result_that_says_so_asks_for_input(body: bytes) -> None:
    assert not asks_for_input(Raw(body))


def test_newer_kinds_of_content_become_older_ones_everywhere() -> None:
    audio = '{"type":"audio","data":"AAAA","mimeType":"audio/wav"}'
    link = '{"type":"resource_link","uri":"a:b","name":"n","title":"T"}'
    body = f'{{"content":[{audio},{link},5],"messages":[{{"role":"user","content":{audio}}},5]}}'
    found = decode(readable_in("2024-11-05", Raw(body.encode())))
    kept = {"type": "resource", "resource": {"uri": "data:audio", "mimeType": "audio/wav", "blob": "AAAA"}}
    assert found["content"] == [kept, {"type": "text", "text": "T: a:b"}, 5]
    assert found["messages"] == [{"role": "user", "content": kept}, 5]


@pytest.mark.parametrize("body", [b'["audio"]', b'{"audio"', b'{"content":"audio"}', b'{"a":"audio"}'])
def test_what_has_no_such_content_stays_as_it_is(body: bytes) -> None:
    assert bytes(readable_in("2024-11-05", Raw(body))) == body
