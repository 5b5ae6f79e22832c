"""One OpenAI-compatible server and one model: asks for a reply, streamed or whole, and says why there is none."""

import asyncio
from collections.abc import Callable, Sequence

from ...client.errors import ClientError, ConnectionLost
from ...client.limits import ClientLimits
from ...client.transcript import Headers, Recorder
from ...client.wires.media import EVENT_STREAM, JSON
from ...client.wires.reasons import NO_ANSWER
from ...client.wires.routes import Route
from ...client.wires.web import POST_HEADERS, Head, Web
from ...protocol.framing import Event
from ...text import printable
from ..limits import DEFAULT, AgentLimits
from . import explanations
from .addresses import base_of, chat_of, is_loopback
from .chunks import Assembly, decoded
from .messages import Completion, Function, Message
from .probing import items, member, name_of
from .refusals import BUSY, EndpointError, Refusal, ToolsRefused, masked, read_refusal, said_in, sentence
from .requests import body_of

_DONE = "[DONE]"
# Statuses of an endpoint that does not list its models, and answers all the same.
_NO_LIST = frozenset({400, 404, 405, 422, 501})
# The usage follows the last word at once. Some servers never close the stream.
_USAGE_SECONDS = 2.0
# An event costs memory and time besides its text.
_EVENT_BYTES = 32
# A connection that was lost before the answer; more attempts would not help.
_LOST_ATTEMPTS = 2
_LOST = ("connection reset", "connection closed", "the answer ended too early", NO_ANSWER)


class _Again(Exception):
    """An attempt that may be repeated; `error` is what it comes to otherwise. Without `wait`, a little longer each time."""

    def __init__(self, error: EndpointError, what: str, attempts: int, wait: float | None = None) -> None:
        super().__init__(what)
        self.error = error
        self.what = what
        self.attempts = attempts
        self.wait = wait


