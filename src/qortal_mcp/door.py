"""What every HTTP application of ours has: who may come in, how often, and the pages for operators."""

from collections.abc import Awaitable, Callable, Mapping

from .metrics import Metrics
from .metrics.page import CONTENT_TYPE
from .settings import RATE_BEYOND_LOOPBACK, TOKEN_VARIABLE, ListenOptions, WrongSetting
from .transports.callers import Callers
from .transports.guard import ClosedGuard, Guard, is_loopback
from .transports.http import Page, Route

# Probes need no token; everything else does.
OPEN_ROUTES = ("/healthz",)


def check_host(host: str, door: ListenOptions, token: str | None) -> None:
    """Refuse to listen beyond loopback without a token, unless that is wanted.

    Raises: WrongSetting.
    """
    if not is_loopback(host) and token is None and not door.without_token:
        raise WrongSetting(
            "Listening beyond loopback needs a token: --token-file FILE or the variable "
            f"{TOKEN_VARIABLE}. --without-token allows it without one."
        )


def guard_of(door: ListenOptions, token: str | None) -> Guard:
    return Guard(hosts=door.allow_host, origins=door.allow_origin, token=token)


def closed_guard_of(door: ListenOptions, token: str | None, why: str) -> Guard:
    """The same, while there is nothing to serve: whoever may come in is told why."""
    return ClosedGuard(why, hosts=door.allow_host, origins=door.allow_origin, token=token)


def callers_of(door: ListenOptions, token: str | None) -> Callers:
    """Raises: WrongSetting."""
    try:
        return Callers(has_token=token is not None, proxies=door.trusted_proxy)
    except ValueError:
        raise WrongSetting("--trusted-proxy must be an address or a network, such as 10.0.0.0/8.") from None


def rate_of(door: ListenOptions, host: str) -> float | None:
    """Calls per second that one caller may make; None: no limit."""
    if door.rate_limit is not None:
        return door.rate_limit or None
    return None if is_loopback(host) else RATE_BEYOND_LOOPBACK


def operator_routes(
    metrics: Metrics, ready: Route, look: Callable[[], Awaitable[None]] | None = None
) -> Mapping[str, Route]:
    """`look` brings up to date what the metrics show."""

    async def numbers() -> Page:
        if look is not None:
            await look()
        return Page(metrics.render().encode(), CONTENT_TYPE)

    return {
        "/healthz": lambda: Page(b'{"status":"ok"}'),
        "/readyz": ready,
        "/metrics": numbers,
    }
