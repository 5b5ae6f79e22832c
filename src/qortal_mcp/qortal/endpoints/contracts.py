"""Contracts (ATs)."""

from typing import Any

from ..limits import PAGE_ROWS
from ..replies.contracts import Contract, RunningContract, data_segment
from ..words.arguments import Address, CodeHash, Limit, Offset
from .record import FIVE_MINUTES, UNTIL_NEXT_BLOCK, Endpoint, Same, json_of

CONTRACTS_BY_CODE = Endpoint(
    "/at/byfunction/{codehash}",
    json_of(list[Contract]),
    UNTIL_NEXT_BLOCK,
    path={"codehash": CodeHash},
    query={"isExecutable": bool, "limit": Limit, "offset": Offset, "reverse": bool},
    returns="Contracts with the same code, oldest first; running and finished, unless filtered.",
    defaults={"limit": PAGE_ROWS},
)
CONTRACT = Endpoint(
    "/at/{ataddress}",
    json_of(Contract),
    UNTIL_NEXT_BLOCK,
    path={"ataddress": Address},
    returns="One contract.",
    noun="Contract",
)
RUNNING_CONTRACTS = Endpoint(
    "/at/executables",
    json_of(list[RunningContract]),
    FIVE_MINUTES,
    returns="Every contract that can still run, with the name of its template.",
    since="6.1.5",
    same=Same.AT_ONE_BLOCK,
)
CONTRACT_DATA = Endpoint(
    "/at/{ataddress}/data",
    data_segment,
    UNTIL_NEXT_BLOCK,
    path={"ataddress": Address},
    returns="A contract's memory, as bytes.",
    noun="Contract",
)

FAMILY: tuple[Endpoint[Any], ...] = (CONTRACTS_BY_CODE, CONTRACT, RUNNING_CONTRACTS, CONTRACT_DATA)
