"""What the five revisions demand of a server, and where the audit looks at it. Rows of a table; the page is written elsewhere.

`codes` are the checks that see it on the wire. Where there is none, `reason` says why the wire cannot show it, or why an audit
must not try.
"""

from typing import Literal, NamedTuple

Word = Literal["MUST", "SHOULD"]
M: Word = "MUST"
S: Word = "SHOULD"
ALL = "all"
LEGACY = "to 2025-11-25"
MODERN = "2026-07-28"
V0326 = "2025-03-26"
SINCE_03 = "from 2025-03-26"
SINCE_06 = "from 2025-06-18"
SINCE_11 = "from 2025-11-25"


class Requirement(NamedTuple):
    """One thing that is demanded."""

    word: Word
    revisions: str
    text: str
    codes: tuple[str, ...] = ()
    reason: str = ""


R = Requirement
_INSIDE = "it happens inside the server; no message shows it"
_NO_QUESTIONS = (
    "the audit declares no capabilities, so it must not be asked anything and has no answers to send"
)
_NO_LISTEN = "a subscription shows no more until something changes, and an audit must change nothing"
_AUTH = "only an authorization server that the audit has an account with could show it"

REQUIREMENTS: dict[str, tuple[Requirement, ...]] = {
    "Messages": (
        R(M, ALL, "Every message is JSON-RPC 2.0 and says so.", ("rpc-version-missing", "message-version-missing")),
        R(M, ALL, "Messages are JSON in UTF-8.", ("invalid-utf8", "json-nan", "bom", "lone-surrogate", "json-duplicate-member")),
        R(M, ALL, "A reply repeats the id of its request, value and type.", ("rpc-id-missing", "rpc-id-wrong", "rpc-id-type-changed", "refusal-id-invented")),
        R(M, ALL, "A reply has either a result or an error.", ("rpc-result-and-error",)),
        R(M, ALL, "A request is answered once.", ("no-reply", "rpc-duplicate-reply", "server-exit")),
        R(M, ALL, "A result is an object.", ("result-not-object",)),
        R(M, ALL, "An error has a whole number as code and a text as message.", ("rpc-error-malformed",)),
        R(M, ALL, "Parameters are an object.", ("params-null",)),
        R(M, ALL, "The id of a request is a string or a whole number, never null.", ("request-id-invalid", "string-id-refused")),
        R(M, ALL, "A notification is never answered.", ("notification-answered",)),
        R(M, ALL, "Members that a receiver does not know do no harm.", ("unknown-member-refused",)),
        R(M, ALL, "Optional members are left out or have their type; null is not one.", ("optional-null",)),
        R(M, V0326, "A batch is accepted and each of its requests answered.", ("batch-refused",)),
        R(M, V0326, "A batch of notifications gets 202.", (), "batches lived in one revision only; one batch with a request shows whether they are known"),
        R(M, SINCE_06, "There are no batches: one request gets one reply.", ("rpc-batch-reply",)),
    ),
    "Errors": (
        R(M, ALL, "A method that does not exist gets -32601.", ("unknown-method-accepted", "method-error-in-result", "unknown-method-code", "exit-on-unknown-method")),
        R(S, ALL, "A tool that does not exist gets -32602.", ("unknown-tool-accepted", "unknown-tool-in-result", "unknown-tool-code")),
        R(S, ALL, "A call whose parameters are malformed gets -32602.", ("malformed-call-accepted",)),
        R(S, SINCE_11, "Arguments that do not fit the schema of a tool are reported as a failed tool.", (), "an audit sends no wrong arguments to tools of strangers: what they would do with them is not known"),
        R(S, ALL, "A tool that failed says so in its result, with isError and words.", ("tool-failure-as-protocol-error", "error-not-flagged", "error-without-message", "iserror-not-boolean")),
        R(S, ALL, "A prompt that does not exist gets -32602.", ("unknown-prompt-code",)),
        R(S, ALL, "A prompt without a required argument gets -32602.", ("prompt-argument-not-checked",)),
        R(S, LEGACY, "A resource that does not exist gets -32002.", ("unknown-resource-code",)),
        R(M, MODERN, "A resource that does not exist gets -32602, never empty contents.", ("unknown-resource-code",)),
        R(M, MODERN, "Codes from -32099 to -32020 are used only as defined; withdrawn codes are not used.", ("modern-error-reserved",)),
        R(S, MODERN, "Codes of one's own lie outside -32768 to -32000.", (), "a code in that range may come from an older revision or from JSON-RPC; which it is, only the author knows"),
        R(S, SINCE_03, "Completion for something that does not exist gets -32602.", ("completion-reference-code",)),
    ),
    "Handshake": (
        R(M, LEGACY, "initialize is answered with version, capabilities, name and version of the server.", ("initialize-refused", "initialize-member-missing")),
        R(M, LEGACY, "A version that is supported is agreed to; any other is answered with one that is.", ("protocol-version-echoed", "protocol-version-unknown", "protocol-version-forced")),
        R(S, LEGACY, "The version offered instead is the newest.", ("protocol-version-not-newest",)),
        R(S, LEGACY, "Before the handshake is complete a server sends only pings and log messages.", ("notification-before-handshake", "request-before-handshake")),
        R(M, SINCE_06, "Only what was negotiated is used.", ("request-without-capability", "modern-member-on-legacy", "list-changed-unasked")),
        R(M, ALL, "What is offered is declared, and what is declared is offered.", ("capability-not-declared", "capability-not-served", "capability-malformed")),
        R(M, LEGACY, "ping is answered with an empty result.", ("ping-not-answered", "ping-result-not-empty")),
    ),
    "2026-07-28": (
        R(M, MODERN, "Every request is judged alone; nothing is remembered from earlier ones.", ("modern-error-code",)),
        R(M, MODERN, "A request without its _meta gets -32602.", ("modern-error-code",)),
        R(M, MODERN, "A version that is not supported gets -32022, with those that are.", ("modern-error-code", "unsupported-version-data")),
        R(M, MODERN, "A capability that is needed and was not declared gets -32021.", ("input-request-undeclared",)),
        R(M, MODERN, "server/discover is answered with versions and capabilities.", ("discover-malformed", "discover-unanswered", "discover-5xx")),
        R(M, MODERN, "Every result has a resultType.", ("modern-resulttype-missing",)),
        R(S, MODERN, "Every result says in _meta which server gives it.", ("modern-server-info-missing",)),
        R(S, MODERN, "Nothing depends on what clients and servers call themselves.", (), _INSIDE),
        R(M, MODERN, "Methods that were removed get -32601.", ("modern-error-code",)),
        R(M, MODERN, "A server sends no requests.", ("request-on-modern-wire",)),
        R(S, MODERN, "A server of this revision alone names its versions when it refuses initialize.", ("legacy-not-served",)),
        R(M, MODERN, "Lists do not depend on the connection or on earlier requests.", ("list-order-changed",)),
        R(M, MODERN, "State between calls travels as a handle in the arguments.", (), _INSIDE),
        R(M, MODERN, "Lists, reads and discovery say how long and by whom they may be kept.", ("modern-cache-hints-missing",)),
        R(M, MODERN, "All pages of a list have the same cacheScope.", ("cache-scope-differs",)),
        R(M, MODERN, "cacheScope does not take the place of access control.", (), _INSIDE),
        R(M, MODERN, "Only calls, prompts and reads ask for input, and they say what for.", ("input-required-malformed",)),
        R(M, MODERN, "Input is asked for only as the client declared.", ("input-request-undeclared",)),
        R(M, MODERN, "requestState is protected and checked, as it comes back from a stranger.", (), _NO_QUESTIONS),
        R(S, MODERN, "Answers to questions are checked; missing ones are asked for again.", (), _NO_QUESTIONS),
        R(M, MODERN, "A declined or cancelled question is handled.", (), _NO_QUESTIONS),
    ),
    "stdio": (
        R(M, ALL, "One message per line, without line breaks inside.", ("message-multi-line", "message-joined", "lsp-framing", "line-ending-crlf")),
        R(M, ALL, "Standard output carries nothing but messages.", ("stdout-pollution", "blank-line")),
        R(S, ALL, "The server ends when its input ends.", ("exit-after-input",)),
    ),
    "HTTP": (
        R(M, ALL, "Origin is checked on every connection.", ("origin-not-checked",)),
        R(S, ALL, "A local server listens on 127.0.0.1 only.", (), "an audit sees the address it was given, not the others"),
        R(M, SINCE_03, "One address answers POST, and GET with a stream or 405.", ("get-status", "get-hangs", "legacy-sse-transport", "redirect")),
        R(M, SINCE_03, "A notification gets 202 without a body.", ("notification-status", "notification-refused")),
        R(M, SINCE_03, "A request is answered with JSON or with a stream of events.", ("content-type-header", "sse-data-not-json", "sse-event-name", "sse-empty-data-event")),
        R(M, SINCE_03, "A stream carries the reply to its request.", ("sse-no-reply",)),
        R(S, SINCE_03, "A stream ends after its reply.", ("sse-not-closed",)),
        R(S, LEGACY, "A lost connection does not cancel a request.", (), _INSIDE),
        R(M, LEGACY, "Each message goes to one stream only.", (), "an audit has one stream open at a time; on it a message that comes twice is found"),
        R(S, LEGACY, "A valid request is answered with status 200, also with an error.", ("rpc-error-status", "rate-limit-status")),
        R(S, SINCE_06, "A request without the version header is read as 2025-03-26.", ("protocol-header-demanded",)),
        R(M, SINCE_06, "A version header that is not supported gets 400; the agreed one is accepted.", ("version-header-not-checked", "protocol-header-refused")),
        R(M, LEGACY, "A session id has visible ASCII characters only.", ("session-id-characters",)),
        R(S, LEGACY, "A session id is unique and cannot be guessed.", ("session-id-guessable",)),
        R(S, LEGACY, "A request without the session id that is required gets 400.", ("missing-session-status", "session-id-not-issued")),
        R(M, LEGACY, "A session that has ended gets 404.", ("stale-session-status", "session-not-checked", "session-lost")),
        R(M, LEGACY, "A session id does not take the place of authorization.", (), _AUTH),
        R(M, LEGACY, "Event ids are unique in a session.", ("event-id-repeated",)),
        R(M, LEGACY, "Resuming a stream replays messages of that stream only.", (), "it takes a stream that breaks off by itself, which an audit cannot cause"),
        R(S, SINCE_11, "A stream that can be resumed begins with an event id; a wait is announced with retry.", (), "a server that sends no event ids owes none, and which of them it means to send only its author knows"),
        R(M, MODERN, "Headers are missing, or differ from the body: -32020 and 400.", ("modern-error-code", "modern-error-status")),
        R(M, MODERN, "Header values in Base64 are decoded before they are compared.", ("encoded-name-refused",)),
        R(M, MODERN, "Mcp-Param headers that no tool declares are ignored.", ("unknown-header-refused",)),
        R(M, MODERN, "Mcp-Param headers that a tool declares are compared.", (), "an audit sends no wrong arguments to tools of strangers"),
        R(M, MODERN, "x-mcp-header is a valid header name on a plain property.", ("header-annotation-invalid",)),
        R(S, MODERN, "x-mcp-header marks no secrets.", (), "what is secret, only the author knows"),
        R(M, MODERN, "An unknown method gets 404, other refusals 400.", ("modern-error-status",)),
        R(S, MODERN, "GET and DELETE get 405.", ("modern-get-status",)),
        R(S, MODERN, "Session ids of older revisions are ignored.", ("unknown-header-refused",)),
        R(S, MODERN, "Streams tell proxies not to hold them back.", ("sse-buffered",)),
        R(M, MODERN, "A closed stream cancels its request.", (), _INSIDE),
        R(M, "2024-11-05", "HTTP with two addresses: the stream first names the address for POST.", (), "a stream that does not name it is not recognised as one of this transport"),
    ),
    "Other connections": (
        R(M, ALL, "A transport of one's own keeps the messages and the handshake.", ("stdout-pollution", "message-joined", "websocket-binary-frame")),
        R(S, ALL, "Such a transport is documented.", (), "documents are not on the wire"),
    ),
    "Tools": (
        R(M, ALL, "A list of tools is inside its member.", ("tools-list-not-wrapped",)),
        R(M, ALL, "A tool has a name and a schema for its arguments, with an object at the root.", ("tool-malformed", "tool-name-empty", "input-schema-missing", "input-schema-type-missing", "input-schema-root-not-object", "tool-description-not-string", "tool-annotation-not-boolean")),
        R(M, SINCE_11, "Schemas are valid, with references that resolve.", ("schema-malformed", "schema-ref-unresolvable", "schema-boolean-property", "schema-dialect")),
        R(M, SINCE_06, "Until 2025-11-25 an output schema has an object at the root.", ("output-schema-root-not-object",)),
        R(M, SINCE_06, "A result fits the output schema of its tool.", ("structured-content-missing", "structured-content-schema-mismatch", "structured-content-not-object", "error-with-structured-content")),
        R(S, SINCE_06, "Structured content is also there as text.", ("structured-text-differ", "content-empty")),
        R(S, SINCE_11, "Names have 1 to 128 letters, digits, dots, dashes and underscores, and are unique.", ("tool-name-charset", "tool-name-length", "tool-name-duplicate")),
        R(S, MODERN, "Tools are listed in the same order every time.", ("list-order-changed",)),
        R(M, ALL, "A result has content: a list of blocks.", ("content-missing", "content-not-array", "result-bare-payload", "result-nested-toolresult", "content-block-not-object")),
        R(M, ALL, "Blocks are of a type that exists, with the members of that type.", ("content-type-missing", "content-type-unknown", "text-not-string", "image-data-not-base64", "image-mimetype-missing", "resource-link-name-missing", "uri-missing", "uri-not-absolute", "embedded-resource-empty", "annotations-invalid")),
        R(S, SINCE_06, "A server whose tools embed resources declares resources.", ("embedded-without-resources",)),
        R(S, ALL, "list_changed is sent where it was declared.", (), "an audit changes no list, so nothing is to be sent"),
        R(M, ALL, "Inputs are checked, access is controlled, calls are limited, outputs are cleaned.", (), _INSIDE),
        R(M, "2025-11-25", "Without the capability tasks, task parameters are ignored.", (), "an experiment of one revision; to ask for it would start a task where it is known"),
    ),
    "Prompts, resources, completion": (
        R(M, ALL, "Entries of the lists have a name, and an address where they have one.", ("list-item-malformed",)),
        R(M, ALL, "A prompt is a list of messages with a role and one block each.", ("prompt-result-malformed",)),
        R(M, ALL, "Prompts guard against injection.", (), _INSIDE),
        R(M, ALL, "A resource is read as a list of contents with an address and text or bytes.", ("resource-contents-malformed",)),
        R(M, ALL, "Addresses of resources are checked, also for paths that lead elsewhere.", (), "to try it would be an attack on the server's files"),
        R(S, ALL, "Access to resources is checked.", (), _AUTH),
        R(M, LEGACY, "Subscriptions to resources are confirmed with an empty result.", (), _NO_LISTEN),
        R(M, MODERN, "A subscription is acknowledged first, with its id.", ("subscription-not-acknowledged",)),
        R(M, MODERN, "A subscription carries only what was asked for.", (), _NO_LISTEN),
        R(S, MODERN, "A subscription that the server ends is ended with a response.", (), _NO_LISTEN),
        R(M, ALL, "Completion gives at most 100 values.", ("completion-malformed",)),
        R(S, ALL, "Completion is ranked and limited.", (), "what fits best, only the author knows"),
    ),
    "Pages": (
        R(M, ALL, "Cursors lead to an end.", ("pagination-endless", "cursor-empty-string")),
        R(S, ALL, "A cursor that was not given out gets -32602.", ("cursor-not-checked",)),
        R(S, ALL, "Cursors stay good.", (), "for how long, no revision says"),
    ),
    "Logging, progress, cancellation": (
        R(M, ALL, "A server that sends log messages declares logging.", ("log-without-capability",)),
        R(M, ALL, "Log messages have one of eight levels.", ("log-level-invalid",)),
        R(S, LEGACY, "A level that does not exist gets -32602.", ("log-level-not-checked",)),
        R(M, MODERN, "Log messages are sent only for a request that asks for them.", ("modern-log-unasked",)),
        R(M, ALL, "Log messages hold no secrets.", (), "what is secret, only the author knows"),
        R(S, ALL, "Log and progress messages are limited.", (), "where too many begins, no revision says"),
        R(M, ALL, "Progress is sent only for the token of a running request.", ("progress-token-unknown",)),
        R(M, ALL, "Progress increases, and stops when the request is done.", (), "an audit asks for no progress: a server that reports any is found by that"),
        R(S, ALL, "A cancelled request ends without a reply.", (), "it takes a call that is slow for certain; a cancellation of nothing is sent, and must do no harm"),
        R(M, MODERN, "A server cancels nothing but a subscription.", (), _NO_LISTEN),
        R(S, SINCE_03, "Requests of one's own have a time limit.", (), _INSIDE),
    ),
    "Questions to the client": (
        R(M, SINCE_06, "A form asks for no secrets; an address that is opened holds none.", (), _NO_QUESTIONS),
        R(M, SINCE_11, "Who opens an address is verified.", (), _NO_QUESTIONS),
    ),
    "Names and schemas": (
        R(M, SINCE_06, "_meta keys with a reserved prefix are only those that are defined.", (), "which keys an extension defines, an audit cannot know"),
        R(M, SINCE_11, "Schemas of 2020-12 are understood, others refused gracefully.", (), _INSIDE),
        R(M, MODERN, "References of a schema to the network are not followed.", (), _INSIDE),
        R(S, MODERN, "Checking against a schema is limited in depth, size and time.", (), _INSIDE),
    ),
    "Authorization": (
        R(M, SINCE_06, "401 says where the metadata is, or the metadata is at its usual address.", ("auth-challenge-missing", "auth-metadata-missing")),
        R(M, SINCE_03, "Missing, wrong and expired tokens get 401.", (), _AUTH),
        R(S, SINCE_11, "403 for a missing scope says which scope is needed.", (), _AUTH),
        R(M, SINCE_03, "Tokens are checked with every request, for this server, and never passed on.", (), _AUTH),
        R(M, SINCE_03, "Tokens come in the Authorization header only.", (), "an audit puts no token into an address, where logs would keep it"),
        R(S, LEGACY, "Sessions belong to the user who opened them.", (), _AUTH),
        R(S, ALL, "A server on HTTP asks for authorization.", (), "whether it is meant for everybody, only its operator knows"),
    ),
}  # fmt: skip
