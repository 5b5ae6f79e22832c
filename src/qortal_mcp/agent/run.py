"""A question and everything that came of it: what `--json` prints, what is saved and shown again."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ..tokens import estimate
from .model.messages import Completion

# Why a run ended. Everything but `answer` leaves the question open.
Ending = Literal[
    "endpoint",
    "no-calls",
    "answer",
    "rounds",
    "tokens",
    "time",
    "repetition",
    "no-answer",
    "no-tools",
    "cut-off",
]

ClaimKind = Literal["number", "address", "signature", "name", "time"]


class Call(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a tool. `text` is what the model got, without the lines around it."""

    tool: str
    # As the model wrote them: an object, or a text that is not valid.
    arguments: Any
    ok: bool
    text: str
    server: str = ""
    round: int = 0
    ms: float = 0.0
    # Of the whole result, and what the model's part of it weighs.
    bytes: int = 0
    tokens: int = 0
    # What was odd about the result.
    warnings: tuple[str, ...] = ()
    # The model wrote the call as text instead of making it.
    written: bool = False
    # The same call was made before: its result was given again.
    repeated: bool = False


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Where an answer's facts come from: a call that succeeded."""

    tool: str
    server: str
    # Of the call, in ISO 8601.
    time: str
    # Of the data, if the tool says so.
    node: str = ""
    height: int | None = None
    as_of: str = ""
    is_synchronizing: bool = False


class Claim(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Something in an answer that can be looked up: where it stands, and whether the question has it too."""

    text: str
    kind: ClaimKind
    start: int
    end: int
    in_question: bool = False


class TracedClaim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim that the results have, and the first calls whose result has it, as indices into `Run.calls`.

    There is none if only results of earlier questions have it, or only several results together.
    """

    text: str
    kind: ClaimKind
    start: int
    end: int
    calls: tuple[int, ...] = ()


class Grounding(Struct, frozen=True, kw_only=True, rename="camel"):
    """How much of an answer was looked up in the results, what of it they have, and what occurs in none of them."""

    checked: int = 0
    # There is more than is looked up: only what stands first was.
    is_partial: bool = False
    from_calls: tuple[TracedClaim, ...] = ()
    not_from_a_tool: tuple[Claim, ...] = ()


class ServerSeen(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server of a run, and why it could not be used, if it could not."""

    name: str
    tools: int = 0
    problem: str = ""


class Spent(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a run took. Tokens are estimated if the endpoint does not count them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_estimated: bool = False
    rounds: int = 0
    ms: float = 0.0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def more(self, completion: Completion, sent: int) -> "Spent":
        """After one more reply, for which about so many tokens were sent."""
        usage = completion.usage
        return replace(
            self,
            prompt_tokens=self.prompt_tokens + (usage.prompt_tokens if usage else sent),
            completion_tokens=self.completion_tokens
            + (usage.completion_tokens if usage else estimate(completion.text)),
            is_estimated=self.is_estimated or usage is None,
        )


class Run(Struct, frozen=True, kw_only=True):
    """One question, answered or not."""

    question: str
    answer: str
    calls: tuple[Call, ...] = ()
    sources: tuple[Source, ...] = ()
    grounding: Grounding = Grounding()
    # What a person should know about this run, and why there is no answer if there is none.
    notices: tuple[str, ...] = ()
    problem: str = ""
    ended: Ending = "answer"
    model: str = ""
    endpoint: str = ""
    servers: tuple[ServerSeen, ...] = ()
    spent: Spent = Spent()

    @property
    def is_complete(self) -> bool:
        return self.ended == "answer"
