"""Asking the client back: one way to write it in a tool, two ways to put it on the wire.

Legacy: a request of ours on the call's stream, answered by a response. Modern (2026-07-28): the call ends
with `input_required`, and the client makes it again with the answers and a sealed state in which the
answers of earlier rounds travel, since the server keeps nothing.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from ..limits import Limits
from ..protocol import errors
from ..protocol.decoding import decode_as, has_more_values
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import ElicitParams, ElicitResult, RootsResult, SamplingParams, SamplingResult
from ..protocol.versions import ELICITATION, is_modern
from .context import missing_capability
from .tool_errors import ToolError

if TYPE_CHECKING:
    from .context import Context

_encode = msgspec.json.Encoder().encode


class Question(Struct, frozen=True):
    """One thing to ask: a method, its parameters, what the answer must look like, what the client needs."""

    method: str
    params: Any
    answer: Any
    capability: str
    since: str = ""
    # Makes more of the answer. Raises: ValidationError if it does not fit.
    read: Callable[[Any], Any] | None = None


def elicit(message: str, form: Any) -> Question:
    """Ask the person to fill in a form: a schema, or a type with plain fields.

    Of a type, the content of an accepted answer is an instance.

    Raises: TypeError if MCP has no form for the type.
    """
    if isinstance(form, dict):
        params = ElicitParams(message=message, requestedSchema=form)
        return Question("elicitation/create", params, ElicitResult, "elicitation", ELICITATION)
    from .kinds.forms import form_of  # not needed to start

    asked = form_of(form)

    def read(answer: ElicitResult) -> ElicitResult:
        if answer.action != "accept":
            return answer
        content: Any = asked.read({} if answer.content is UNSET else answer.content)
        return msgspec.structs.replace(answer, content=content)

    params = ElicitParams(message=message, requestedSchema=asked.schema)
    return Question("elicitation/create", params, ElicitResult, "elicitation", ELICITATION, read)


def sample(params: SamplingParams) -> Question:
    """Ask the client's model."""
    return Question("sampling/createMessage", params, SamplingResult, "sampling")


def roots() -> Question:
    """Ask which folders the client works in."""
    return Question("roots/list", {}, RootsResult, "roots")


class InputRequired(Exception):
    """Ends a modern call with questions instead of a result."""

    def __init__(self, body: bytes) -> None:
        super().__init__("input required")
        self.body = body


async def ask(context: Context, questions: Mapping[str, Question]) -> dict[str, Any]:
    for question in questions.values():
        if not context.capabilities.has(question.capability):
            if is_modern(context.revision):
                raise missing_capability({question.capability: {}})
            raise ToolError(
                "NOT_SUPPORTED", "Not supported by this client.", f"It lacks {question.capability}."
            )
    if is_modern(context.revision):
        assert context.questions is not None, "every modern request that may ask carries its questions"
        return context.questions.answers_to(questions)
    return await _ask_legacy(context, questions)


async def _ask_legacy(context: Context, questions: Mapping[str, Question]) -> dict[str, Any]:
    timeout = context.peer.limits.ask_seconds

    async def one(question: Question) -> Any:
        if context.revision < question.since:
            raise ToolError(
                "NOT_SUPPORTED", "Not supported by this client.", "Its protocol revision is too old."
            )
        try:
            raw = await context.peer.request(context.send, question.method, _encode(question.params), timeout)
            return _read(raw, question, context.peer.limits)
        except TimeoutError:
            raise ToolError("TIMEOUT", "The client did not answer in time.", retryable=True) from None
        except errors.ProtocolError as exc:
            raise ToolError("CLIENT_ERROR", "The client refused to answer.", exc.error.message) from None
        except UNREADABLE:
            raise ToolError("CLIENT_ERROR", "The client's answer is malformed.") from None

    try:
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(one(question)) for key, question in questions.items()}
    except ExceptionGroup as failed:
        # The first failure ended the other questions; it is the one to report.
        raise failed.exceptions[0] from None
    return {key: task.result() for key, task in tasks.items()}


