"""The variables of the environment that are read, other than those of options."""

PREFIX = "QORTAL_MCP_"
# The token that clients send. There is no flag for it: other users of a machine can read command lines.
TOKEN_VARIABLE = PREFIX + "TOKEN"
# The same for a server that is not ours: what it is sent must never be our own token.
SERVER_TOKEN_VARIABLE = PREFIX + "SERVER_TOKEN"
# What a shared store wants from us.
CACHE_PASSWORD_VARIABLE = PREFIX + "CACHE_PASSWORD"
# The variables that programs for OpenAI-compatible endpoints have in common.
BASE_URL_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"
MODEL_VARIABLE = "OPENAI_MODEL"
# Read only by the tests, and often set in the same shell.
TEST_VARIABLES = (PREFIX + "LIVE_NODE",)

# Variables of an earlier server, by the start of their names, and what replaces them here.
OLD_VARIABLES = (
    ("QORTAL_BASE_URL", f"use --node or {PREFIX}NODE"),
    ("QORTAL_PUBLIC_NODES", f"use --node or {PREFIX}NODE, once for each node"),
    ("QORTAL_ALLOW_PUBLIC_FALLBACK", f"name every node that may answer with --node or {PREFIX}NODE"),
    ("QORTAL_FALLBACK_", "not needed: a failing node is rested and probed automatically"),
    ("QORTAL_HTTP_TIMEOUT", "not needed: the time for an answer is fixed"),
    ("QORTAL_API_KEY", "not needed: no API key is ever read or sent"),
)
