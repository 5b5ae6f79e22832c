"""What the probes ask for: things that do not exist."""

from .messages import encoded, modern_params, request

NO_REVISION = "1999-01-01"
NO_METHOD = "qortal-mcp-audit/no-such-method"
NO_NOTIFICATION = "notifications/qortal-mcp-audit-unknown"
NO_TOOL = "qortal_mcp_audit_no_such_tool"
NO_CURSOR = "qortal-mcp-audit-no-such-cursor"
NO_PROMPT = "qortal_mcp_audit_no_such_prompt"
NO_RESOURCE = "qortal-mcp-audit://no-such-resource"
NO_LEVEL = "qortal-mcp-audit-no-such-level"
NO_MEMBER = "qortalMcpAudit"
NO_REQUEST = 987654321
NO_SESSION = "00000000-0000-4000-8000-000000000000"
OTHER_ORIGIN = "https://attacker.example"
# Ids of requests that are sent as they are, far from those that a visitor counts.
RAW_ID = 9001
BARE_ID = 9002
LISTEN_ID = 9003
# Digits, so that a server that makes a number of it can be recognised.
STRING_ID = "77001"

NOT_JSON = b"this is no JSON"
BATCH = encoded([request(RAW_ID, "ping")])
OLD_VERSION = encoded(request(RAW_ID, "tools/list", modern_params({}, NO_REVISION)))
WITHOUT_META = encoded(request(BARE_ID, "tools/list", {}))
