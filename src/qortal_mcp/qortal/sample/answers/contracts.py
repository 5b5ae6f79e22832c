"""Contracts of the sample chain."""

from base64 import b64decode

from ...node.source import RawReply
from ...words.base58 import is_bytes
from ..chain import Chain
from ..core.parameters import Paging, Parameters
from ..core.replies import Routes, as_bytes, as_json, core_error, nothing, page

_MOST_AT_ONCE = 100
_HASH_BYTES = 32


def contract(chain: Chain, parameters: Parameters, ataddress: str) -> RawReply:
    found = chain["contracts"].get(ataddress)
    return nothing() if found is None else as_json(found)


def data(chain: Chain, parameters: Parameters, ataddress: str) -> RawReply:
    found = chain["contractData"].get(ataddress)
    if found is None:
        raise page(500)
    marked, _, encoded = found.partition("base64:")
    return as_bytes(marked.encode() if marked else b64decode(encoded))


def by_function(chain: Chain, parameters: Parameters, codehash: str) -> RawReply:
    executable, paging = parameters.answer("isExecutable"), Paging(parameters)
    if paging.limit is not None and paging.limit > _MOST_AT_ONCE:
        raise core_error(125)
    if not is_bytes(codehash, _HASH_BYTES):
        raise core_error(125)
    rows = [
        row
        for row in chain["contracts"].values()
        if row["codeHash"] == codehash and executable in (None, not row["isFinished"])
    ]
    return as_json(paging.of(sorted(rows, key=lambda row: int(row["creation"]))))


def executables(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["executables"])


ROUTES: Routes = {
    "/at/{ataddress}": contract,
    "/at/{ataddress}/data": data,
    "/at/byfunction/{codehash}": by_function,
    "/at/executables": executables,
}
