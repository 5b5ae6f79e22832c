"""The script of an agent that looks at the sample chain, and how the outcome is judged."""

from interop.agents import Run, object_in
from interop.agents.model import Call
from interop.calls import ARGUMENTS, BAD_ANSWER, BAD_ARGUMENTS, BAD_TOOL, SAMPLE_HEIGHT

# An object, a list, an error, and an answer that needs no node. `judge` reads them in this order.
NAMED = (
    Call("call_status", "get_node_status", ARGUMENTS["get_node_status"]),
    Call("call_offers", "list_trade_offers", ARGUMENTS["list_trade_offers"]),
    Call("call_error", BAD_TOOL, BAD_ARGUMENTS),
    Call("call_validity", "validate_address", ARGUMENTS["validate_address"]),
)
# And then every other tool.
OTHERS = tuple(
    Call(f"call_{tool}", tool, arguments)
    for tool, arguments in ARGUMENTS.items()
    if tool not in {call.tool for call in NAMED if call.tool != BAD_TOOL}
)
SCRIPT = (*NAMED, *OTHERS)


def judge(run: Run) -> str:
    """A summary, if the model was shown every tool and every answer as the server gave it.

    Raises:
        Failed: otherwise.
    """
    problems = run.problems(ARGUMENTS)
    status, offers, error, validity = (run.output(call) for call in NAMED)
    if object_in(status).get("height") != SAMPLE_HEIGHT:
        problems.append(f"no height {SAMPLE_HEIGHT} in {status!r}")
    listed = object_in(offers).get("offers")
    if not isinstance(listed, list) or not listed or not all(offer.get("tradeAddress") for offer in listed):
        problems.append(f"no offers with a tradeAddress in {offers!r}")
    if BAD_ANSWER not in error:
        problems.append(f"no {BAD_ANSWER!r} in {error!r}")
    if object_in(validity) != {"isValid": True}:
        problems.append(f"no isValid in {validity!r}")
    for call in OTHERS:
        if "asOf" not in object_in(run.output(call)):
            problems.append(f"{call.tool}: {run.output(call)[:300]!r}")
    return run.judged(problems)
