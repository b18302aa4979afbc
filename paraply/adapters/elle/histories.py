"""Turn operations into a client history: lists, registers, sets, counters or a bank."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from paraply.adapters.elle.objects import ADD, in_micro_operations
from paraply.adapters.elle.operations import (
    MALFORMED_OPERATION,
    Operation,
    OperationType,
    plain_word,
    read_json,
)
from paraply.vocabulary.client_history import (
    LOG_UNLIKE_HISTORY,
    Access,
    AccessKind,
    ClientHistory,
    ClientTransaction,
    DataType,
    Ending,
    check_log,
)
from paraply.vocabulary.errors import ParaplyError, register

MIXED_WORKLOAD = register(
    "P514",
    "{first} and {second} are in one history",
    "record one workload at a time: list-append, rw-register, long-fork, bank, set or counter",
)

_KINDS = {kind.value: kind for kind in AccessKind}
_ENDINGS = {
    OperationType.OK: Ending.COMMITTED,
    OperationType.FAIL: Ending.ABORTED,
    OperationType.INFO: Ending.INDETERMINATE,
}
_WORKLOAD_OF = {
    AccessKind.APPEND: DataType.LIST,
    AccessKind.WRITE: DataType.REGISTER,
    AccessKind.ADD: DataType.SET,
    AccessKind.INCREMENT: DataType.COUNTER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRead:
    """A read of all accounts."""

    reader: str
    balances: dict[Any, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BankHistory:
    """Reads of all accounts between transfers."""

    reads: tuple[BankRead, ...]
    transfers: int


@dataclass(frozen=True, slots=True)
class _Pair:
    invoked: Operation
    completed: Operation | None
    begin: int
    end: int


def client_history(
    operations: Iterable[Operation], *, name: str = ""
) -> ClientHistory | BankHistory:
    """Return the operations' history.

    Raises:
        ParaplyError: with file and line, P512 for an invalid operation, P514 for mixed workloads.
    """
    operations = list(operations)
    if any(one.function == ADD for one in operations):
        operations = in_micro_operations(operations, name)
    pairs = sorted(_pairs(operations, name), key=lambda pair: pair.begin)
    if any(_is_bank(pair) for pair in pairs):
        return _bank(pairs, name)
    has_times = any(pair.invoked.type is OperationType.INVOKE for pair in pairs)
    transactions = [_transaction(number, pair, name) for number, pair in enumerate(pairs, start=1)]
    data_type = _data_type(transactions, name)
    if data_type in (DataType.LIST, DataType.SET):
        transactions = [_with_lists(one, name) for one in transactions]
    elif data_type is DataType.COUNTER:
        _check_counters(transactions, name)
    elif any(pair.invoked.function in ("read", "write") for pair in pairs):
        transactions = [*_unrecorded_writes(transactions), *transactions]
    return ClientHistory(data_type=data_type, transactions=tuple(transactions), has_times=has_times)


def _pairs(operations: Iterable[Operation], name: str) -> Iterator[_Pair]:
    running: dict[str | None, tuple[Operation, int]] = {}
    place = 0
    for place, operation in enumerate(operations, start=1):
        if operation.type is OperationType.INVOKE:
            if operation.process in running:
                before = running[operation.process][0].line
                _refuse(
                    operation, name,
                    f"process {operation.process} invokes again; what it invoked in line {before} "
                    "has not ended",
                )  # fmt: skip
            running[operation.process] = (operation, place)
        elif operation.process in running:
            invoked, begin = running.pop(operation.process)
            yield _Pair(invoked, operation, begin, place)
        else:
            # A recording of completions alone lacks the start times.
            yield _Pair(operation, operation, place, place)
    for invoked, begin in running.values():
        yield _Pair(invoked, None, begin, place + 1)


def _transaction(number: int, pair: _Pair, name: str) -> ClientTransaction:
    ending = Ending.INDETERMINATE
    told = pair.invoked
    if pair.completed is not None:
        ending = _ENDINGS[pair.completed.type]
        if ending is Ending.COMMITTED:
            told = pair.completed
    accesses = _accesses(told, name)
    if ending is not Ending.COMMITTED:
        # No client received the read values.
        accesses = [one for one in accesses if one.kind is not AccessKind.READ]
    return ClientTransaction(
        number=number, ending=ending, accesses=tuple(accesses),
        session=told.process or "", invoked=pair.begin, completed=pair.end, line=told.line,
        node=told.node,
    )  # fmt: skip


def _accesses(operation: Operation, name: str) -> list[Access]:
    if not isinstance(operation.value, tuple | list):
        _refuse(operation, name, "its value is no vector of micro-operations [f k v]")
    accesses = []
    for micro in operation.value:
        if not isinstance(micro, tuple | list) or len(micro) not in (2, 3):
            _refuse(operation, name, f"{micro!r:.60} is no micro-operation [f k v]")
        function, key = plain_word(micro[0]), _frozen(micro[1])
        value = _frozen(micro[2]) if len(micro) == 3 else None
        kind = _KINDS.get(function) if isinstance(function, str) else None
        if kind is None:
            _refuse(operation, name, f"{micro[0]!r:.60} is not append, w, add, inc or r")
        try:
            hash((key, value))
        except TypeError:
            _refuse(operation, name, f"{micro!r:.60} has a map where a value is due")
        if kind is not AccessKind.READ and value is None:
            _refuse(operation, name, f"{micro!r:.60} writes nothing")
        accesses.append(Access(kind, key, value))
    return accesses


def _frozen(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    frozen = tuple(value)
    try:
        hash(frozen)
    except TypeError:
        return tuple(_frozen(one) for one in value)
    return frozen


def _data_type(transactions: list[ClientTransaction], name: str) -> DataType:
    kinds = {access.kind for one in transactions for access in one.accesses}
    written = [kind for kind in _WORKLOAD_OF if kind in kinds]
    if len(written) > 1:
        first, second, *_ = written
        raise ParaplyError(MIXED_WORKLOAD, where=name, first=first.value, second=second.value)
    if written:
        return _WORKLOAD_OF[written[0]]
    shows_lists = any(
        isinstance(access.value, tuple) for one in transactions for access in one.accesses
    )
    return DataType.LIST if shows_lists else DataType.REGISTER


def _check_counters(transactions: list[ClientTransaction], name: str) -> None:
    for one in transactions:
        for kind, _, value in one.accesses:
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if kind is AccessKind.READ:
                is_fit, reason = value is None or is_number, f"it read {value!r:.60} from a counter"
            else:
                is_fit, reason = (
                    is_number and value > 0,
                    f"it increments a counter by {value!r:.60}",
                )
            if not is_fit:
                raise ParaplyError(MALFORMED_OPERATION, where=f"{name}:{one.line}", reason=reason)


def _with_lists(transaction: ClientTransaction, name: str) -> ClientTransaction:
    for kind, _, value in transaction.accesses:
        if kind is AccessKind.READ and value is not None and not isinstance(value, tuple):
            raise ParaplyError(
                MALFORMED_OPERATION, where=f"{name}:{transaction.line}",
                reason=f"it read {value!r:.60}, which is no list, from keys that are appended to",
            )  # fmt: skip
    return transaction._replace(
        accesses=tuple(
            Access(kind, key, ()) if value is None else Access(kind, key, value)
            for kind, key, value in transaction.accesses
        )
    )


def _unrecorded_writes(transactions: list[ClientTransaction]) -> Iterator[ClientTransaction]:
    """A long-fork recording of reads implies one write per key."""
    written = set()
    read: dict[Any, set[Any]] = {}
    for one in transactions:
        for kind, key, value in one.accesses:
            if kind is not AccessKind.READ:
                written.add(key)
            elif value is not None:
                read.setdefault(key, set()).add(value)
    number = len(transactions)
    for key, values in read.items():
        if key not in written and len(values) == 1:
            number += 1
            yield ClientTransaction(
                number=number, ending=Ending.INDETERMINATE,
                accesses=(Access(AccessKind.WRITE, key, *values),),
                label=f"the unrecorded write of {key}",
            )  # fmt: skip


def _is_bank(pair: _Pair) -> bool:
    told = pair.completed or pair.invoked
    return pair.invoked.function == "transfer" or isinstance(told.value, dict)


def _bank(pairs: list[_Pair], name: str) -> BankHistory:
    reads, transfers = [], 0
    for number, pair in enumerate(pairs, start=1):
        if pair.invoked.function == "transfer":
            transfers += 1
            continue
        told = pair.completed
        if told is None or told.type is not OperationType.OK:
            continue
        if not isinstance(told.value, dict):
            if isinstance(told.value, tuple | list):
                raise ParaplyError(
                    MIXED_WORKLOAD, where=f"{name}:{told.line}", first="transfers",
                    second="micro-operations",
                )  # fmt: skip
            _refuse(told, name, "a read of a bank has a map of accounts and balances")
        for account, balance in told.value.items():
            if isinstance(balance, bool) or not isinstance(balance, int | None):
                _refuse(told, name, f"account {account} has {balance!r:.60}, which is no balance")
        balances = {account: balance or 0 for account, balance in told.value.items()}
        reads.append(BankRead(reader=f"T{number} (line {told.line})", balances=balances))
    return BankHistory(reads=tuple(reads), transfers=transfers)


def with_log(history: ClientHistory, text: str, *, name: str = "") -> ClientHistory:
    """Return the history with the order of the source's log.

    Args:
        text: JSON Lines, a transaction's writes ``[[key, value], ...]`` a line, in commit order;
            one write of a transaction suffices. Of counters, a transaction's number a line.

    Raises:
        ParaplyError: P509 or P513 with file and line.
    """
    writer = {
        (key, value): one.number for one in history.transactions for _, key, value in one.writes
    }
    writers = {one.number for one in history.transactions if one.writes}
    log: list[int] = []
    for line, entry in _json_lines(text, name):
        where = f"{name}:{line}"
        if history.data_type is DataType.COUNTER:
            log.append(_counted(entry, writers, where))
            continue
        writes = _frozen(entry) if isinstance(entry, list) else None
        if not writes or not all(isinstance(one, tuple) and len(one) == 2 for one in writes):
            raise ParaplyError(
                LOG_UNLIKE_HISTORY, where=where,
                reason=f"{json.dumps(entry):.60} is no transaction [[key, value], ...]",
            )  # fmt: skip
        numbers = {writer.get(write) for write in writes}
        if len(numbers) > 1 or None in numbers:
            raise ParaplyError(
                LOG_UNLIKE_HISTORY, where=where,
                reason=f"{json.dumps(entry):.60} are not writes of one transaction of the history",
            )  # fmt: skip
        log += [number for number in numbers if number is not None]
    return check_log(replace(history, log=tuple(log)), where=name)


def _counted(entry: Any, writers: set[int], where: str) -> int:
    if not isinstance(entry, int) or isinstance(entry, bool) or entry not in writers:
        reason = f"{json.dumps(entry):.60} is not the number of a transaction that increments"
        raise ParaplyError(LOG_UNLIKE_HISTORY, where=where, reason=reason)
    return entry


def _json_lines(text: str, name: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line and not line.isspace():
            for _, value in read_json(f"[{line}]", name=f"{name}:{number}"):
                yield number, value


def _refuse(operation: Operation, name: str, reason: str) -> NoReturn:
    raise ParaplyError(MALFORMED_OPERATION, where=f"{name}:{operation.line}", reason=reason)
