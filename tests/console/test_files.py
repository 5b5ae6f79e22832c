"""The files of the page, as any HTTP client gets them: what is sent, how long it may be kept, and who gets it."""

import gzip
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin

import pytest
from tests.door import Answer, Door, open_door

from qortal_mcp.console.files import STATIC

NAMES = sorted(
    path.relative_to(STATIC).as_posix()
    for path in STATIC.rglob("*")
    if path.is_file() and path.name != "index.html"
)
WIRE_BYTES = 150_000
GZIP = {"accept-encoding": "gzip, br"}
# Addresses of others that may stand in a file, each with its reason.
ELSEWHERE = {"http://www.w3.org/2000/svg": "the name of SVG's elements, which nobody asks for"}
# This machine, and the names that are kept for examples.
LOCAL = r"https?://(127\.0\.0\.1|localhost|[a-z.]+\.example)\b"
SECRET = "a-long-token-of-the-tests"


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample") as door:
        yield door


class Index(HTMLParser):
    """The tags of the page, and the files it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags:
            tag = self.tags[-1][0]
            self.texts[tag] = self.texts.get(tag, "") + data.strip()

    @property
    def addresses(self) -> set[str]:
        """Where the browser goes by itself: links of the head, scripts, images."""
        named = (
            attributes.get("src") or (attributes.get("href") if tag == "link" else None)
            for tag, attributes in self.tags
        )
        return {urljoin("/", address) for address in named if address}


@pytest.fixture(scope="module")
def index(door: Door) -> Index:
    return Index(door.get("/").body.decode())


def folder(index: Index) -> str:
    """`/console/HASH/`, which all files are named under."""
    (found,) = {address[: address.index("/", len("/console/")) + 1] for address in index.addresses}
    return found


def decoded(answer: Answer) -> bytes:
    return gzip.decompress(answer.body) if answer.headers.get("content-encoding") == "gzip" else answer.body


# The page itself


def test_the_page_is_at_the_root(door: Door) -> None:
    answer = door.get("/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.promise(
    "Console", "Nothing that is not a file of the page can run in it: scripts and styles are never inline."
)
def test_a_strict_policy_comes_with_the_page(door: Door) -> None:
    policy = door.get("/").headers["content-security-policy"]
    assert "unsafe-" not in policy
    assert "default-src 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert not re.search(r"https?:|data:|\*", policy)


def test_the_page_has_no_inline_script_or_style(index: Index) -> None:
    assert not index.texts.get("script")
    assert "style" not in {tag for tag, _ in index.tags}
    attributes = {name for _, named in index.tags for name in named}
    assert not {name for name in attributes if name == "style" or name.startswith("on")}


def test_the_page_is_not_sent_again_while_it_is_the_same(door: Door) -> None:
    etag = door.get("/").headers["etag"]
    again = door.get("/", {"if-none-match": f'"other", W/{etag}'})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == etag
    assert "content-security-policy" in again.headers
    assert door.get("/", {"if-none-match": '"other"'}).status == 200


def test_an_icon_is_linked(door: Door, index: Index) -> None:
    (icon,) = (named["href"] for tag, named in index.tags if tag == "link" and named.get("rel") == "icon")
    assert icon
    answer = door.get(urljoin("/", icon))
    assert (answer.status, answer.headers["content-type"]) == (200, "image/svg+xml; charset=utf-8")


# Its files


def test_every_file_that_the_page_names_exists(door: Door, index: Index) -> None:
    missing = {address for address in index.addresses if door.get(address).status != 200}
    assert not missing


def test_every_module_is_fetched_at_once(index: Index) -> None:
    preloaded = {
        urljoin("/", str(named["href"]))
        for tag, named in index.tags
        if tag == "link" and named.get("rel") == "modulepreload"
    }
    assert preloaded == {folder(index) + name for name in NAMES if name.endswith(".js")}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_kept_for_ever_under_the_hash_of_the_content(door: Door, index: Index, name: str) -> None:
    answer = door.get(folder(index) + name)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "accept-encoding" in answer.headers["vary"]
    assert "content-encoding" not in answer.headers
    assert answer.body == (STATIC / name).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_compressed_for_those_who_take_that(door: Door, index: Index, name: str) -> None:
    answer = door.get(folder(index) + name, GZIP)
    assert answer.headers["content-encoding"] == "gzip"
    assert decoded(answer) == (STATIC / name).read_bytes()


@pytest.mark.parametrize("accepted", ["gzip;q=0", "br", "identity", "gzip; q=0.0, br"])
def test_a_file_is_plain_for_those_who_do_not(door: Door, accepted: str) -> None:
    answer = door.get("/console/main.js", {"accept-encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert answer.body == (STATIC / "main.js").read_bytes()


def test_a_file_has_a_plain_name_too_and_is_then_asked_for_again(door: Door) -> None:
    answer = door.get("/console/main.js")
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-cache")
    assert door.get("/console/main.js", {"if-none-match": answer.headers["etag"]}).status == 304


@pytest.mark.promise("Console", "The whole page takes less than 150 kB over the wire.")
def test_the_whole_page_is_small(door: Door, index: Index) -> None:
    sent = {name: len(door.get(folder(index) + name, GZIP).body) for name in NAMES}
    sent["index.html"] = len(door.get("/", GZIP).body)
    assert sum(sent.values()) < WIRE_BYTES, sent


def test_every_file_is_used(index: Index) -> None:
    named = {address.removeprefix(folder(index)) for address in index.addresses}
    imported = {
        urljoin(name, target)
        for name in NAMES
        if name.endswith(".js")
        for target in re.findall(r"""(?:from|import)\s*\(?\s*'(\.[^']+)'""", (STATIC / name).read_text())
    } | {"main.js"}
    unused = [name for name in NAMES if name not in (imported if name.endswith(".js") else named)]
    assert not unused
    assert imported <= set(NAMES)


