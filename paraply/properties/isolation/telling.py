"""Cycles in words, one clause per step."""

from __future__ import annotations

from collections.abc import Sequence

from paraply.properties.isolation.breaches import (
    CycleFormed,
    ForkObserved,
    InformationCycleFormed,
    ReadSkewed,
    WriteCycleFormed,
    WriteSkewed,
    shown,
)
from paraply.properties.isolation.cycles import Cycle, CyclePhenomenon, kind_of_cycle
from paraply.properties.isolation.versions import INITIAL, Dependency, Kind, Versions
from paraply.vocabulary.client_history import DataType

_BREACHES: dict[CyclePhenomenon, type[CycleFormed]] = {
    CyclePhenomenon.G0: WriteCycleFormed,
    CyclePhenomenon.G1C: InformationCycleFormed,
    CyclePhenomenon.G_SINGLE: ReadSkewed,
    CyclePhenomenon.G_NONADJACENT: ForkObserved,
    CyclePhenomenon.G2_ITEM: WriteSkewed,
}


def breach_of(cycle: Cycle, versions: Versions) -> CycleFormed:
    """Return the cycle as a breach."""
    transactions = versions.history.transactions
    first = min(range(len(cycle.steps)), key=lambda place: cycle.steps[place].source)
    steps = cycle.steps[first:] + cycle.steps[:first]
    return cycle_class(steps)(
        transactions=tuple(transactions[step.source].name for step in steps),
        steps=tuple(clause(step, versions) for step in steps),
        is_shortest=cycle.is_shortest,
    )


def cycle_class(steps: Sequence[Dependency]) -> type[CycleFormed]:
    """Return a cycle's most specific breach class."""
    return _BREACHES[kind_of_cycle(steps)]


def clause(step: Dependency, versions: Versions) -> str:
    """Return why a step's source comes first."""
    transactions = versions.history.transactions
    source, target = transactions[step.source].name, transactions[step.target].name
    if step.kind is Kind.SESSION:
        session = transactions[step.source].session
        return f"{source} is before {target} in session {session}"
    if step.kind is Kind.REALTIME:
        return f"{source} had ended when {target} was invoked"
    key = versions.keys[step.after]
    before, after = shown(versions.values[step.before]), shown(versions.values[step.after])
    is_list = versions.history.data_type is DataType.LIST
    if step.kind is Kind.WW:
        if is_list:
            return f"{source} appended {before} to {key} before {target} appended {after}"
        return f"{target} overwrote {key}={before} of {source} with {after}"
    if step.kind is Kind.WR:
        if is_list:
            return f"{target} read {key} with the {after} that {source} appended"
        return f"{target} read {key}={after} of {source}"
    if versions.writers[step.before] == INITIAL:
        return f"{source} read {key} before {target} wrote {after} there"
    if is_list:
        return f"{source} read {key} up to {before}, and not the {after} that {target} appended"
    return f"{source} read {key}={before}, which {target} overwrote with {after}"
