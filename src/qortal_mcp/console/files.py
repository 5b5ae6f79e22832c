"""The files of the page: read once, when a browser first asks, and kept compressed under the hash of their content."""

import gzip
import hashlib
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from ..transports.http import Exchange

STATIC = Path(__file__).with_name("static")
INDEX = "index.html"
# Stands in the index for the folder that is named by the hash, and for the list of all modules.
_FOLDER = "console/HASH/"
_MODULES = "<!-- modules -->"
_NO_TOKEN = '<meta name="needs-token" content="no">'
_TOKEN = '<meta name="needs-token" content="yes">'

_TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml; charset=utf-8",
}
# Scripts and styles come from our files alone, and no text can become markup: not by mistake either.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_ALWAYS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"vary", b"accept-encoding"),
)
_FOR_EVER = (b"cache-control", b"public, max-age=31536000, immutable")
_ASK_AGAIN = (b"cache-control", b"no-cache")


class File(Struct, frozen=True):
    """One file as it is sent."""

    body: bytes
    compressed: bytes
    content_type: bytes
    etag: bytes


class Files:
    """All files, and the folder that a browser finds them in: another content has another folder."""

    def __init__(self, *, needs_token: bool = False) -> None:
        self._needs_token = needs_token

    @cached_property
    def _raw(self) -> dict[str, bytes]:
        """Read by the first request, so that a start does not wait for it."""
        return {
            path.relative_to(STATIC).as_posix(): path.read_bytes()
            for path in sorted(STATIC.rglob("*"))
            if path.suffix in _TYPES
        }

    @cached_property
    def folder(self) -> str:
        whole = hashlib.sha256()
        for name, body in self._raw.items():
            whole.update(f"{name} {len(body)}\n".encode() + body)
        return whole.hexdigest()[:16]

    @cached_property
    def by_name(self) -> dict[str, File]:
        return {name: _file(name, body) for name, body in (self._raw | {INDEX: self._index()}).items()}

    def _index(self) -> bytes:
        """The page itself. It names all modules, so that a browser fetches them at once and not one after the other, and
        says whether a token is needed, so that the page asks for it before it is refused."""
        modules = [name for name in self._raw if name.endswith(".js")]
        links = "\n".join(f'<link rel="modulepreload" href="{_FOLDER}{name}">' for name in modules)
        text = self._raw[INDEX].decode().replace(_MODULES, links).replace(_FOLDER, f"console/{self.folder}/")
        return (text.replace(_NO_TOKEN, _TOKEN) if self._needs_token else text).encode()

    async def serve_index(self, exchange: Exchange) -> None:
        await _serve(exchange, self.by_name[INDEX], _ASK_AGAIN)

    async def serve_file(self, exchange: Exchange) -> None:
        """`/console/HASH/NAME`, to be kept for ever; `/console/NAME` is asked for again each time."""
        name = exchange.scope["path"].removeprefix("/console/")
        short = name.removeprefix(f"{self.folder}/")
        file = self.by_name.get(short)
        if file is None:
            await exchange.text(404, "Not found.")
        else:
            await _serve(exchange, file, _ASK_AGAIN if short == name else _FOR_EVER)


def _file(name: str, body: bytes) -> File:
    etag = b'"%s"' % hashlib.sha256(body).hexdigest()[:16].encode()
    # Without a time in it, so that the same content is the same bytes.
    return File(body, gzip.compress(body, 9, mtime=0), _TYPES[Path(name).suffix], etag)


async def _serve(exchange: Exchange, file: File, keep: tuple[bytes, bytes]) -> None:
    if exchange.scope["method"] not in ("GET", "HEAD"):
        await exchange.text(405, "Only GET is served here.", ((b"allow", b"GET, HEAD, OPTIONS"),))
        return
    heads = (*_ALWAYS, keep, (b"etag", file.etag))
    known = exchange.header(b"if-none-match") or b""
    if file.etag in known or known.strip() == b"*":
        await exchange.reply(304, b"", *heads)
        return
    kind = (b"content-type", file.content_type)
    if _takes_gzip(exchange.header(b"accept-encoding") or b""):
        await exchange.reply(200, file.compressed, *heads, kind, (b"content-encoding", b"gzip"))
    else:
        await exchange.reply(200, file.body, *heads, kind)


def _takes_gzip(accepted: bytes) -> bool:
    for part in accepted.lower().split(b","):
        name, _, weight = part.replace(b" ", b"").partition(b";q=")
        if name in (b"gzip", b"*"):
            return bool(weight.strip(b"0.")) if weight else True
    return False
