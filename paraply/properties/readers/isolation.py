"""Isolation on replicas: all reads fit one order of transactions.

Weaker than ``replica_reads``: admits gaps without a cycle, as any checker without the log must.
"""

from __future__ import annotations

from paraply.properties.isolation.breaches import CycleFormed
from paraply.properties.isolation.cycles import CyclePhenomenon, find_cycles
from paraply.properties.isolation.telling import cycle_class
from paraply.properties.isolation.versions import (
    INITIAL,
    NOTHING_WRITTEN,
    Dependency,
    Kind,
    Versions,
)
from paraply.properties.readers.replica_reads import readers_see_prefixes, writers_of
from paraply.properties.registry import always, sometimes
from paraply.properties.vocabularies import reads_of_replicas
from paraply.vocabulary.client_history import ClientHistory, ClientTransaction, DataType, Ending
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item


def versions_on_replicas(history: History) -> Versions:
    """Return the log and the replicas' reads."""
    told = [
        ClientTransaction(number=one.id, ending=Ending.COMMITTED, accesses=(), session=one.session)
        for one in history.transactions
    ]
    index = {one.id: place for place, one in enumerate(history.transactions)}
    reads = list(history.events_of(EventKind.READ))
    told += [
        ClientTransaction(
            number=len(told) + number,
            ending=Ending.COMMITTED,
            accesses=(),
            label=f"read {number} at {event.member}",
        )
        for number, event in enumerate(reads, start=1)
    ]
    versions = Versions(ClientHistory(data_type=DataType.REGISTER, transactions=tuple(told)))
    version_of: dict[tuple[Item, TransactionId], int] = {}
    by_name = sorted(writers_of(history).items(), key=lambda one: str(one[0]))
    for item, writers in by_name:
        version = versions.add(INITIAL, item, NOTHING_WRITTEN, follows=False)
        version_of[item, INITIAL_STATE] = version
        for writer in writers:
            version_of[item, writer] = versions.add(index[writer], item, writer, follows=True)
    for place, event in enumerate(reads, start=len(history.transactions)):
        for item, writer in event.observed:
            if (item, writer) in version_of:
                versions.readers.append(place)
                versions.read.append(version_of[item, writer])
    return versions


@sometimes(of=reads_of_replicas, source="Adya: an anti-dependency")
def reader_misses_a_later_version(history: History) -> bool:
    """A reader saw a row before a transaction of the log that wrote it."""
    return bool(versions_on_replicas(history).kinds() & Kind.RW)


@always(of=reads_of_replicas, source="Adya, G2-item; Elle", witness=reader_misses_a_later_version)
def replica_reads_fit_one_order(history: History) -> tuple[CycleFormed, ...]:
    """All that readers saw on all replicas fits one order of all transactions.

    Prefixes always fit. ``readers_see_prefixes`` also rejects gaps that another order explains.
    """
    if not readers_see_prefixes(history):
        return ()
    versions = versions_on_replicas(history)
    cycles = find_cycles(versions.dependencies(), CyclePhenomenon.G2_ITEM.shape)
    names = [one.name for one in versions.history.transactions]
    return tuple(
        cycle_class(cycle.steps)(
            transactions=tuple(names[step.source] for step in cycle.steps),
            steps=tuple(_clause(step, names, versions) for step in cycle.steps),
        )
        for cycle in cycles
    )


def _clause(step: Dependency, names: list[str], versions: Versions) -> str:
    source, target, item = names[step.source], names[step.target], versions.keys[step.after]
    if step.kind is Kind.WW:
        return f"{source} wrote {item} before {target}"
    if step.kind is Kind.WR:
        return f"{target} saw {item} of {source}"
    return f"{source} did not see {item} of {target}"