class _Shown:
    """Passes text on, and remembers that it did."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self.has_any = False

    def __call__(self, text: str) -> None:
        if text:
            self.has_any = True
            self._on_text(text)


class Endpoint:
    """Keeps a connection open between replies; `close` it. The key goes to this server alone, redirects are refused."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        limits: AgentLimits = DEFAULT,
        proxies: bool = True,
        ca_file: str | None = None,
    ) -> None:
        """Raises: EndpointError if the address, the key or the file of certificates cannot be used."""
        self.base_url = base_of(base_url)
        self.model = model
        self.name = printable(self.base_url)
        self._key = (key or "").strip() or None
        self._limits = limits
        self._streams = True
        self._counts = True
        self._is_plain_told = False
        self._reasons_first = False
        self._next_id = 0
        if self._key is not None and not (self._key.isascii() and self._key.isprintable()):
            raise EndpointError("The key has characters that no key has. Check OPENAI_API_KEY.")
        headers: Headers = (("authorization", f"Bearer {self._key}"),) if self._key else ()
        bounds = ClientLimits(message_bytes=limits.reply_bytes, connect_seconds=limits.connect_seconds)
        try:
            self._web = Web(Recorder(), bounds, headers, route=Route(proxies=proxies, ca_file=ca_file))
        except ClientError as exc:
            raise self._error(exc) from None

    async def complete(
        self,
        messages: Sequence[Message],
        functions: Sequence[Function],
        *,
        on_text: Callable[[str], None],
        on_notice: Callable[[str], None],
    ) -> Completion:
        """The model's reply. `on_text` gets each piece of it as the model wrote it, without its reasoning; `on_notice`
        what a person should know about the endpoint.

        Raises: EndpointError.
        """
        self._tell_if_plain(on_notice)
        shown = _Shown(on_text)
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(messages, functions, shown)
            except _Again as again:
                longest = self._limits.longest_wait_seconds
                wait = min(2.0 ** (attempt - 1), longest) if again.wait is None else again.wait
                if shown.has_any or attempt >= min(again.attempts, self._limits.attempts) or wait > longest:
                    raise again.error from None
                when = f" in {wait:.3g} s" if wait else ""
                on_notice(f"{again.what}; trying again{when}.")
            await asyncio.sleep(wait)

    async def models(self) -> list[str] | None:
        """The models that the endpoint lists; None: it has no list.

        Raises: EndpointError if it cannot be reached, or wants a key.
        """
        seconds = self._limits.connect_seconds
        try:
            async with asyncio.timeout(seconds), self._web.request("GET", f"{self.base_url}/models") as head:
                data = await self._web.body(head)
        except TimeoutError:
            raise explanations.unreachable(f"no answer within {seconds:g} s", self.base_url) from None
        except ConnectionLost as exc:
            raise explanations.unreachable(masked(str(exc), self._key), self.base_url) from None
        except ClientError as exc:
            raise self._error(exc) from None
        if head.status in (401, 403):
            refusal = read_refusal(head.status, head.http.headers, data, self._key)
            raise explanations.refused(refusal, self.name, has_key=self._key is not None, has_tools=False)
        listed = decoded(data.decode("utf-8", "replace")) if head.is_good else None
        if not isinstance(member(listed, "data"), list):
            return None
        names = (name_of(item, "id") for item in items(listed, "data"))
        # One that repeats the key is not the name of a model.
        return [name for name in names if name and masked(name, self._key) == name]

    async def close(self) -> None:
        await self._web.close()

    async def _attempt(
        self, messages: Sequence[Message], functions: Sequence[Function], shown: _Shown
    ) -> Completion:
        body = body_of(self.model, messages, functions, stream=self._streams, counts=self._counts)
        assembly = Assembly(self._limits, first_id=self._next_id, key=self._key, waits=self._reasons_first)
        try:
            async with (
                asyncio.timeout(self._limits.first_word_seconds) as patience,
                self._web.request("POST", chat_of(self.base_url), POST_HEADERS, body) as head,
            ):
                if not head.is_good:
                    data = await self._web.body(head)
                    refusal = read_refusal(head.status, head.http.headers, data, self._key)
                else:
                    refusal = None
                    is_whole = await self._take(head, assembly, shown, patience)
        except TimeoutError:
            return self._broken(assembly, shown, self._silent(assembly))
        except ConnectionLost as exc:
            reason = masked(str(exc), self._key)
            if reason not in _LOST and not assembly.is_completion:
                raise explanations.unreachable(reason, self.base_url) from None
            return self._broken(assembly, shown, self._lost(reason))
        except ClientError as exc:
            raise self._error(exc) from None
        except EndpointError as exc:
            if exc.status in BUSY:
                raise _Again(exc, explanations.trying_again(exc.status), self._limits.attempts) from None
            raise
        if refusal is None:
            return (
                self._completed(assembly, shown) if is_whole else self._broken(assembly, shown, self._lost())
            )
        if self._asks_less(refusal):
            return await self._attempt(messages, functions, shown)
        raise await self._refused(refusal, has_tools=bool(functions))

    async def _take(self, head: Head, assembly: Assembly, shown: _Shown, patience: asyncio.Timeout) -> bool:
        """Read a reply into the assembly; whether it is whole."""
        await self._web.look(head)
        if head.media_type == EVENT_STREAM:
            return await self._take_events(head, assembly, shown, patience)
        data = await self._web.body(head)
        shown(assembly.take(decoded(data.decode("utf-8", "replace")) if head.media_type == JSON else None))
        if not assembly.is_completion:
            what = said_in(data, self._key).message if data else "the reply is empty"
            raise explanations.not_a_completion(self.name, what)
        return True

    async def _take_events(
        self, head: Head, assembly: Assembly, shown: _Shown, patience: asyncio.Timeout
    ) -> bool:
        loop = asyncio.get_running_loop()
        is_done = False
        taken = 0
        odd = ""

        def take(event: Event) -> bool:
            nonlocal is_done, taken, odd
            data = (event.data or "").strip()
            taken += len(data) + _EVENT_BYTES
            if taken > self._limits.reply_bytes:
                raise EndpointError(
                    f"A reply of {self.name} is larger than {self._limits.reply_bytes} bytes."
                )
            if data == _DONE:
                is_done = True
                return True
            chunk = decoded(data) if data else None
            if data and chunk is None:
                odd = odd or data[:1000]
            if event.event == "error" and isinstance(chunk, dict) and "error" not in chunk:
                chunk = {"error": chunk}
            was_finished = assembly.is_finished
            shown(assembly.take(chunk))
            # After the last word, events that say nothing are not worth waiting for.
            if not was_finished or (isinstance(chunk, dict) and chunk.get("choices")):
                seconds = _USAGE_SECONDS if assembly.is_finished else self._limits.next_word_seconds
                patience.reschedule(loop.time() + seconds)
            return assembly.is_full

        await self._web.events(head, take)
        if (is_done or odd) and not assembly.is_completion:
            raise explanations.not_a_completion(
                self.name, said_in(odd.encode("utf-8", "replace"), self._key).message
            )
        return is_done or assembly.is_finished or assembly.is_full

    def _completed(self, assembly: Assembly, shown: _Shown, *, is_whole: bool = True) -> Completion:
        shown(assembly.close())
        completion = assembly.completion(is_whole=is_whole)
        self._next_id += len(completion.calls)
        self._reasons_first = self._reasons_first or assembly.reasons_first
        return completion

    def _broken(self, assembly: Assembly, shown: _Shown, error: EndpointError | _Again) -> Completion:
        """What there is of a reply that stopped.

        Raises: the error, if nothing of it was passed on.
        """
        if assembly.is_finished:
            return self._completed(assembly, shown)
        if not shown.has_any:
            raise error
        return self._completed(assembly, shown, is_whole=False)

    def _lost(self, reason: str = "the answer ended too early") -> _Again:
        error = EndpointError(f"The connection to {self.name} was lost: {sentence(reason)} Try again.")
        return _Again(error, "The connection to the model's endpoint was lost", _LOST_ATTEMPTS, wait=0.0)

    def _silent(self, assembly: Assembly) -> EndpointError:
        limits = self._limits
        seconds = limits.next_word_seconds if assembly.is_completion else limits.first_word_seconds
        return EndpointError(
            f"{self.name} has sent nothing for {seconds:g} s. The model may be too large for the machine; "
            "try again or use a smaller one."
        )

    def _asks_less(self, refusal: Refusal) -> bool:
        """Whether the refusal is about streaming, which is then not asked for again."""
        if self._streams and self._counts and refusal.is_about_stream_options:
            self._counts = False
            return True
        if self._streams and refusal.is_about_stream:
            self._streams = False
            return True
        return False

    async def _refused(self, refusal: Refusal, *, has_tools: bool) -> EndpointError | _Again:
        if refusal.status == 404 and not (has_tools and refusal.is_about_tools):
            try:
                models = await self.models()
            except EndpointError:
                models = None
            return explanations.not_found(refusal, self.base_url, self.model, models)
        error = explanations.refused(refusal, self.name, has_key=self._key is not None, has_tools=has_tools)
        if not refusal.is_busy or isinstance(error, ToolsRefused):
            return error
        return _Again(error, explanations.trying_again(refusal.status), self._limits.attempts, refusal.wait)

    def _tell_if_plain(self, on_notice: Callable[[str], None]) -> None:
        if self._key is None or self._is_plain_told:
            return
        self._is_plain_told = True
        if self.base_url.startswith("http://") and not is_loopback(self.base_url):
            on_notice(
                f"The key is sent to {self.name} without encryption. Use https:// if the endpoint has it."
            )

    def _error(self, exc: ClientError) -> EndpointError:
        text = sentence(masked(str(exc), self._key))
        return EndpointError(text[:1].upper() + text[1:])