@pytest.mark.parametrize("name", [*NAMES, "index.html"])
def test_no_file_names_an_address_elsewhere(name: str) -> None:
    found = set(re.findall(r"""https?://[^\s'"`<>)]+""", (STATIC / name).read_text()))
    assert not {address for address in found if not re.match(LOCAL, address)} - set(ELSEWHERE)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".js")])
def test_no_module_makes_markup_of_text(name: str) -> None:
    banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|srcdoc"
    assert not re.search(banned, (STATIC / name).read_text())


# What is refused


@pytest.mark.parametrize(
    "path",
    [
        "/console",
        "/console/",
        "/console/unknown.js",
        "/console/0000000000000000/main.js",
        "/console/main.js/",
        "/console/main.js.gz",
        "/console/../site.py",
        "/console/../main.js",
        "/console/./main.js",
        "/console/%2e%2e/site.py",
        "/console/%2E%2E%2Fsite.py",
        "/console/..%5csite.py",
        "/console/..\\site.py",
        "/console//main.js",
        "//console/main.js",
        "/console//etc/passwd",
        "/console/%00",
        "/console/main.js%00.html",
        "/console/views",
        "/console/views/",
        "/index.html",
        "/main.js",
        "/favicon.ico",
    ],
)
def test_an_unknown_name_is_not_found(door: Door, path: str) -> None:
    answer = door.get(path)
    assert answer.status == 404
    assert b"import" not in answer.body


@pytest.mark.parametrize("path", ["/", "/console/main.js"])
def test_a_head_has_no_body(door: Door, path: str) -> None:
    whole = door.get(path)
    head = door.send(method="HEAD", path=path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert head.headers["etag"] == whole.headers["etag"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/", "/console/main.js"])
def test_files_can_only_be_read(door: Door, method: str, path: str) -> None:
    answer = door.send(b"{}", method=method, path=path)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("path", ["/", "/console/main.js"])
def test_another_host_or_origin_is_refused(door: Door, path: str) -> None:
    assert door.get(path, {"host": "elsewhere.example"}).status in (400, 403, 421)
    assert door.get(path, {"origin": "http://elsewhere.example"}).status == 403


@pytest.mark.promise("Console", "The files of the page need no token; everything it shows does.")
def test_files_need_no_token_and_data_does() -> None:
    with open_door("--sample", environment={"QORTAL_MCP_TOKEN": SECRET}) as door:
        assert door.get("/").status == 200
        assert door.get("/console/main.js").status == 200
        assert door.get("/console/unknown.js").status == 404
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        assert door.send(body).status == 401
        assert door.send(body, headers={"authorization": f"Bearer {SECRET}"}).status == 200
        assert SECRET.encode() not in door.get("/").body
