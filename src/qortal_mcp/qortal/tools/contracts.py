"""Contracts (ATs): programs on the chain, such as trades of QORT for foreign coins."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...server.tool_errors import invalid_argument
from ..endpoints.addresses import BALANCE
from ..endpoints.assets import ASSET
from ..endpoints.contracts import CONTRACT, CONTRACT_DATA, CONTRACTS_BY_CODE, RUNNING_CONTRACTS
from ..limits import CONTRACT_DATA_BYTES, PAGE_ROWS
from ..node.failures import NodeFailure
from ..node.node import Node, Reading
from ..node.side_by_side import side_by_side
from ..replies.contracts import Contract, ContractState, RunningContract
from ..words.arguments import Address, Limit, Offset, Reverse
from ..words.base58 import NoRipemd, address_of, is_bytes
from ..words.contract_templates import TEMPLATES, template_hash, template_name
from ..words.times import IsoTime, Milliseconds, iso
from .answers import Amount, Answer, ListAnswer, fitting, page_of
from .read_only import tool

QORT = "QORT"
_HASH_BYTES = 32
# What Core writes if it does not know a contract's code.
_UNNAMED = "-"


class State(Struct, omit_defaults=True):
    """Besides isRunning, only what is true is included."""

    isRunning: bool
    isSleeping: bool = False
    isFrozen: bool = False
    hadFatalError: bool = False
    sleepUntilHeight: int | UnsetType = UNSET
    frozenBalance: Annotated[str, Meta(description="In the unit of its balance, exact.")] | UnsetType = UNSET


def _state(row: ContractState) -> State:
    return State(
        not row.isFinished,
        row.isSleeping,
        row.isFrozen,
        row.hadFatalError,
        frozenBalance=UNSET if row.frozenBalance is None else row.frozenBalance,
    )


def _creator(public_key: str) -> str | None:
    try:
        return address_of(public_key)
    except (ValueError, NoRipemd):
        return None  # a broken node, or a Python that cannot compute it


class OneContract(Struct, frozen=True, forbid_unknown_fields=True):
    address: Annotated[Address, Meta(description="Contract address (A…).")]
    include_data: Annotated[bool, Meta(description="Also give its memory.")] = False


class ContractAnswer(Answer):
    address: str
    template: Annotated[str | None, Meta(description="Name of its code, if known.")]
    codeHash: str
    creator: str | None
    creatorPublicKey: str
    timestamp: Milliseconds
    time: IsoTime
    version: int
    assetId: int
    balance: Amount
    unit: str
    state: State
    dataBytes: Annotated[int | UnsetType, Meta(description="Size of its memory.")] = UNSET
    dataBase64: str | UnsetType = UNSET


@tool("Contract")
async def get_contract(args: OneContract, node: Node) -> ContractAnswer:
    """One contract (AT): the name of its code, creator, balance and whether it still runs. For cross-chain trades
    get_trade returns more."""
    reading = node.reading()
    row = await reading.get(CONTRACT, ataddress=args.address)
    balance, unit, data = await side_by_side(
        reading.get(BALANCE, address=args.address, assetId=row.assetId),
        _unit(reading, row.assetId),
        _nothing() if not args.include_data else reading.get(CONTRACT_DATA, ataddress=args.address),
    )
    state = _state(row)
    state.sleepUntilHeight = UNSET if row.sleepUntilHeight is None else row.sleepUntilHeight
    notes = []
    if data is not None and data.size > CONTRACT_DATA_BYTES:
        notes.append(f"dataBase64 has the first {CONTRACT_DATA_BYTES} of {data.size} bytes.")
    return ContractAnswer(
        address=row.ATAddress,
        template=template_name(row.codeHash),
        codeHash=row.codeHash,
        creator=_creator(row.creatorPublicKey),
        creatorPublicKey=row.creatorPublicKey,
        timestamp=row.creation,
        time=iso(row.creation),
        version=row.version,
        assetId=row.assetId,
        balance=balance,
        unit=unit,
        state=state,
        dataBytes=UNSET if data is None else data.size,
        dataBase64=UNSET if data is None else data.base64,
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _unit(reading: Reading, asset_id: int) -> str:
    return (await reading.get(ASSET, assetId=asset_id)).name if asset_id else QORT


async def _nothing() -> None:
    return None


class ContractList(Struct, frozen=True, forbid_unknown_fields=True):
    template: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=60,
                description="Name of the code, such as LitecoinACCTv3, or its hash.",
                extra={"key": True},
            ),
        ]
        | UnsetType
    ) = UNSET
    running: Annotated[bool, Meta(description="Only running, or only finished ones.")] | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class Listed(Struct):
    address: str
    template: str | None
    codeHash: str
    creator: str | None
    timestamp: Milliseconds
    time: IsoTime
    state: State


class Contracts(ListAnswer):
    contracts: list[Listed]


@tool("Contracts")
async def list_contracts(args: ContractList, node: Node) -> Contracts:
    """Contracts (ATs) of one template, newest first; without a template, all that still run."""
    reading = node.reading()
    notes = []
    if args.template is UNSET:
        if args.running is False:
            raise invalid_argument("Invalid template.", "Finished contracts can only be listed by template.")
        if args.running is UNSET:
            notes.append("Only contracts that still run are listed; give a template for finished ones.")
        listed, more = await _running(reading, args)
    else:
        listed, more = await _of_template(reading, args, await _code_hash(reading, args.template))
    return Contracts(
        listed,
        page=page_of(args, args.offset, len(listed), more),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _running(reading: Reading, args: ContractList) -> tuple[list[Listed], bool]:
    """Core returns all of them at once."""
    rows = sorted(
        await reading.get(RUNNING_CONTRACTS),
        key=lambda row: (row.creation, row.ATAddress),
        reverse=args.reverse,
    )
    listed = fitting([_listed_running(row) for row in rows[args.offset : args.offset + args.limit]])
    return listed, args.offset + len(listed) < len(rows)


async def _of_template(reading: Reading, args: ContractList, code_hash: str) -> tuple[list[Listed], bool]:
    rows = await reading.get(
        CONTRACTS_BY_CODE,
        codehash=code_hash,
        isExecutable=args.running,
        limit=args.limit,
        offset=args.offset,
        reverse=args.reverse,
    )
    listed = fitting([_listed(row) for row in rows[: args.limit]])
    # Core does not say whether more follow, so a full page is followed by one that may be empty.
    return listed, len(rows) >= args.limit or len(listed) < len(rows)


async def _code_hash(reading: Reading, template: str) -> str:
    """Raises: ToolError for a name that neither this server nor the node knows."""
    known = template_hash(template)
    if known is not None:
        return known
    if is_bytes(template, _HASH_BYTES):
        return template
    for row in await reading.get(RUNNING_CONTRACTS):
        if row.atName not in (None, _UNNAMED) and str(row.atName).lower() == template.strip().lower():
            return row.codeHash58
    raise NodeFailure("NOT_FOUND", "Template not found.", f"Known templates: {', '.join(TEMPLATES)}.")


def _listed(row: Contract) -> Listed:
    return _row(row, row.codeHash, template_name(row.codeHash))


def _listed_running(row: RunningContract) -> Listed:
    named = None if row.atName == _UNNAMED else row.atName
    return _row(row, row.codeHash58, named or template_name(row.codeHash58))


def _row(row: ContractState, code_hash: str, template: str | None) -> Listed:
    return Listed(
        row.ATAddress,
        template,
        code_hash,
        _creator(row.creatorPublicKey),
        row.creation,
        iso(row.creation),
        _state(row),
    )
