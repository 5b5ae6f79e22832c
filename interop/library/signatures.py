"""The signatures that people write, on this library and on FastMCP: both take the same call, or ours says why not."""

import json
from typing import Any

from interop.processes import bare_environment, finished
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.signatures import SIGNATURES, Signature
from qortal_mcp import Server
from qortal_mcp.client import connect

_SCRIPT = ROOT / "interop" / "library" / "signatures_on_fastmcp.py"
_SECONDS = 120.0


async def run_signatures(programs: Programs) -> str:
    """Each signature works on both, or is refused here with its sentence."""
    env = {**bare_environment(ROOT), "PYTHONPATH": str(ROOT)}
    end = await finished([programs.python_servers, _SCRIPT], seconds=_SECONDS, env=env, cwd=ROOT)
    if end.code != 0:
        raise Failed(f"FastMCP failed\n{end.tail()}")
    theirs = json.loads(end.stdout.splitlines()[-1])
    problems = []
    for signature in SIGNATURES:
        name = signature.function.__name__
        problems += [f"{name}: {each}" for each in await _problems(signature, theirs[name])]
    if problems:
        raise Failed("\n".join(problems))
    refused = [each.function.__name__ for each in SIGNATURES if each.refused]
    return f"{len(SIGNATURES) - len(refused)} signatures work on both; refused here with a sentence: {', '.join(refused)}"


async def _problems(signature: Signature, theirs: dict[str, Any]) -> list[str]:
    problems = []
    ours = await _ours(signature)
    if signature.refused:
        return [] if isinstance(ours, str) and signature.refused in ours else [f"here: {ours}"]
    if ours != signature.answer:
        problems.append(f"here: {ours}, expected {signature.answer}")
    expected = signature.of_fastmcp or signature.answer
    if theirs.get("structured") != expected:
        problems.append(f"on FastMCP: {theirs}, expected {expected}")
    return problems


async def _ours(signature: Signature) -> Any:
    """The structured answer, or the sentence with which the function is refused."""
    try:
        server = Server("signatures", tools=[signature.function])
    except TypeError as exc:
        return str(exc)
    async with connect(server) as client:
        return (await client.call_tool(signature.function.__name__, signature.arguments)).structured
