"""DDL that may overlap a change of what it names, for the kernels' judges.

Kernels tell which transactions may overlap DDL. The readable judge compares names: those of DDL are
in its index, those of rows are read from the kernels' rings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.batches import Ints
from paraply.properties.logs.compiled.recent_uses import RecentUses
from paraply.properties.logs.compiled.state import State
from paraply.properties.logs.conflict_index import AccessTable, SeenTransaction
from paraply.properties.logs.critical_path import RING_MAX
from paraply.properties.logs.dependency_safety import DependencySafety, Meeting, Touches
from paraply.properties.logs.overlap_rules import Place
from paraply.properties.logs.transaction_facts import get_reference, get_schema, shorten
from paraply.vocabulary.audit_result import TransactionRef
from paraply.vocabulary.log import LoggedKind, LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable


@dataclass(slots=True)
class Definitions:
    """Follows DDL, and finds what it may overlap; call in log order."""

    safety: DependencySafety
    uses: RecentUses = field(default_factory=RecentUses)
    _ddl: dict[int, tuple[SeenTransaction, frozenset[str]]] = field(default_factory=dict)
    """By ordinal, with the names that it uses."""

    def meet(
        self, state: State, txn: Ints, told: Ints, touches: Touches, table_names: Sequence[str]
    ) -> dict[tuple[int, int], Meeting]:
        """Return, by rule and earlier transaction, what the latest one meets by definitions.

        ``txn`` has its ``columns.B_*``, ``told`` its ``columns.D_*``. Of an earlier transaction
        that is not DDL only the ordinal is known.
        """
        index, ordinal = self.safety.index, int(state.scalars[C.S_ORDINAL])
        index.redefinitions.forget_before(ordinal - index.horizon.transactions)
        found: dict[tuple[int, int], Meeting] = {}
        in_groups = txn[C.B_HAS_DOMAIN] or txn[C.B_COMMIT_ID] >= 0
        for number, rule in enumerate(state.order.tolist()):
            place = _place_of(rule, told)
            if not place.allowed or (
                rule == C.GROUP and not (in_groups and txn[C.B_SEQUENCE_NUMBER] < 0)
            ):
                continue
            if touches.redefinitions:
                index.uses = self._used(state, number, place, touches.redefinitions, table_names)
            evidence, meetings = self.safety.evidence[number], dict[int, Meeting]()
            evidence.keys_forgotten = 0
            self.safety.meet_definitions(number, place, touches, meetings)
            state.evidence[rule, C.E_FORGOTTEN] += evidence.keys_forgotten
            state.evidence[rule, C.E_VIOLATIONS] += len(meetings)
            if any(
                meeting.earlier.tables or (touches.redefinitions and touches.tables)
                for meeting in meetings.values()
            ):
                # A pair may conflict by keys, too, and is one.
                raise NotCompilable("DDL with rows that may overlap a change of what it names")
            found |= {(rule, earlier): meeting for earlier, meeting in meetings.items()}
        return found

    def remember(self, state: State, txn: LoggedTransaction, told: Ints, touches: Touches) -> None:
        """Add a DDL transaction."""
        seen = SeenTransaction(
            ref=get_reference(txn),
            kind=txn.kind,
            places=tuple(_place_of(rule, told) for rule in state.order.tolist()),
            tables=touches.tables,
            statement=shorten(txn.statements[0]) if txn.statements else "",
        )
        index = self.safety.index
        index.redefinitions.add(seen, ((name, True) for name in touches.redefinitions))
        self._ddl[txn.ordinal] = seen, touches.uses
        for old in [each for each in self._ddl if each <= txn.ordinal - RING_MAX]:
            del self._ddl[old]

    def seen(self, ordinal: int) -> SeenTransaction | None:
        """Return a transaction if it is recent DDL."""
        known = self._ddl.get(ordinal)
        return known[0] if known else None

    def _used(
        self, state: State, number: int, place: Place, redefined: frozenset[str],
        table_names: Sequence[str],
    ) -> AccessTable[str]:  # fmt: skip
        """Return who used what is ``redefined``, of those that ``place`` may overlap."""
        horizon, rule = self.safety.index.horizon, int(state.order[number])
        size, ordinal = len(state.ranks), int(state.scalars[C.S_ORDINAL])
        before = np.arange(max(1, ordinal - size + 1), ordinal)
        run, rank = _RANKS[rule]
        ranks = state.ranks[before % size]
        of_run = place.run if rule == C.CLOCK else place.lane
        overlapping = before[(ranks[:, run] == of_run) & (ranks[:, rank] > place.floor)].tolist()
        first = overlapping[0] if overlapping else ordinal
        used_since = max(self.uses.since(first), ordinal - first)
        bound = min(horizon.keys, horizon.transactions)
        if first <= ordinal - size + 1 or used_since > bound:
            raise NotCompilable("DDL that may overlap more than the horizon holds")
        named = {table: redefined & names_of([name]) for table, name in enumerate(table_names)}
        starts = state.past[:, C.H_TABLE_START]
        used = AccessTable[str](horizon)
        for earlier in overlapping:
            line = state.ranks[earlier % size].tolist()
            places = tuple(_place_in_ring(each, line) for each in state.order.tolist())
            seen = replace(unread(earlier), places=places)
            begin, end = (int(starts[each % size]) for each in (earlier, earlier + 1))
            tables = state.past_tables[np.arange(begin, end) % len(state.past_tables)]
            names = frozenset[str]().union(*(named[table] for table in tables.tolist()))
            if earlier in self._ddl:
                seen, uses = self._ddl[earlier]
                names = uses & redefined
            used.add(seen, ((name, True) for name in names))
        return used


def names_of(tables: Iterable[str]) -> frozenset[str]:
    """Return what changes of rows of ``tables`` use, as ``get_touches``."""
    folded = {table.lower() for table in tables}
    return frozenset(folded | {f"{get_schema(table)}.*" for table in folded})


def unread(ordinal: int) -> SeenTransaction:
    """Return an earlier transaction of which only the ordinal is known."""
    ref = TransactionRef(ordinal=ordinal, gtid="", file="", offset=0)
    return SeenTransaction(ref=ref, kind=LoggedKind.ROWS)


_RANKS = {C.CLOCK: (C.R_RUN, C.R_RANK), C.GROUP: (C.R_LANE, C.R_GROUP_RANK)}


def _place_in_ring(rule: int, line: Sequence[int]) -> Place:
    run, rank = (line[column] for column in _RANKS[rule])
    lane, run = (0, run) if rule == C.CLOCK else (run, 0)
    return Place(lane=lane, run=run, rank=rank, floor=0, allowed=0)


def _place_of(rule: int, told: Ints) -> Place:
    number = told.tolist().__getitem__
    if rule == C.CLOCK:
        return Place(
            lane=0, run=number(C.D_RUN), rank=number(C.D_RANK), floor=number(C.D_FLOOR),
            allowed=number(C.D_ALLOWED),
        )  # fmt: skip
    return Place(
        lane=number(C.D_LANE), run=0, rank=number(C.D_GROUP_RANK), floor=number(C.D_GROUP_FLOOR),
        allowed=number(C.D_GROUP_ALLOWED),
    )  # fmt: skip
