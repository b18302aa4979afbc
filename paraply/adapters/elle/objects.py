"""Jepsen's recordings of sets and counters, as micro-operations.

Both have ``add`` and ``read``: what reads return distinguishes them. A value is ``[key value]`` if
the workload is independent over keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from paraply.adapters.elle.operations import MALFORMED_OPERATION, Operation, OperationType
from paraply.vocabulary.client_history import AccessKind, DataType
from paraply.vocabulary.errors import ParaplyError

ADD, _READ = "add", "read"


def in_micro_operations(operations: Iterable[Operation], name: str) -> list[Operation]:
    """Return additions and reads as transactions of one micro-operation.

    Raises:
        ParaplyError: P512 for another function.
    """
    recorded = list(operations)
    first = next(one for one in recorded if one.function == ADD)
    is_keyed = isinstance(first.value, list | tuple) and len(first.value) == 2
    kept = [(one, *_parts(one, is_keyed=is_keyed, name=name)) for one in recorded]
    is_counter = _is_counter((one, value) for one, _, value in kept)
    write = AccessKind.INCREMENT if is_counter else AccessKind.ADD
    nameless = DataType.COUNTER.value if is_counter else DataType.SET.value
    changed = []
    for one, key, value in kept:
        kind = write if one.function == ADD else AccessKind.READ
        shown = tuple(sorted(value, key=repr)) if isinstance(value, frozenset) else value
        micro = (kind.value, key if is_keyed else nameless, shown)
        changed.append(one._replace(value=(micro,)))
    return changed


def _parts(one: Operation, *, is_keyed: bool, name: str) -> tuple[Any, Any]:
    if one.function not in (ADD, _READ):
        reason = f"'{one.function:.60}' is not {ADD} or {_READ}"
        raise ParaplyError(MALFORMED_OPERATION, where=f"{name}:{one.line}", reason=reason)
    if not is_keyed:
        return "", one.value
    if not isinstance(one.value, list | tuple) or len(one.value) != 2:
        reason = f"its value {one.value!r:.60} is not [key value]"
        raise ParaplyError(MALFORMED_OPERATION, where=f"{name}:{one.line}", reason=reason)
    return one.value[0], one.value[1]


def _is_counter(values: Iterator[tuple[Operation, Any]]) -> bool:
    added = []
    for one, value in values:
        if one.function == _READ and one.type is OperationType.OK and value is not None:
            return isinstance(value, int)
        if one.function == ADD and one.type is OperationType.INVOKE:
            added.append(repr(value))
    # Without a read, only a counter repeats its values.
    return len(set(added)) < len(added)
