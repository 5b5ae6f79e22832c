"""Models on this machine: which one is chosen, and how large its window is."""

import asyncio
import socket
from typing import Any

import pytest
from msgspec import structs
from tests.agent.scripted_endpoint import Raw, Reply, Request, ScriptedEndpoint, refuses

from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.model.local import Found, Place, find_local, usual_places
from qortal_mcp.agent.model.window import Kind, raise_window_hint, window_of

LIMITS = AgentLimits(probe_seconds=2.0)
Pages = dict[str, Any]


def place(server: ScriptedEndpoint, kind: Kind) -> Place:
    return Place(kind, server.base_url.removesuffix("/v1"))


async def found_in(pages: Pages, kind: Kind) -> tuple[str, int | None] | None:
    """The model and window that are found on a server with these pages."""
    with ScriptedEndpoint(pages=pages) as server:
        found = await find_local([place(server, kind)], limits=LIMITS)
        if found is None:
            return None
        assert found == Found(base_url=server.base_url, model=found.model, kind=kind, window=found.window)
        return found.model, found.window


def ollama(*names: str, loaded: dict[str, int] | None = None, show: Any = None) -> Pages:
    running = [{"name": name, "context_length": window} for name, window in (loaded or {}).items()]
    pages: Pages = {
        "/api/tags": {"models": [{"name": name, "model": name} for name in names]},
        "/api/ps": {"models": running},
    }
    return pages if show is None else {**pages, "/api/show": show}


def by_model(**capabilities: list[str]) -> Any:
    """What /api/show answers, by the beginning of the model's name."""

    def page(request: Request) -> Reply:
        name = request.body["model"].partition(":")[0]
        if name not in capabilities:
            return refuses(404, "model not found")
        body = b'{"capabilities":["%s"]}' % '","'.join(capabilities[name]).encode()
        return Raw(headers={"content-type": "application/json"}, body=body)

    return page


TALKS, CALLS, EMBEDS = ["completion"], ["completion", "tools"], ["embedding"]

OLLAMA = [
    pytest.param(ollama("qwen3:8b", "llama3.2:latest"), ("qwen3:8b", None), id="the-first"),
    pytest.param(ollama("qwen3:8b", "llama3.2:latest", loaded={"llama3.2:latest": 4096}), ("llama3.2:latest", 4096), id="the-loaded"),
    pytest.param(ollama("gemma:2b", "qwen3:8b", show=by_model(gemma=TALKS, qwen3=CALLS)), ("qwen3:8b", None), id="one-with-tools"),
    pytest.param(ollama("gemma:2b", "qwen3:8b", loaded={"gemma:2b": 4096}, show=by_model(gemma=TALKS, qwen3=CALLS)), ("qwen3:8b", None), id="tools-rather-than-loaded"),
    pytest.param(ollama("gemma:2b", show=by_model(gemma=TALKS)), ("gemma:2b", None), id="none-with-tools"),
    pytest.param(ollama("nomic-embed-text:latest", "qwen3:8b"), ("qwen3:8b", None), id="no-embedding-by-name"),
    pytest.param(ollama("vectors:1", "qwen3:8b", show=by_model(vectors=EMBEDS)), ("qwen3:8b", None), id="no-embedding-by-capability"),
    pytest.param(ollama("qwen3:8b", show={"parameters": "stop <x>\nnum_ctx                        16384\ntop_k 20"}), ("qwen3:8b", 16384), id="window-of-its-file"),
    pytest.param(ollama("nomic-embed-text"), None, id="embeddings-only"),
    pytest.param(ollama("gpt-oss:120b-cloud", "qwen3:8b"), ("qwen3:8b", None), id="none-that-runs-elsewhere"),
    pytest.param({"/api/tags": {"models": [{"name": "a", "remote_host": "https://other.example"}]}}, None, id="remote-only"),
    pytest.param(ollama(), None, id="no-models"),
    pytest.param({"/api/tags": {"models": [None, 7, {}, {"name": 7}, {"name": "m" * 300}]}}, None, id="odd-lists"),
    pytest.param({"/api/tags": {"models": [{"name": "a"}]}, "/api/ps": {"models": [{"name": "a", "context_length": True}]}}, ("a", None), id="odd-window"),
    pytest.param({"/api/tags": Raw(body=b"rubbish")}, None, id="rubbish"),
]  # fmt: skip


@pytest.mark.parametrize(("pages", "found"), OLLAMA)
async def test_ollama_is_found(pages: Pages, found: Any) -> None:
    assert await found_in(pages, "Ollama") == found


STUDIO = [
    pytest.param([{"id": "a", "type": "llm"}, {"id": "b", "type": "llm", "state": "loaded", "loaded_context_length": 8192, "max_context_length": 32768}], ("b", 8192), id="the-loaded"),
    pytest.param([{"id": "a", "type": "embeddings", "state": "loaded"}, {"id": "b", "type": "vlm", "max_context_length": 32768}], ("b", None), id="no-embedding"),
    pytest.param([{"id": "a", "type": "llm", "capabilities": []}, {"id": "b", "type": "llm", "capabilities": ["tool_use"]}], ("b", None), id="one-with-tools"),
    pytest.param([{"id": "a", "type": "embeddings"}], None, id="embeddings-only"),
]  # fmt: skip


@pytest.mark.parametrize(("models", "found"), STUDIO)
async def test_lm_studio_is_found(models: list[Any], found: Any) -> None:
    assert await found_in({"/api/v0/models": {"data": models}}, "LM Studio") == found


