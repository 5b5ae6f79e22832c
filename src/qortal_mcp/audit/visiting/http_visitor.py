"""A visitor over Streamable HTTP, and what only that has: redirects, authorization, sessions, headers."""

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit

from ...client.envelope import members, mirrored
from ...client.wires.routes import DIRECT, Route
from ...protocol import headers as mcp_headers
from ...protocol.headers import HeaderParam, header_params
from ...protocol.lenient import has_surrogate
from ...protocol.versions import LEGACY, MODERN, MODERN_ERA
from ..evidence import Gap, Headers, Step
from ..steps import StepName
from .budget import Budget
from .http_exchanges import HttpExchanges, Question
from .messages import answer_in, encoded, request, said_in
from .probes import BARE_ID, BATCH, NO_REVISION, NO_SESSION, OLD_VERSION, OTHER_ORIGIN, RAW_ID, WITHOUT_META
from .visitor import Visitor

_VERSION_HEADER_SINCE = "2025-06-18"
# Of the caller, not of the message: no token, a wrong one, a Host that is not allowed.
_REFUSALS = (401, 403, 421)


class HttpVisitor(Visitor):
    """Streamable HTTP: every question is a request of its own."""

    def __init__(self, url: str, headers: Headers, budget: Budget, route: Route = DIRECT) -> None:
        super().__init__("http", budget)
        self._has_headers = bool(headers)
        self._http = HttpExchanges(url, headers, budget, self._volume, self._keep, route)
        self._session_id: str | None = None
        self._header_params: dict[str, tuple[HeaderParam, ...]] = {}

    @property
    def is_over(self) -> bool:
        return self._http.is_lost

    async def ask(
        self,
        name: StepName,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
        id_: int | str | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Step:
        """`headers` replace those that belong to the revision; None leaves one out."""
        id_ = next(self._ids) if id_ is None else id_
        params = self._params(method, params)
        own: dict[str, str | None] = dict(self._usual(method))
        if self.revision in MODERN or method == "server/discover":
            body = members({key: value for key, value in (params or {}).items() if key != "_meta"})
            own = dict(mirrored(MODERN_ERA, method, body, self._header_params.get(subject, ())))
        sent = {**own, **(headers or {})}
        return await self._post(
            name,
            encoded(request(id_, method, params)),
            tuple((key, value) for key, value in sent.items() if value is not None),
            expects=id_,
            subject=subject,
            seconds=seconds,
        )

    async def send(
        self, name: StepName, data: bytes, *, expects: int | None = None, seconds: float | None = None
    ) -> Step:
        return await self._post(name, data, self._usual(), expects=expects, seconds=seconds)

    async def _post(
        self,
        name: StepName,
        data: bytes,
        headers: Headers,
        *,
        expects: int | str | None,
        subject: str = "",
        seconds: float | None = None,
    ) -> Step:
        return await self._http.post(
            Question(
                name=name,
                subject=subject,
                data=data,
                headers=headers,
                id=expects,
                seconds=seconds,
                resuming=self._usual(),
            )
        )

    def _usual(self, method: str = "") -> Headers:
        """The headers of the session and the revision, which `initialize` does not have."""
        found: list[tuple[str, str]] = []
        if self._session_id is not None and method != "initialize":
            found.append((mcp_headers.SESSION_ID, self._session_id))
        if self.revision in LEGACY and self.revision >= _VERSION_HEADER_SINCE and method != "initialize":
            found.append((mcp_headers.PROTOCOL_VERSION, self.revision))
        return tuple(found)

    async def resolve_refusal(
        self, step: Step, params: Mapping[str, Any], gap: Callable[[Gap], None]
    ) -> Step:
        """Follow one redirect inside the same origin, and look for the metadata where authorization is required."""
        http = step.http
        if http is None or http.status is None:
            return step
        location = http.header("location")
        if 300 <= http.status < 400 and location is not None:
            target = _joined(self._http.url, location)
            if _origin(target) == _origin(self._http.url):
                await self._http.move(target)
                return await self.ask("initialize", "initialize", params, subject=step.subject)
            gap(Gap("server", "it redirects to another host; audit that address", weighs=True))
        elif http.status in _REFUSALS:
            gap(Gap("server", self._refusal(http.status) + said_in(step), weighs=True))
            if http.status == 401:
                await self._look_for_metadata(http.header("www-authenticate") or "")
        return step

    def _refusal(self, status: int) -> str:
        if status != 401:
            return f"it refuses this caller or this address (HTTP {status})"
        if self._has_headers:
            return "it does not accept the token in --header-file (HTTP 401)"
        return "it requires authorization (HTTP 401); pass a token with --header-file"

    async def _look_for_metadata(self, challenge: str) -> None:
        parts = urlsplit(self._http.url)
        root = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource"
        named = challenge.partition('resource_metadata="')[2].partition('"')[0]
        urls = [named] if named else [f"{root}{parts.path.rstrip('/')}", root]
        for url in dict.fromkeys(urls):
            # A hostile server may name any address; only its own is asked.
            if _origin(url) == _origin(self._http.url):
                await self._http.get("auth-metadata", url=url)

    def agree(self, revision: str, step: Step) -> None:
        super().agree(revision, step)
        if step.http is not None:
            self._session_id = step.http.header(mcp_headers.SESSION_ID)

    def learn(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """Which arguments are also sent as headers."""
        self._header_params = {
            tool["name"]: _header_params(tool) for tool in tools if isinstance(tool.get("name"), str)
        }

    def can_name(self, tool: str) -> bool:
        """A call of 2026-07-28 has the name in a header, which cannot hold half a character."""
        return self.revision not in MODERN or not has_surrogate(tool)

    def has_lost_session(self, step: Step) -> bool:
        if self._session_id is None or step.http is None or step.http.status not in (400, 404):
            return False
        if step.http.status == 400 and answer_in(step) is not None:
            return False
        self._session_id = None
        return True

    async def probe_version_headers(self) -> None:
        name = mcp_headers.PROTOCOL_VERSION
        if self.revision < _VERSION_HEADER_SINCE:
            return
        await self.ask("no-version-header", "tools/list", {}, headers={name: None})
        await self.ask("bad-version-header", "tools/list", {}, headers={name: NO_REVISION})

    async def probe_batch(self) -> None:
        await self.send("raw batch", BATCH, expects=RAW_ID, seconds=self._limits.probe_seconds)

    async def probe_session(self) -> None:
        await self._http.get("get-stream", self._usual())
        await self.ask("foreign-origin", "ping", headers={"origin": OTHER_ORIGIN})
        if self._session_id is None:
            return
        await self.ask("no-session", "ping", headers={mcp_headers.SESSION_ID: None})
        await self.ask("unknown-session", "ping", headers={mcp_headers.SESSION_ID: NO_SESSION})
        ended = await self._http.exchange(
            Question(
                name="delete-session",
                method="DELETE",
                headers=self._usual(),
                seconds=self._limits.get_seconds,
            )
        )
        if ended.http is not None and ended.http.status is not None and 200 <= ended.http.status < 300:
            await self.ask("after-delete", "ping")

    async def probe_modern(self) -> None:
        version, method = mcp_headers.PROTOCOL_VERSION, mcp_headers.METHOD
        lists = (method, "tools/list")
        old = ((version, NO_REVISION), lists)
        await self._post("modern-old-version", OLD_VERSION, old, expects=RAW_ID)
        await self.ask("modern-header-mismatch", "tools/list", {}, headers={method: "prompts/list"})
        bare = ((version, MODERN_ERA), lists)
        await self._post("modern-no-meta", WITHOUT_META, bare, expects=BARE_ID)
        await self.ask("modern-no-method-header", "tools/list", {}, headers={method: None})
        await self.ask("foreign-origin", "tools/list", {}, headers={"origin": OTHER_ORIGIN})
        await self._http.get("modern-get", ((version, MODERN_ERA),))
        foreign = {mcp_headers.SESSION_ID: NO_SESSION, f"{mcp_headers.PARAM_PREFIX}qortal-mcp-audit": "x"}
        await self.ask("modern-foreign-headers", "server/discover", {}, headers=foreign)

    async def probe_names(self, tool: str) -> None:
        call = {"name": tool, "arguments": {}}
        await self.ask(
            "modern-name-mismatch", "tools/call", call, headers={mcp_headers.NAME: f"{tool}_other"}
        )
        encoded_name = f"=?base64?{base64.b64encode(tool.encode()).decode()}?="
        await self.ask("modern-encoded-name", "tools/call", call, headers={mcp_headers.NAME: encoded_name})

    async def close(self) -> None:
        await self._http.close()


def _joined(url: str, location: str) -> str:
    """Where a redirect leads; empty where that is not an address."""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower()


def _header_params(tool: Mapping[str, Any]) -> tuple[HeaderParam, ...]:
    schema = tool.get("inputSchema")
    try:
        return tuple(header_params(schema)) if isinstance(schema, dict) else ()
    except ValueError:
        return ()
