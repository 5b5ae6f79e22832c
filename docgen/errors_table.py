"""The table of error codes: what a failed tool says in `_meta["qortal-mcp/error"]`. A test compares it with the code."""

from .markdown import code, table

CODES = {
    "INVALID_ARGUMENT": ("An argument is missing, unknown, or not what the tool takes.", "no"),
    "NOT_FOUND": ("The node says that there is no such thing.", "no"),
    "NODE_UNREACHABLE": ("No node can be reached.", "yes"),
    "NODE_TIMEOUT": ("The node did not answer in time.", "yes"),
    "NODE_SYNCING": ("The node is still synchronizing.", "yes"),
    "NODE_REFUSED": ("The node does not answer this machine.", "no"),
    "NODE_ERROR": (
        "The node answered with an error of its own, or with something else than was asked for.",
        "it says",
    ),
    "NOT_SUPPORTED": ("This node's version does not have it, or has it switched off.", "no"),
    "TOO_LARGE": ("One record alone, or the work for it, is more than a call may take.", "no"),
    "RATE_LIMITED": ("Too many calls.", "yes"),
    "REFUSED": ("Never given: private data, or an argument that looks like a secret.", "no"),
    "TIMEOUT": ("The tool took too long.", "yes"),
    "INTERNAL": ("A fault of this server; its log has the details.", "no"),
}


def errors_table() -> str:
    return table(["code", "when", "retryable"], [(code(name), *row) for name, row in CODES.items()])