def _read(raw: Raw, question: Question, limits: Limits) -> Any:
    """Raises: what is in `UNREADABLE`."""
    if has_more_values(raw, limits.message_values):
        raise msgspec.ValidationError("too many values")
    answer = decode_as(raw, question.answer)
    return answer if question.read is None else question.read(answer)


class Questions:
    """The answers a modern call came with, and the state to seal when more are needed."""

    def __init__(
        self, seal: Seal, purpose: bytes, given: Mapping[str, Raw], earlier: Mapping[str, Raw]
    ) -> None:
        self._seal = seal
        self._purpose = purpose
        self._answers = {**earlier, **given}

    def answers_to(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        """All answers, or `InputRequired` with the questions that still lack one."""
        answers: dict[str, Any] = {}
        open_: dict[str, Question] = {}
        for key, question in questions.items():
            raw = self._answers.get(key)
            try:
                if raw is None:
                    raise msgspec.ValidationError
                answers[key] = _read(raw, question, self._seal.limits)
            except UNREADABLE:
                open_[key] = question  # missing or unusable: ask again
        if not open_:
            return answers
        usable = {key: raw for key, raw in self._answers.items() if key not in open_}
        raise InputRequired(
            _encode(
                {
                    "inputRequests": {
                        key: {"method": question.method, "params": question.params}
                        for key, question in open_.items()
                    },
                    "requestState": self._seal.close(self._purpose, usable),
                }
            )
        )


class _State(Struct):
    answers: dict[str, Raw]
    expires: float
    nonce: str = field(default="")


class Seal:
    """Closes and opens `requestState`: signed, bound to one method and its parameters, and short-lived."""

    def __init__(
        self, limits: Limits, key: bytes | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self._key = key or os.urandom(32)
        self.limits = limits
        self._now = now

    def close(self, purpose: bytes, answers: Mapping[str, Raw]) -> str:
        state = _State(dict(answers), self._now() + self.limits.state_seconds, os.urandom(4).hex())
        body = _encode(state)
        if len(body) > self.limits.state_bytes:
            raise errors.ProtocolError(errors.INVALID_PARAMS, "the answers are too large")
        return base64.urlsafe_b64encode(self._sign(purpose, body) + body).decode()

    def open(self, purpose: bytes, sealed: str) -> dict[str, Raw]:
        """The answers in a state of ours.

        Raises: ProtocolError for anything we did not seal for this call, or that is too old.
        """
        from hmac import compare_digest  # loads OpenSSL, and is not needed to start

        try:
            raw = base64.b64decode(sealed, altchars=b"-_", validate=True)
            signature, body = raw[:32], raw[32:]
            if compare_digest(signature, self._sign(purpose, body)):
                state = msgspec.json.decode(body, type=_State)
                if state.expires >= self._now():
                    return state.answers
        except (binascii.Error, ValueError):
            pass
        raise errors.ProtocolError(errors.INVALID_PARAMS, "requestState is not valid for this request")

    def _sign(self, purpose: bytes, body: bytes) -> bytes:
        import hashlib
        import hmac

        return hmac.digest(self._key, hashlib.sha256(purpose).digest() + body, "sha256")


def questions_of(seal: Seal, purpose: bytes, given: Raw | UnsetType, sealed: Raw | UnsetType) -> Questions:
    """Read `inputResponses` and `requestState` of a request.

    Raises: ProtocolError if either is not what it must be.
    """
    try:
        answers = {} if given is UNSET else decode_as(given, dict[str, Raw])
        state = None if sealed is UNSET else decode_as(sealed, str)
    except UNREADABLE:
        raise errors.ProtocolError(
            errors.INVALID_PARAMS, "inputResponses must be an object and requestState a string"
        ) from None
    earlier = {} if state is None else seal.open(purpose, state)
    return Questions(seal, purpose, answers, earlier)
