"""Replies of tools, right and wrong, and what a model must be given of each. Used alone and through real servers."""

from typing import Any, NamedTuple

from qortal_mcp.agent.tools import results

Json = dict[str, Any]


class Case(NamedTuple):
    """`reply`: members of the message beside jsonrpc and id. `warning`: words of the only warning; empty: there is none."""

    reply: str
    text: str
    ok: bool
    warning: str = ""
    is_modern: bool = False


def _content(*blocks: str, more: str = "") -> str:
    return f'"result":{{"content":[{",".join(blocks)}]{more}}}'


def _text(words: str) -> str:
    return f'{{"type":"text","text":{words}}}'


_X = _text('"x"')
_AB = (_text('"a"'), _text('"b"'))
_ERROR = ',"isError":true'

CASES: dict[str, Case] = {
    "W1-error-first": Case(
        _content(_text('"Invalid Qortal address."'), more=',"structuredContent":{"height":1},"isError":true'),
        "Invalid Qortal address.",
        False,
        "error-with-structured-content",
    ),
    "W2-structured-next": Case(
        _content(_X, more=',"structuredContent":{"height":123},"isError":false'), '{"height":123}', True
    ),
    "W3-text-last": Case(_content(_text('"hello"')), "hello", True),
    "W4-all-texts": Case(_content(*_AB), "a\nb", True),
    "W5-all-texts-of-an-error": Case(_content(*_AB, more=_ERROR), "a\nb", False),
    "W6-error-without-message": Case(_content(more=_ERROR), results.FAILED_SILENTLY, False),
    "W7-nothing": Case(_content(), results.NO_CONTENT, True),
    "W8-image": Case(
        _content('{"type":"image","data":"AAAA","mimeType":"image/png"}'), "[image image/png, 3 bytes]", True
    ),
    "W8-audio": Case(
        _content('{"type":"audio","data":"AAAAAA==","mimeType":"audio/wav"}'),
        "[audio audio/wav, 4 bytes]",
        True,
    ),
    "W8-blob": Case(
        _content('{"type":"resource","resource":{"uri":"x:1","blob":"AA==","mimeType":"application/pdf"}}'),
        "[resource x:1 application/pdf, 1 byte]",
        True,
    ),
    "W8-video": Case(
        _content('{"type":"video","data":"AAAA","mimeType":"video/mp4"}'), "[video video/mp4, 3 bytes]", True
    ),
    "W8b-link-and-resource": Case(
        _content(
            '{"type":"resource_link","uri":"https://example.org/a","name":"a"}',
            '{"type":"resource","resource":{"uri":"x:1","text":"T"}}',
        ),
        "[link a: https://example.org/a]\nT",
        True,
    ),
    "W9-empty-structured": Case(_content(_X, more=',"structuredContent":{}'), "{}", True),
    "W9b-null-structured": Case(
        _content(_X, more=',"structuredContent":null'), "x", True, "structured-content-not-object"
    ),
    "W10-null-flag": Case(_content(_X, more=',"isError":null'), "x", True, "iserror-not-boolean"),
    "W10b-flag-as-word": Case(
        _content(_X, more=',"isError":"false"'),
        'The server\'s reply is not a valid tool result: isError is "false", which is not true or false. It says:\nx',
        False,
        "iserror-not-boolean",
    ),
    "W11-protocol-error": Case(
        '"error":{"code":-32602,"message":"Unknown tool: nope"}', "Unknown tool: nope (-32602)", False
    ),
    "W11-with-data": Case(
        '"error":{"code":-32000,"message":"no","data":{"field":"address"}}',
        'no (-32000)\n{"field":"address"}',
        False,
    ),
    "W11b-error-null": Case(f'{_content(_X)},"error":null', "x", True, "rpc-result-and-error"),
    "W14-bare-value": Case('"result":{"count":1}', '{"count":1}', True, "not an MCP result"),
    "W14b-null": Case('"result":null', results.NO_RESULT, False),
    "W15-object-block": Case(
        _content('{"type":"object","object":{"a":1}}'), '{"a":1}', True, "content-type-unknown"
    ),
    "W15b-error-in-object-block": Case(
        _content('{"type":"object","object":{"error":"Invalid Qortal address."}}'),
        "Invalid Qortal address.",
        False,
        "content-type-unknown",
    ),
    "unknown-block": Case(
        _content('{"type":"chart","x":[1],"y":[2]}'),
        '{"type":"chart","x":[1],"y":[2]}',
        True,
        "content-type-unknown",
    ),
    "W16-structured-list": Case(
        _content(_text('"[1]"'), more=',"structuredContent":[1]'),
        "[1]",
        True,
        "structured-content-not-object",
    ),
    "W16b-wrapped-list": Case(
        _content(_text('"[1]"'), more=',"structuredContent":{"result":[1]}'), '{"result":[1]}', True
    ),
    "W17-content-is-text": Case('"result":{"content":"hi"}', "hi", True, "content-not-array"),
    "W18-json-in-error": Case(_content(_text(r'"{\"error\": \"x\"}"'), more=_ERROR), '{"error": "x"}', False),
    "W20-null-text": Case(_content(_text("null")), results.NO_CONTENT, True, "text-not-string"),
    "W28-modern-number": Case(
        '"result":{"resultType":"complete","content":[{"type":"text","text":"5"}],"structuredContent":5}',
        "5",
        True,
        is_modern=True,
    ),
    "digits-as-they-came": Case(
        _content(_X, more=',"structuredContent":{"a":1.10,"b":123456789012345678901234567890,"c":1E5}'),
        '{"a":1.10,"b":123456789012345678901234567890,"c":1E5}',
        True,
    ),
}
