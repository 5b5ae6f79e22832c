"""Chat of the sample chain."""

import base64
from typing import Any

from ...node.source import RawReply
from ...words import base58
from ..chain import Chain
from ..core.checks import long_ago, valid_address
from ..core.java import java_hash_order
from ..core.parameters import Paging, Parameters
from ..core.replies import Routes, as_json, as_text, core_error, page

Row = dict[str, Any]

_ENCODINGS = ("BASE58", "BASE64")


def messages(chain: Chain, parameters: Parameters) -> RawReply:
    encoding = _encoding(parameters)
    return as_json([_encoded(row, encoding) for row in _matching(chain, parameters)])


def count(chain: Chain, parameters: Parameters) -> RawReply:
    """Counts what a list would hold, limit and offset included."""
    _encoding(parameters)
    return as_text(str(len(_matching(chain, parameters))))


def message(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    encoding = _encoding(parameters)
    for row in _all(chain):
        if row["signature"] == signature:
            return as_json(_encoded(row, encoding))
    raise core_error(125, "Message not found")


def active(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """The newest message of each chat; silent groups come last."""
    encoding, has_reference = _encoding(parameters), parameters.answer("haschatreference")
    valid_address(address)
    rows = [row for row in _all(chain) if has_reference in (None, "chatReference" in row)]
    return as_json(
        {"groups": _active_groups(chain, rows, address, encoding), "direct": _active_direct(rows, address)}
    )


def _active_groups(chain: Chain, rows: list[Row], address: str, encoding: str) -> list[Row]:
    names = {row["groupId"]: row["groupName"] for row in chain["groupsByMember"].get(address, [])}
    spoken = {row["txGroupId"]: row for row in rows if row["txGroupId"] in names}
    loud = sorted(spoken.values(), key=lambda row: -int(row["timestamp"]))
    silent = [number for number in java_hash_order(names) if number not in spoken]
    shown = [(row["txGroupId"], _encoded(row, encoding)) for row in loud]
    shown += [(number, {"encoding": encoding}) for number in silent]
    members = ("timestamp", "sender", "senderName", "signature", "encoding", "data")
    return [
        {"groupId": number, "groupName": names[number]} | {name: row[name] for name in members if name in row}
        for number, row in shown
    ]


def _active_direct(rows: list[Row], address: str) -> list[Row]:
    newest: dict[str, Row] = {}
    for row in rows:
        ends = (row["sender"], row.get("recipient"))
        if row["txGroupId"] == 0 and address in ends:
            received = row["recipient"] == address
            other, name = ("sender", "senderName") if received else ("recipient", "recipientName")
            newest[row[other]] = {
                "address": row[other],
                "name": row[name],
                **{member: row[member] for member in ("timestamp", "sender", "senderName")},
            }
    return sorted(newest.values(), key=lambda row: -int(row["timestamp"]))


def stats(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(_largest(chain["chatStats"], parameters))


def group_stats(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(_largest(chain["chatGroupStats"], parameters))


def _largest(rows: list[Row], parameters: Parameters) -> list[Row]:
    """Only limit matters here, and it is required."""
    limit = Paging(parameters).limit
    if limit is None:
        raise page(500)
    return rows[:limit] if limit > 0 else rows


def _matching(chain: Chain, parameters: Parameters) -> list[Row]:
    before, after = parameters.long("before"), parameters.long("after")
    group_id, involving = parameters.integer("txGroupId"), parameters.texts("involving")
    has_reference, sender = parameters.answer("haschatreference"), parameters.text("sender")
    paging = Paging(parameters)
    if long_ago(before) or long_ago(after) or bool(involving) == (group_id is not None):
        raise core_error(125)
    if involving and len(involving) != 2:
        raise core_error(125)
    for address in involving:
        valid_address(address)
    rows = [
        row
        for row in _all(chain)
        if (group_id is None or (group_id != 0 and row["txGroupId"] == group_id))
        and all(address in (row["sender"], row.get("recipient")) for address in involving)
        and (before is None or row["timestamp"] < before)
        and (after is None or row["timestamp"] > after)
        and has_reference in (None, "chatReference" in row)
        and (not sender or row["sender"] == sender)
    ]
    for parameter, member in (("reference", "reference"), ("chatreference", "chatReference")):
        rows = _last_with(rows, member, parameters.text(parameter))
    paging.offset = max(paging.offset, 0)
    return paging.of(rows)


def _last_with(rows: list[Row], member: str, reference: str | None) -> list[Row]:
    """Core keeps only the last message for each reference."""
    if not reference:
        return rows
    try:
        base58.decode(reference)
    except ValueError:
        raise page(500) from None
    return [row for row in rows if row.get(member) == reference][-1:]


def _all(chain: Chain) -> list[Row]:
    """Every message once, oldest first."""
    found = {
        row["signature"]: row
        for family in ("chatGroups", "chatDirect")
        for rows in chain[family].values()
        for row in rows
    }
    return sorted(found.values(), key=lambda row: int(row["timestamp"]))


def _encoding(parameters: Parameters) -> str:
    return parameters.choice("encoding", _ENCODINGS) or "BASE58"


def _encoded(row: Row, encoding: str) -> Row:
    if encoding == row["encoding"] or "data" not in row:
        return {**row, "encoding": encoding}
    return {**row, "encoding": encoding, "data": base58.encode(base64.b64decode(row["data"]))}


ROUTES: Routes = {
    "/chat/messages": messages,
    "/chat/messages/count": count,
    "/chat/message/{signature}": message,
    "/chat/active/{address}": active,
    "/chat/stats": stats,
    "/chat/groupstats": group_stats,
}
