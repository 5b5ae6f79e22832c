"""Which model is asked, with which tools, and how much a question may use."""

from typing import Annotated, ClassVar

from msgspec import Meta

from ..agent.limits import DEFAULT
from .bridging import LongSeconds
from .option import Options
from .variables import KEY_VARIABLE

ModelAddress = Annotated[str, Meta(pattern=r"^https?://[^\s/]+\S*\Z", max_length=500)]
ServerTarget = Annotated[str, Meta(min_length=1, max_length=8192)]
ModelName = Annotated[str, Meta(min_length=1, max_length=300)]


class ModelOptions(Options, frozen=True, kw_only=True):
    """Which language model is asked."""

    title: ClassVar[str] = "Model"

    base_url: Annotated[
        ModelAddress | None,
        Meta(
            description="Address of an OpenAI-compatible endpoint. OPENAI_BASE_URL counts too; without either, an Ollama, LM Studio, llama.cpp or vLLM on this machine is used.",
            extra={
                "metavar": "URL",
                "expected": "an address that starts with http:// or https://",
                "refused": {
                    r"^[^:]+://[^/?#]*@": f"must not contain a user name or password: use {KEY_VARIABLE} or --key-file"
                },
            },
        ),
    ] = None
    model: Annotated[
        ModelName | None,
        Meta(
            description="Name of the model. OPENAI_MODEL counts too; without either, the first one that the endpoint has.",
            extra={"metavar": "NAME", "expected": "the name of a model"},
        ),
    ] = None
    key_file: Annotated[
        str | None,
        Meta(
            description=f"File with the key for the endpoint. The variable {KEY_VARIABLE} may hold the key itself.",
            extra={"metavar": "FILE"},
        ),
    ] = None


class AskOptions(Options, frozen=True, kw_only=True):
    """Whose tools a question may use."""

    title: ClassVar[str] = "Question"

    server: Annotated[
        tuple[ServerTarget, ...],
        Meta(
            description="An MCP server whose tools may be called, instead of Qortal's: an address, or a command in quotes. With --node or --sample, besides Qortal's.",
            extra={"metavar": "TARGET", "expected": "an address, or a command in quotes"},
        ),
    ] = ()
    read_only: Annotated[bool, Meta(description="Offer only tools that declare themselves read-only.")] = (
        False
    )


class QuestionOptions(Options, frozen=True, kw_only=True):
    """How much a question may use."""

    title: ClassVar[str] = "Question"

    max_rounds: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        Meta(
            description="How many times the model may ask for tools before it has to answer.",
            extra={"metavar": "NUMBER", "expected": "a number from 1 to 1000"},
        ),
    ] = DEFAULT.rounds
    max_tokens: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="How many tokens one question may use, prompts and answers of all rounds together.",
            extra={"metavar": "NUMBER", "expected": "a number, 1 or more", "default": "no limit"},
        ),
    ] = DEFAULT.tokens
    max_time: Annotated[
        LongSeconds,
        Meta(
            description="How long one question may take.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds from 0.1 to 86400"},
        ),
    ] = DEFAULT.question_seconds
