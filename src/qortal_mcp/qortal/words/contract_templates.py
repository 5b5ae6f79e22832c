"""Contracts whose code is known: trades of QORT for foreign coins, by the hash of their code."""

from collections.abc import Mapping

# Template -> hash of its code. Core's list of running contracts names a few more.
TEMPLATES: Mapping[str, str] = {
    "BitcoinACCTv1": "HguarSAPb9QY2qKgvMss2FpXjipec1TMLeww6mUC3mqS",
    "BitcoinACCTv3": "7xmoVpA6aR7cm7E9XZXAz3BRMQufdkTiku5CGxouFjcT",
    "LitecoinACCTv1": "24FyCoPEfuzM8JYT6zfmxZpE4zTafE7ig4mdkjNkhhzS",
    "LitecoinACCTv3": "4KdJETRAdymE7dodDmJbf5d9L1bp4g5Nxky8m47TBkvA",
    "DogecoinACCTv1": "zQSJPJmmxnNVxiZp5joWHfJpvXATS3GFKWP7FoSMDqe",
    "DogecoinACCTv3": "FTe4QDjNre2vRrGJQLKgfNdVYahvbd8CnVdhir9Zk7D",
    "DigibyteACCTv3": "GXPEHes39dxiasWDSAZXyhGjaT44LKvZ7cJnHYgBYtng",
    "RavencoinACCTv3": "Amtrk89znaGrHqsRqtEhEKQZzKfbWAHdetB5SSN8cYL6",
    "PirateChainACCTv3": "HyKCg5oiwMKkRrZKk1e5gET27kfrEVUwCNXGQALXqg9x",
}

_NAMES = {code_hash: name for name, code_hash in TEMPLATES.items()}
_HASHES = {name.lower(): code_hash for name, code_hash in TEMPLATES.items()}


def template_name(code_hash: str) -> str | None:
    return _NAMES.get(code_hash)


def template_hash(name: str) -> str | None:
    """By name in any case."""
    return _HASHES.get(name.strip().lower())
