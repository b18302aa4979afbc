"""Versions of registers: a read shows one version.

The log defines the order. Without it, each writer of a key must have read the version before, or be
alone; other keys order only the initial version. Ordering a version before its replacement is sound
without G1c, which every level that uses it forbids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paraply.properties.isolation.breaches import (
    AbortedValueRead,
    IntermediateValueRead,
    OwnWriteForeseen,
    OwnWriteMissed,
    ReadChanged,
    UnwrittenValueRead,
    UpdateLost,
)
from paraply.properties.isolation.versions import INITIAL, NOTHING_WRITTEN, Kind, Loose, Versions
from paraply.vocabulary.client_history import REPEATED_WRITE, AccessKind, ClientHistory, Ending, Key
from paraply.vocabulary.errors import ParaplyError

FOLLOWERS_MAX = 32
"""Limit per unordered key; bounds the edges."""


@dataclass(slots=True)
class _Key:
    written: dict[Any, int] = field(default_factory=dict)
    final: dict[int, Any] = field(default_factory=dict)
    reads: list[tuple[int, Any]] = field(default_factory=list)
    """Index and value, before own writes."""


def versions_of_registers(history: ClientHistory) -> Versions:
    """Return the versions of an rw-register history; near-linear.

    Raises:
        ParaplyError: P508 where one value is written twice.
    """
    found = Versions(history)
    keys: dict[Key, _Key] = {}
    for index, transaction in enumerate(history.transactions):
        _take(index, transaction, keys, found)
    places = None
    if history.log is not None:
        places = {number: place for place, number in enumerate(history.log)}
    reads = {key: _sound_reads(key, known, found) for key, known in keys.items()}
    # A transaction of unknown ending committed if a read shows its value.
    happened = {writer for of_key in reads.values() for _, writer in of_key}
    for key, known in keys.items():
        _add_versions(key, known, reads[key], happened, places, found)
    return found


def _take(index: int, transaction: Any, keys: dict[Key, _Key], found: Versions) -> None:
    committed = transaction.ending is Ending.COMMITTED
    own: dict[Key, Any] = {}
    others: dict[Key, Any] = {}
    for kind, key, value in transaction.accesses:
        known = keys.get(key)
        if known is None:
            known = keys[key] = _Key()
        if kind is AccessKind.WRITE:
            if value in known.written:
                first = found.history.transactions[known.written[value]].name
                raise ParaplyError(
                    REPEATED_WRITE, where=transaction.name, value=value, key=key, first=first
                )
            known.written[value] = index
            known.final[index] = own[key] = value
        elif committed and key not in own:
            known.reads.append((index, value))
            if others.setdefault(key, value) != value:
                found.breaches.append(
                    ReadChanged(
                        transaction=transaction.name, key=key, first=others[key], then=value
                    )
                )
        elif committed and value != own[key]:
            found.breaches.append(
                OwnWriteMissed(transaction=transaction.name, key=key, written=own[key], read=value)
            )


def _sound_reads(key: Key, known: _Key, found: Versions) -> list[tuple[int, int]]:
    """Report impossible reads; return the others."""
    transactions = found.history.transactions
    reads = []
    for index, value in known.reads:
        if value is None:
            reads.append((index, INITIAL))
            continue
        writer = known.written.get(value)
        reader = transactions[index].name
        if writer is None:
            found.breaches.append(UnwrittenValueRead(reader=reader, key=key, value=value))
            continue
        name = transactions[writer].name
        if transactions[writer].ending is Ending.ABORTED:
            found.breaches.append(
                AbortedValueRead(reader=reader, key=key, value=value, writer=name)
            )
            continue
        if known.final[writer] != value:
            found.breaches.append(
                IntermediateValueRead(
                    reader=reader, key=key, value=value, writer=name, final=known.final[writer]
                )
            )
        if writer == index:
            found.breaches.append(OwnWriteForeseen(transaction=reader, key=key, read=value))
        else:
            reads.append((index, writer))
    return reads


def _add_versions(
    key: Key,
    known: _Key,
    reads: list[tuple[int, int]],
    happened: set[int],
    places: dict[int, int] | None,
    found: Versions,
) -> None:
    transactions = found.history.transactions
    installed = [
        writer for writer in known.final
        if transactions[writer].ending is Ending.COMMITTED or writer in happened
    ]  # fmt: skip
    if places is not None:
        installed = [writer for writer in known.final if transactions[writer].number in places]
    present = set(installed)
    # A transaction that read one version and installed another orders the two.
    replaced: dict[int, int] = {}
    for index, writer in reads:
        if index in present:
            other = replaced.setdefault(writer, index)
            if other != index and Ending.INDETERMINATE not in (
                transactions[index].ending, transactions[other].ending,
            ):  # fmt: skip
                found.breaches.append(
                    UpdateLost(
                        first=transactions[other].name, second=transactions[index].name, key=key,
                        value=None if writer == INITIAL else known.final[writer],
                    )
                )  # fmt: skip
    order = _full_order(installed, replaced, places, found)
    version_of = {INITIAL: found.add(INITIAL, key, NOTHING_WRITTEN, follows=False)}
    for writer in installed if order is None else order:
        version_of[writer] = found.add(writer, key, known.final[writer], follows=order is not None)
    for index, writer in reads:
        if writer in version_of:
            found.readers.append(index)
            found.read.append(version_of[writer])
    if order is None:
        found.unordered[key] = f"the order of its {len(installed)} versions is not known"
        _add_loose(reads, replaced, installed, version_of, found)


def _full_order(
    installed: list[int],
    replaced: dict[int, int],
    places: dict[int, int] | None,
    found: Versions,
) -> list[int] | None:
    transactions = found.history.transactions
    if places is not None:
        return sorted(installed, key=lambda writer: places[transactions[writer].number])
    if len(installed) < 2:
        return installed
    order: list[int] = []
    at = replaced.get(INITIAL)
    while at is not None and len(order) < len(installed):
        order.append(at)
        at = replaced.get(at)
    return order if at is None and len(order) == len(installed) else None


def _add_loose(
    reads: list[tuple[int, int]],
    replaced: dict[int, int],
    installed: list[int],
    version_of: dict[int, int],
    found: Versions,
) -> None:
    for index, writer in reads:
        before = version_of[writer]
        followers = installed[:FOLLOWERS_MAX] if writer == INITIAL else []
        if writer != INITIAL and writer in replaced:
            followers = [replaced[writer]]
        found.loose += [
            Loose(index, follower, Kind.RW, before, version_of[follower])
            for follower in followers
            if follower != index
        ]
