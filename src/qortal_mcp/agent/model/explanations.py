"""Why there is no reply, for a person to read: what happened and the next step. Pure."""

from ...client.wires.reasons import NOT_TLS, REFUSED
from ...text import printable, shortened
from .addresses import is_loopback
from .refusals import EndpointError, PromptTooLong, Refusal, ToolsRefused, sentence

_AT_MOST_MODELS = 8


def refused(refusal: Refusal, name: str, *, has_key: bool, has_tools: bool) -> EndpointError:
    """Any status but 404, which takes another question to explain."""
    status, said = refusal.status, refusal.said.sentence
    if 300 <= status < 400:
        where = shortened(printable(refusal.location), 200) or "nowhere"
        return EndpointError(
            f"{name} redirects to {where}, and redirects are not followed. Use that address if you trust it.",
            status,
        )
    if status == 401 or (status == 403 and not has_key):
        step = "Check OPENAI_API_KEY." if has_key else "Set OPENAI_API_KEY."
        what = "does not accept the key" if has_key else "wants a key"
        return EndpointError(f"{name} {what} ({status}): {said} {step}", status)
    if status == 403:
        return EndpointError(
            f"{name} does not allow this ({status}): {said} Check what the key may do.", status
        )
    if has_tools and refusal.is_about_tools:
        step = "Choose one that does with --model, for example qwen3."
        if "--" in said:
            step = "Start its server with that option, or choose another model."
        return ToolsRefused(f"The model at {name} does not call tools ({status}): {said} {step}", status)
    if refusal.is_too_long:
        return PromptTooLong(f"The prompt is too long for {name} ({status}): {said}", status)
    if refusal.is_about_credit:
        return EndpointError(
            f"The account at {name} has no credit left ({status}): {said} Add some, or use another endpoint.",
            status,
        )
    if refusal.is_busy:
        step = "Try again later."
        if refusal.wait:
            step = f"It asks to wait {refusal.wait:.0f} s."
        return EndpointError(f"{name} {_state(status)} ({status}): {said} {step}", status)
    return EndpointError(
        f"{name} refuses the request ({status}): {said} Another model or endpoint may accept it.", status
    )


def trying_again(status: int) -> str:
    return f"The model's endpoint {_state(status)} ({status})"


def _state(status: int) -> str:
    return "is busy" if status in (429, 503, 529) else "fails"


def not_found(refusal: Refusal, base_url: str, model: str, models: list[str] | None) -> EndpointError:
    """`models`: what the endpoint says it has; None: it does not say."""
    shown = printable(model)
    if models is None:
        has_version = base_url.endswith("/v1")
        step = "Check the base URL." if has_version else "The base URL usually ends with /v1."
        return EndpointError(
            f"There are no chat completions at {printable(base_url)} (404): {refusal.said.sentence} {step}",
            404,
        )
    if model in models:
        return EndpointError(f"{printable(base_url)} refuses the request (404): {refusal.said.sentence}", 404)
    names = ", ".join(shortened(printable(name), 80) for name in models[:_AT_MOST_MODELS])
    more = f" and {len(models) - _AT_MOST_MODELS} more" if len(models) > _AT_MOST_MODELS else ""
    has = f"It has {names}{more}." if models else "It has none: load or download one first."
    return EndpointError(f"There is no model {shown!r} at {printable(base_url)} (404). {has}", 404)


def unreachable(reason: str, base_url: str) -> EndpointError:
    if reason == REFUSED:
        step = "Start the model's server" if is_loopback(base_url) else "Check that it is running"
        step += ", or give another base URL (OPENAI_BASE_URL)."
    elif reason == NOT_TLS:
        step = "Use http:// if the server has no TLS."
    elif reason.startswith("TLS failed"):
        step = "If you trust it, name a file with its certificate: --ca-file FILE."
    elif reason.startswith("host not found"):
        step = "Check the host in the base URL (OPENAI_BASE_URL)."
    else:
        step = "Check the base URL (OPENAI_BASE_URL) and the network."
    return EndpointError(f"{printable(base_url)} cannot be reached: {sentence(reason)} {step}")


def not_a_completion(name: str, what: str) -> EndpointError:
    seen = f": {what}" if what else ""
    return EndpointError(
        sentence(f"{name} did not answer with a chat completion{seen}")
        + " Check the base URL; it usually ends with /v1."
    )
