"""What several servers share, on one machine or on many."""

from typing import Annotated, ClassVar

from msgspec import Meta

from .option import Options
from .variables import CACHE_PASSWORD_VARIABLE

StoreAddress = Annotated[str, Meta(pattern=r"^[a-z]+://\S+\Z", max_length=500)]


class ShareOptions(Options, frozen=True, kw_only=True):
    """Where servers that answer the same clients keep what they share. It may vanish and return."""

    title: ClassVar[str] = "Sharing"

    cache: Annotated[
        StoreAddress | None,
        Meta(
            description="Address of a Valkey or Redis server through which several servers share answers of nodes and rate limits. Needs the extra `shared`.",
            extra={
                "metavar": "URL",
                "expected": "an address such as redis://127.0.0.1:6379, rediss://HOST/1 or unix:///run/valkey/valkey.sock",
                "refused": {
                    r"^[^:]+://[^/?#]*@": "must not contain a user name or password: other users of a machine can read command lines. "
                    f"Give the password with --cache-password-file FILE or the variable {CACHE_PASSWORD_VARIABLE}"
                },
            },
        ),
    ] = None
    cache_password_file: Annotated[
        str | None,
        Meta(
            description=f"File with the password of that server. The variable {CACHE_PASSWORD_VARIABLE} may hold the password itself.",
            extra={"metavar": "FILE"},
        ),
    ] = None
