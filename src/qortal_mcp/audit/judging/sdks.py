"""Which SDK a server is built with, by how it answers, and the findings that come from it and not from the server's author.

Each entry was seen on the wire with a server that does nothing of its own there; what is not certain is left out.
"""

from collections.abc import Mapping

from msgspec import Struct

from ..evidence import Evidence


class Sdk(Struct, frozen=True, kw_only=True):
    """One generation of an SDK."""

    name: str
    # The version that was looked at.
    seen_in: str
    # What it answers to a step: parts that are all in the bytes.
    answers: tuple[tuple[str, tuple[bytes, ...]], ...]
    # The findings it causes, each with what the author of a server can do.
    codes: Mapping[str, str]


_UPDATE = "report it there, or update it once it is fixed"
_BATCH = {"batch-refused": _UPDATE}
_TOOL = {"unknown-tool-in-result": _UPDATE}
_ORIGIN = {"origin-not-checked": "its protection against foreign pages is off until you switch it on"}
_PYTHON_PARAMS = (b'"code":-32602', b'"message":"Invalid request parameters"', b'"data":""')
_PYTHON_METHOD = (
    b'"code":-32601',
    b'"message":"Method not found"',
    b'"data":"qortal-mcp-audit/no-such-method"',
)

# The first that fits is taken, so what is built on another SDK stands before it.
SDKS = (
    Sdk(
        name="FastMCP 4.x",
        seen_in="4.1.2",
        answers=(
            ("unknown-method", _PYTHON_METHOD),
            ("unknown-tool", (b"\"Unknown tool: '", b'"isError":true')),
        ),
        codes={**_BATCH, **_TOOL, **_ORIGIN},
    ),
    Sdk(
        name="the official Python SDK 2.x",
        seen_in="2.3.0",
        answers=(("unknown-method", _PYTHON_METHOD), ("call-without-name", _PYTHON_PARAMS)),
        codes={**_BATCH, **_TOOL},
    ),
    Sdk(
        name="the official Python SDK 1.x",
        seen_in="1.30.0",
        answers=(("unknown-method", _PYTHON_PARAMS),),
        codes={
            **_BATCH,
            **_TOOL,
            "unknown-method-code": _UPDATE,
            "refusal-id-invented": _UPDATE,
            "log-without-capability": _UPDATE,
        },
    ),
    Sdk(
        name="the official TypeScript SDK 2.x",
        seen_in="2.4.0",
        answers=(("call-without-name", (b'"code":-32602', b'"Invalid tools/call request: [')),),
        codes={**_BATCH, "modern-error-code": _UPDATE},
    ),
    Sdk(
        name="the official TypeScript SDK 1.x",
        seen_in="1.32.2",
        answers=(("call-without-name", (b'"code":-32603', rb"\"invalid_type\"", rb"\"params\"")),),
        codes={
            **_BATCH,
            **_TOOL,
            **_ORIGIN,
            "schema-dialect": "it writes the schemas of zod as draft-07",
            "log-level-not-checked": _UPDATE,
        },
    ),
)


def sdk_of(evidence: Evidence) -> Sdk | None:
    """The SDK that answers as this server does; None where that is not certain."""
    heard: dict[str, list[bytes]] = {}
    for visit in evidence.visits:
        for step in visit.steps:
            heard.setdefault(step.name, []).append(b"".join(one.data for one in step.heard))
    return next((sdk for sdk in SDKS if _fits(sdk, heard)), None)


def _fits(sdk: Sdk, heard: Mapping[str, list[bytes]]) -> bool:
    return all(
        any(all(part in data for part in parts) for data in heard.get(step, ()))
        for step, parts in sdk.answers
    )


# Parts of the place or the evidence of a finding, where its author may have caused the same in another way.
_ONLY_WITH = {
    "modern-error-code": ("modern-old-version",),
    "log-without-capability": ("mcp.server.exception_handler",),
    "unknown-tool-in-result": ("Unknown tool: ", "MCP error -32602: Tool "),
}


def cause(sdk: Sdk | None, code: str, where: str, evidence: str) -> str:
    """Where a finding comes from, in words; empty where that is the server itself, or not known."""
    if sdk is None or code not in sdk.codes:
        return ""
    wanted = _ONLY_WITH.get(code, ())
    if wanted and not any(words in where or words in evidence for words in wanted):
        return ""
    return f"this comes from {sdk.name} (seen in {sdk.seen_in}), not from your own code: {sdk.codes[code]}"