LISTS = [
    pytest.param("LM Studio", {}, ("m", None), id="an-older-lm-studio"),
    pytest.param("llama.cpp", {"/props": {"default_generation_settings": {"n_ctx": 8192}}}, ("m", 8192), id="llama.cpp"),
    pytest.param("llama.cpp", {}, ("m", None), id="llama.cpp-without-props"),
    pytest.param("vLLM", {}, ("m", None), id="vllm-without-window"),
    pytest.param("vLLM", {"/v1/models": {"data": [{"id": "m", "max_model_len": 32768}]}}, ("m", 32768), id="vllm"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "pages", "found"), LISTS)
async def test_a_server_with_a_list_of_models_is_found(kind: Kind, pages: Pages, found: Any) -> None:
    assert await found_in({"/v1/models": {"data": [{"id": "m"}]}, **pages}, kind) == found


@pytest.mark.parametrize("kind", ["Ollama", "LM Studio", "llama.cpp", "vLLM"])
async def test_a_server_of_something_else_is_not_an_endpoint(kind: Kind) -> None:
    assert await found_in({}, kind) is None


async def test_the_first_place_with_a_model_is_chosen_and_silence_does_not_hold_it_up() -> None:
    hanging: Pages = {path: Raw(bare=True, end="hangs") for path in ("/api/tags", "/api/ps")}
    listing: Pages = {"/v1/models": {"data": [{"id": "m"}]}}
    limits = structs.replace(LIMITS, probe_seconds=0.3)
    with (
        socket.socket() as closed,
        ScriptedEndpoint(pages=hanging) as silent,
        ScriptedEndpoint(pages=listing) as first,
        ScriptedEndpoint(pages=listing) as second,
    ):
        closed.bind(("127.0.0.1", 0))
        places = [
            Place("Ollama", f"http://127.0.0.1:{closed.getsockname()[1]}"),
            place(silent, "Ollama"),
            place(first, "llama.cpp"),
            place(second, "vLLM"),
        ]
        async with asyncio.timeout(30):
            found = await find_local(places, limits=limits)
            assert await find_local(places[:2], limits=limits) is None
    assert found == Found(base_url=first.base_url, model="m", kind="llama.cpp")


@pytest.mark.parametrize(
    ("said", "origin"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11500", "http://127.0.0.1:11500"),
        (":11500", "http://127.0.0.1:11500"),
        ("[::]:11500", "http://127.0.0.1:11500"),
        ("[::1]", "http://[::1]:11434"),
        ("box.lan", "http://box.lan:11434"),
        ("http://box.lan", "http://box.lan:80"),
        ("https://box.lan/", "https://box.lan:443"),
        ("box.lan:port", "http://127.0.0.1:11434"),
    ],
)
def test_ollama_is_looked_for_where_its_variable_says(said: str, origin: str) -> None:
    assert [place.origin for place in usual_places(said)] == [
        origin,
        "http://127.0.0.1:1234",
        "http://127.0.0.1:8080",
        "http://127.0.0.1:8000",
    ]


WINDOWS = [
    pytest.param(ollama(loaded={"qwen3:latest": 4096}), "qwen3", 4096, id="ollama-loaded"),
    pytest.param(ollama(loaded={"other:latest": 4096}), "qwen3", None, id="ollama-another-is-loaded"),
    pytest.param(ollama(show={"parameters": "num_ctx 8192"}), "qwen3", 8192, id="ollama-by-its-file"),
    pytest.param({"/props": {"default_generation_settings": {"n_ctx": 8192}}}, "m", 8192, id="llama.cpp"),
    pytest.param({"/v1/models": {"data": [{"id": "m", "max_model_len": 32768}]}}, "m", 32768, id="vllm"),
    pytest.param({"/v1/models": {"data": [{"id": "o", "max_model_len": 32768}]}}, "m", None, id="vllm-another"),
    pytest.param({"/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 4096}]}}, "m", 4096, id="lm-studio"),
    pytest.param({"/api/v0/models": {"data": [{"id": "m", "max_context_length": 4096}]}}, "m", None, id="lm-studio-not-loaded"),
    pytest.param({}, "m", None, id="does-not-say"),
    pytest.param({"/props": {"default_generation_settings": {"n_ctx": -1}}}, "m", None, id="odd"),
    pytest.param({"/props": Raw(bare=True, end="hangs")}, "m", None, id="hangs"),
]  # fmt: skip


@pytest.mark.parametrize(("pages", "model", "window"), WINDOWS)
async def test_the_window_is_what_the_server_says(pages: Pages, model: str, window: int | None) -> None:
    limits = structs.replace(LIMITS, probe_seconds=0.5)
    with ScriptedEndpoint(pages=pages) as server:
        assert await window_of(server.base_url, model, key="secret", limits=limits) == window
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer secret"}


async def test_a_window_that_cannot_be_asked_for_is_unknown() -> None:
    assert await window_of("http://no-such-host.invalid/v1", "m", limits=LIMITS, proxies=False) is None
    assert await window_of("http://127.0.0.1:9/v1", "m", limits=LIMITS, ca_file="none.pem") is None


@pytest.mark.parametrize(
    ("server", "word"),
    [
        ("Ollama", "OLLAMA_CONTEXT_LENGTH"),
        ("http://127.0.0.1:11434/v1", "OLLAMA_CONTEXT_LENGTH"),
        ("LM Studio", "--context-length"),
        ("http://localhost:8080/v1", "--ctx-size"),
        ("vLLM", "--max-model-len"),
        ("https://api.example/v1", "larger one"),
        ("http://h:port", "larger one"),
    ],
)
def test_how_to_raise_a_window_is_said_for_each_server(server: str, word: str) -> None:
    hint = raise_window_hint(server)
    assert word in hint
    assert hint.endswith(".")
