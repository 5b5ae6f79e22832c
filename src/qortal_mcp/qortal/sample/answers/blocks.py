"""Blocks of the sample chain."""

from bisect import bisect_right
from typing import Any

from ...node.source import RawReply
from ..chain import Chain
from ..core.checks import base58_of, valid_address
from ..core.order import as_stored, by_time
from ..core.parameters import Paging, Parameters, path_integer, path_long
from ..core.replies import Routes, as_json, as_text, core_error, nothing

_SUMMARIES = 50


def block_at(chain: Chain, height: int) -> dict[str, Any]:
    if not 1 <= height <= len(chain["blocks"]):
        raise core_error(301)
    block: dict[str, Any] = chain["blocks"][height - 1]
    return block


def block_of(chain: Chain, signature: str) -> dict[str, Any]:
    base58_of(signature, 101)
    for block in chain["blocks"]:
        if block["signature"] == signature:
            found: dict[str, Any] = block
            return found
    raise core_error(301)


def shown(chain: Chain, parameters: Parameters, block: dict[str, Any]) -> dict[str, Any]:
    return _with_signatures(chain, block) if parameters.flag("includeOnlineSignatures") else block


def _with_signatures(chain: Chain, block: dict[str, Any]) -> dict[str, Any]:
    signatures = chain["onlineAccountsSignatures"].get(str(block["height"]))
    return block if signatures is None else {**block, "onlineAccountsSignatures": signatures}


def by_signature(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    return as_json(shown(chain, parameters, block_of(chain, signature)))


def first_block(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(block_at(chain, 1))


def last_block(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(shown(chain, parameters, chain["blocks"][-1]))


def child(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    height = block_of(chain, signature)["height"]
    if height == len(chain["blocks"]):
        return nothing()
    # Core forgets to leave out the signatures here.
    return as_json(_with_signatures(chain, block_at(chain, height + 1)))


def height(chain: Chain, parameters: Parameters) -> RawReply:
    return as_text(str(len(chain["blocks"])))


def height_of(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    return as_text(str(block_of(chain, signature)["height"]))


def by_height(chain: Chain, parameters: Parameters, height: str) -> RawReply:
    return as_json(shown(chain, parameters, block_at(chain, path_integer("height", height))))


def minting_info(chain: Chain, parameters: Parameters, height: str) -> RawReply:
    found = chain["mintingInfo"].get(str(path_integer("height", height)))
    if found is None:
        raise core_error(301)
    return as_json(found)


def at_time(chain: Chain, parameters: Parameters, timestamp: str) -> RawReply:
    """The newest block at or before that time. Core never returns the first one here."""
    moment = path_long("timestamp", timestamp)
    height = bisect_right(chain["blocks"], moment, key=lambda block: block["timestamp"])
    if height < 2:
        raise core_error(301)
    return as_json(shown(chain, parameters, block_at(chain, height)))


def block_range(chain: Chain, parameters: Parameters, height: str) -> RawReply:
    first, count = path_integer("height", height), parameters.integer("count") or 0
    step = -1 if parameters.flag("reverse") else 1
    rows = []
    for at in range(first, first + step * max(count, 0), step):
        if not 1 <= at <= len(chain["blocks"]):
            break
        rows.append(shown(chain, parameters, block_at(chain, at)))
    return as_json(rows)


def blocks_of_signer(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """Always empty: without a block in the archive Core drops what its database holds."""
    paging = Paging(parameters)
    account = chain["accounts"].get(valid_address(address))
    if account is None or "publicKey" not in account:
        raise core_error(304)
    return as_json(paging.of([]))


def signers(chain: Chain, parameters: Parameters) -> RawReply:
    paging, addresses = Paging(parameters), parameters.texts("address")
    for address in addresses:
        valid_address(address)
    rows = [
        row
        for row in chain["signers"]
        if not addresses or {row["mintingAccount"], row.get("recipientAccount")} & set(addresses)
    ]
    return as_json(paging.of(rows))


def summaries(chain: Chain, parameters: Parameters) -> RawReply:
    start, end, count = (parameters.integer(name) for name in ("start", "end", "count"))
    given = [value for value in (start, end, count) if value is not None]
    if len(given) > 2 or any(value < 1 for value in given):
        raise core_error(125)
    tip = len(chain["blocks"])
    if start is None and end is None:
        start, end = (1, None) if count is None else (tip - count, tip)
    count = _SUMMARIES if count is None else count
    if start is not None and start > 0 and end is not None:
        count = max(end - start, 0)
    if not start and end is not None:
        start = end - count
    assert start is not None, "it was given, or computed from the end"
    rows = []
    for at in range(start, start + count):
        if not 1 <= at <= tip or (end is not None and at >= end):
            break
        rows.append(chain["blockSummaries"][at - 1])
    return as_json(rows)


def transactions(chain: Chain, parameters: Parameters, signature: str) -> RawReply:
    """All of them: Core accepts limit, offset and reverse here, and ignores them."""
    Paging(parameters)
    height = block_of(chain, signature)["height"]
    return as_json(by_time([row for row in as_stored(chain) if row["blockHeight"] == height]))


ROUTES: Routes = {
    "/blocks/signature/{signature}": by_signature,
    "/blocks/signature/{signature}/transactions": transactions,
    "/blocks/first": first_block,
    "/blocks/last": last_block,
    "/blocks/child/{signature}": child,
    "/blocks/height": height,
    "/blocks/height/{signature}": height_of,
    "/blocks/byheight/{height}": by_height,
    "/blocks/byheight/{height}/mintinginfo": minting_info,
    "/blocks/timestamp/{timestamp}": at_time,
    "/blocks/range/{height}": block_range,
    "/blocks/signer/{address}": blocks_of_signer,
    "/blocks/signers": signers,
    "/blocks/summaries": summaries,
}
