#!/bin/sh
# The checks by hand that the audits of the earlier server asked for, as commands: object, list, error, handshake.
# Usage: curl_checks.sh http://127.0.0.1:8000/mcp
set -eu
U=$1
rpc() { curl -sS -X POST "$U" -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d "$1"; }
call() { rpc "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":$2}}"; }
INIT='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}'
ALICE=QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v
expect() { # what it shows, the reply, the text it must contain
  case $2 in *"$3"*) echo "ok   $1" ;; *) echo "FAIL $1: $2" >&2; exit 1 ;; esac
}
status() { # what it shows, the expected status, curl arguments
  name=$1 wanted=$2
  shift 2
  got=$(curl -sS -o /dev/null -w '%{http_code}' "$@")
  [ "$got" = "$wanted" ] && echo "ok   $name" || { echo "FAIL $name: $got" >&2; exit 1; }
}
expect "initialize answers the version asked for" "$(rpc "$INIT")" '"protocolVersion":"2025-03-26"'
expect "initialize names the server" "$(rpc "$INIT")" '"name":"qortal-mcp-server"'
status "initialized gets 202" 202 -X POST "$U" -H 'content-type: application/json' -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
expect "tools/list lists tools" "$(rpc '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')" '"tools":['
expect "list_tools does too" "$(rpc '{"jsonrpc":"2.0","id":1,"method":"list_tools"}')" '"tools":['
expect "an object" "$(call validate_address "{\"address\":\"$ALICE\"}")" '"structuredContent":{"isValid":true},"isError":false'
expect "the old form" "$(rpc "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"call_tool\",\"params\":{\"tool\":\"validate_address\",\"params\":{\"address\":\"bad\"}}}")" '"isValid":false'
expect "a list under its noun" "$(call list_trade_offers '{"limit":2}')" '"structuredContent":{"offers":['
expect "an error is marked" "$(call get_balance '{"address":"12345"}')" '"text":"Invalid Qortal address."}],"isError":true'
expect "an unknown tool" "$(call nope '{}')" '"error":{"code":-32602'
expect "an unknown method" "$(rpc '{"jsonrpc":"2.0","id":1,"method":"foo/bar"}')" '"error":{"code":-32601'
expect "not JSON" "$(rpc '{bad')" '"error":{"code":-32700'
expect "a missing member" "$(rpc '{"id":1,"method":"tools/list"}')" '"error":{"code":-32600'
status "a foreign origin" 403 -X POST "$U" -H 'content-type: application/json' -H 'Origin: https://evil.example' -d "$INIT"
status "no OAuth here" 404 "${U%/mcp}/.well-known/oauth-authorization-server"
