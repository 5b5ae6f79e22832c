"""Questions that a modern server asks in a result (2026-07-28): reading them, and what a retry carries."""

import asyncio
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from . import answering
from .answering import Handlers
from .envelope import Params
from .errors import AnswerRefused, MalformedReply, NotSupported, RequestTimeout
from .limits import ClientLimits
from .pending import Reply

# Only these may be answered with questions.
_MAY_ASK = frozenset({"tools/call", "prompts/get", "resources/read"})
_KIND = "input_required"


class _Kind(Struct):
    resultType: Any = UNSET


class _Question(Struct):
    method: str
    params: Raw = Raw(b"{}")


class Questions(Struct):
    """What a server asks before it continues, and its own state, to be sent back unchanged."""

    inputRequests: dict[str, _Question] = {}
    requestState: Raw | UnsetType = UNSET


def questions_in(method: str, reply: Reply, limits: ClientLimits) -> Questions | None:
    """The questions in a reply; None if it is an ordinary result.

    Raises: MalformedReply if they cannot be answered.
    """
    if _KIND.encode() not in reply.raw or reply.read(_Kind).resultType != _KIND:
        return None
    if method not in _MAY_ASK:
        raise MalformedReply(f"{method} may not be answered with questions", (reply.raw,))
    asked = reply.read(Questions)
    if not asked.inputRequests and asked.requestState is UNSET:
        raise MalformedReply("the server requires input, but asks for nothing", (reply.raw,))
    if len(asked.inputRequests) > limits.questions:
        raise MalformedReply("the server asks too many questions at once", (reply.raw,))
    return asked


async def answers_to(asked: Questions, handlers: Handlers, limits: ClientLimits) -> Params:
    """The members that a retry carries: the answers, and the server's state exactly as it came.

    Raises: NotSupported if no handler answers; RequestTimeout.
    """
    answers: dict[str, Raw] = {}
    for key, question in asked.inputRequests.items():
        try:
            async with asyncio.timeout(limits.answer_seconds):
                found = await answering.answer(handlers, question.method, question.params)
        except AnswerRefused as exc:
            raise NotSupported(f"the server asked for {question.method}: {exc}") from None
        except TimeoutError:
            raise RequestTimeout(question.method, limits.answer_seconds) from None
        answers[key] = Raw(found)
    members: Params = {}
    if answers:
        members["inputResponses"] = Raw(msgspec.json.encode(answers))
    if not isinstance(asked.requestState, UnsetType):
        members["requestState"] = asked.requestState
    return members
