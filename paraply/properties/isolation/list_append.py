"""Versions of lists: a read shows all earlier versions in order.

The longest read is a key's order (Kingsbury and Alvaro, "Elle", section 4.2). Unread appends come
last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paraply.properties.isolation.breaches import (
    AbortedValueRead,
    AppendsReordered,
    IntermediateValueRead,
    OrdersContradicted,
    OwnWriteForeseen,
    OwnWriteMissed,
    ReadChanged,
    RepeatedElementRead,
    UnwrittenValueRead,
    UpdateLost,
)
from paraply.properties.isolation.versions import INITIAL, NOTHING_WRITTEN, Kind, Loose, Versions
from paraply.vocabulary.client_history import REPEATED_WRITE, AccessKind, ClientHistory, Ending, Key
from paraply.vocabulary.errors import ParaplyError

UNREAD_MAX = 32
"""Limit per key; bounds the edges."""

List = tuple[Any, ...]


@dataclass(slots=True)
class _Key:
    appended: dict[Any, int] = field(default_factory=dict)
    several: dict[int, List] = field(default_factory=dict)
    longest: List = ()
    longest_reader: int = INITIAL
    shown: list[tuple[int, List]] = field(default_factory=list)
    """Index and list of every read."""
    reads: list[tuple[int, List]] = field(default_factory=list)
    """The same without own appends, if these were seen."""


def versions_of_lists(history: ClientHistory) -> Versions:
    """Return the versions of a list-append history; near-linear.

    Raises:
        ParaplyError: P508 where one element is appended twice.
    """
    found = Versions(history)
    keys: dict[Key, _Key] = {}
    for index, transaction in enumerate(history.transactions):
        _take(index, transaction, keys, found)
    for key, known in keys.items():
        _leave_out_aborted(key, known, found)
    happened = _happened(history, keys)
    for key, known in keys.items():
        _order(key, known, happened, found)
    return found


def _happened(history: ClientHistory, keys: dict[Key, _Key]) -> set[int]:
    """A read value shows that a transaction of unknown ending committed."""
    unknown = {
        index for index, one in enumerate(history.transactions)
        if one.ending is Ending.INDETERMINATE
    }  # fmt: skip
    if not unknown:
        return unknown
    return unknown.intersection(
        known.appended.get(element, INITIAL) for known in keys.values() for element in known.longest
    )


def _take(index: int, transaction: Any, keys: dict[Key, _Key], found: Versions) -> None:
    append, committed = AccessKind.APPEND, transaction.ending is Ending.COMMITTED
    own: dict[Key, List] = {}
    others: dict[Key, List] = {}
    for kind, key, value in transaction.accesses:
        known = keys.get(key)
        if known is None:
            known = keys[key] = _Key()
        if kind is append:
            if value in known.appended:
                first = found.history.transactions[known.appended[value]].name
                raise ParaplyError(
                    REPEATED_WRITE, where=transaction.name, value=value, key=key, first=first
                )
            known.appended[value] = index
            own[key] = (*own[key], value) if key in own else (value,)
        elif committed:
            seen: List = () if value is None else value
            known.shown.append((index, seen))
            if len(seen) > len(known.longest):
                known.longest, known.longest_reader = seen, index
            written = own.get(key, ())
            if seen[len(seen) - len(written) :] != written:
                found.breaches.append(
                    OwnWriteMissed(
                        transaction=transaction.name, key=key, written=written, read=seen
                    )
                )
                continue
            # Other transactions' elements precede its own appends.
            foreign = seen[: len(seen) - len(written)]
            known.reads.append((index, foreign))
            if others.setdefault(key, foreign) != foreign:
                found.breaches.append(
                    ReadChanged(
                        transaction=transaction.name, key=key, first=others[key], then=foreign
                    )
                )
    for key, written in own.items():
        if len(written) > 1:
            keys[key].several[index] = written


def _leave_out_aborted(key: Key, known: _Key, found: Versions) -> None:
    """Report reads of aborted appends, and take these out: they made no version."""
    transactions = found.history.transactions
    aborted = {
        element: transactions[writer].name for element, writer in known.appended.items()
        if transactions[writer].ending is Ending.ABORTED
    }  # fmt: skip
    readers: dict[Any, int] = {}
    for index, seen in known.shown if aborted else ():
        for element in seen:
            if element in aborted:
                readers.setdefault(element, index)
    if not readers:
        return
    found.breaches += [
        AbortedValueRead(
            reader=transactions[reader].name, key=key, value=element, writer=aborted[element]
        )
        for element, reader in readers.items()
    ]
    known.shown, known.reads = (
        [(index, tuple(one for one in seen if one not in aborted)) for index, seen in reads]
        for reads in (known.shown, known.reads)
    )
    known.longest_reader, known.longest = max(known.shown, key=lambda read: len(read[1]))


def _order(key: Key, known: _Key, happened: set[int], found: Versions) -> None:
    transactions = found.history.transactions
    longest, elements = known.longest, set(known.longest)
    usable = []
    for index, seen in known.reads:
        if seen == longest[: len(seen)]:
            usable.append((index, len(seen)))
        else:
            found.breaches.append(
                OrdersContradicted(
                    reader=transactions[index].name, key=key, read=seen,
                    other_reader=transactions[known.longest_reader].name, other_read=longest,
                )
            )  # fmt: skip
    is_one_order = len(usable) == len(known.reads)
    if not is_one_order or not known.appended.keys() >= elements:
        _report_unwritten(key, known, found)
    if len(elements) < len(longest):
        _report_repeated(key, known, found)
        found.unordered[key] = "a read shows an element twice"
        return
    if not is_one_order:
        found.unordered[key] = "reads contradict each other"
        return
    version_at = _add_chain(key, known, found)
    writers = set(known.appended.values())
    _report_losses(key, known, writers, found)
    if known.several:
        _report_reordered(key, known, found)
    for index, count in usable:
        if index in writers and any(known.appended.get(one) == index for one in longest[:count]):
            found.breaches.append(
                OwnWriteForeseen(
                    transaction=transactions[index].name, key=key, read=longest[:count]
                )
            )
        found.readers.append(index)
        found.read.append(version_at[count])
        if count and known.several:
            _report_intermediate(key, known, index, longest[count - 1], found)
    readers = [index for index, count in usable if count == len(longest)]
    _add_unread(key, known, readers, happened, found)


def _add_chain(key: Key, known: _Key, found: Versions) -> list[int]:
    version = found.add(INITIAL, key, NOTHING_WRITTEN, follows=False)
    version_at = [version]
    for element in known.longest:
        writer = known.appended.get(element)
        if writer is None:
            pass  # No version: reported already.
        elif found.writers[version] == writer:
            found.values[version] = element
        else:
            version = found.add(writer, key, element, follows=True)
        version_at.append(version)
    return version_at


def _report_unwritten(key: Key, known: _Key, found: Versions) -> None:
    transactions = found.history.transactions
    seen = dict.fromkeys(known.longest)
    if known.longest_reader != INITIAL:
        for _, read in known.reads:
            if read != known.longest[: len(read)]:
                seen.update(dict.fromkeys(read))
    unwritten = [element for element in seen if element not in known.appended]
    first = _first_readers(known) if unwritten else {}
    for element in unwritten:
        reader = transactions[first.get(element, known.longest_reader)].name
        found.breaches.append(UnwrittenValueRead(reader=reader, key=key, value=element))


def _first_readers(known: _Key) -> dict[Any, int]:
    return {element: index for index, seen in reversed(known.reads) for element in seen}


def _add_unread(
    key: Key, known: _Key, readers: list[int], happened: set[int], found: Versions
) -> None:
    """Their relative order is unknown; ``found.unread`` has a possible one."""
    transactions = found.history.transactions
    shown = set(known.longest) if len(known.appended) > len(known.longest) else ()
    last = len(found.writers) - 1
    unread: dict[int, Any] = {}
    if shown != ():
        for element, writer in known.appended.items():
            if element in shown:
                continue
            if transactions[writer].ending is Ending.COMMITTED or writer in happened:
                unread[writer] = element
    if len(unread) == 1:
        ((writer, element),) = unread.items()
        if found.writers[last] != writer:
            found.add(writer, key, element, follows=True)
        return
    if len(unread) > UNREAD_MAX and readers:
        found.unordered[key] = f"{len(unread)} appends to it were never read"
    previous = None
    by_end = sorted(unread, key=lambda writer: transactions[writer].completed)
    for number, writer in enumerate(by_end):
        version = found.add(writer, key, unread[writer], follows=False)
        if found.writers[last] != INITIAL:
            found.loose.append(Loose(found.writers[last], writer, Kind.WW, last, version))
        if number < UNREAD_MAX:
            found.loose += [Loose(reader, writer, Kind.RW, last, version) for reader in readers]
        if previous is not None:
            found.unread.append(Loose(previous[0], writer, Kind.WW, previous[1], version))
        previous = (writer, version)


def _report_repeated(key: Key, known: _Key, found: Versions) -> None:
    seen: set[Any] = set()
    reader = found.history.transactions[known.longest_reader].name
    for element in known.longest:
        if element in seen:
            found.breaches.append(RepeatedElementRead(reader=reader, key=key, value=element))
        seen.add(element)


def _report_intermediate(key: Key, known: _Key, reader: int, element: Any, found: Versions) -> None:
    transactions = found.history.transactions
    writer = known.appended.get(element, INITIAL)
    written = known.several.get(writer)
    if written and element != written[-1]:
        found.breaches.append(
            IntermediateValueRead(
                reader=transactions[reader].name, key=key, value=element,
                writer=transactions[writer].name, final=written[-1],
            )
        )  # fmt: skip


def _report_reordered(key: Key, known: _Key, found: Versions) -> None:
    transactions = found.history.transactions
    shown: dict[int, int] = {}
    first: dict[Any, int] = {}
    for element in known.longest:
        writer = known.appended.get(element, INITIAL)
        written = known.several.get(writer)
        if written is None:
            continue
        turn = shown.get(writer, 0)
        shown[writer] = turn + 1
        if written[turn] != element:
            first = first or _first_readers(known)
            reader = first.get(element, known.longest_reader)
            found.breaches.append(
                AppendsReordered(
                    reader=transactions[reader].name, key=key, value=element,
                    writer=transactions[writer].name, appended=written,
                )
            )  # fmt: skip


def _report_losses(key: Key, known: _Key, writers: set[int], found: Versions) -> None:
    transactions = found.history.transactions
    first: dict[int, int] = {}
    for index, seen in known.reads:
        # Reads are of committed transactions alone.
        if index in writers:
            other = first.setdefault(len(seen), index)
            if other != index:
                found.breaches.append(
                    UpdateLost(
                        first=transactions[other].name, second=transactions[index].name, key=key,
                        value=seen or None,
                    )
                )  # fmt: skip
