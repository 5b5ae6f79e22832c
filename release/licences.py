"""The licences of what is installed with the product: each dependency by name, and which licences are accepted.

A new dependency needs a line here, so that somebody has looked. `tests/release/test_licences.py` compares the lines with
what the installed packages say of themselves.
"""

import re

# Licences that allow everybody to use, change and pass on the whole under MIT.
ALLOWED = frozenset({"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "PSF-2.0"})

LICENCES = {
    "aiohappyeyeballs": "PSF-2.0",
    "aiohttp": "Apache-2.0 AND MIT",
    "aiosignal": "Apache-2.0",
    "async-timeout": "Apache-2.0",
    "attrs": "MIT",
    "click": "BSD-3-Clause",
    "colorama": "BSD-3-Clause",
    "frozenlist": "Apache-2.0",
    "h11": "MIT",
    "httptools": "MIT",
    "idna": "BSD-3-Clause",
    "jsonschema-rs": "MIT",
    "msgspec": "BSD-3-Clause",
    "multidict": "Apache-2.0",
    "propcache": "Apache-2.0",
    "typing-extensions": "PSF-2.0",
    "uvicorn": "BSD-3-Clause",
    "uvloop": "Apache-2.0 OR MIT",
    "valkey": "MIT",
    "websockets": "BSD-3-Clause",
    "yarl": "Apache-2.0",
}


class UnknownLicence(Exception):
    """A dependency without a licence in the table, or with one that is not accepted; the text says what to do."""


def licence_of(name: str) -> str:
    """The licence of a dependency, as an SPDX expression.

    Raises: UnknownLicence.
    """
    found = LICENCES.get(name)
    if found is None:
        raise UnknownLicence(f"{name} has no licence in release/licences.py: look it up and add it there")
    for part in re.split(r" AND | OR ", found):
        if part not in ALLOWED:
            raise UnknownLicence(f"{name} is under {part}, which release/licences.py does not accept")
    return found
