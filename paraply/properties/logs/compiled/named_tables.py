"""What the kernels' judges need beside keys: named tables and aspects, and undecided overlaps.

Kernels name tables with rows that no key identifies, or of which keys are unknown; the readable
code names those that left rows touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.batches import BatchSource, JudgedBatch
from paraply.properties.logs.compiled.probing import lengthened
from paraply.properties.logs.compiled.state import State, with_names
from paraply.properties.logs.compiled.undecided_kernel import SEEN_COLUMNS, note_undecided
from paraply.properties.logs.dependency_safety import DependencySafety, Touches, note_domains
from paraply.properties.logs.domains_of_tables import DomainsOfTables, How
from paraply.properties.logs.overlap_rules import COMMIT_GROUP
from paraply.properties.logs.scheduling_models import PARTITIONS_MAX
from paraply.properties.logs.transaction_facts import get_reference, get_schema
from paraply.vocabulary.log import ANY_ROWS, LoggedTransaction, table_of
from paraply.vocabulary.not_compilable import NotCompilable

Ints = NDArray[np.int64]
Headers = Callable[[Sequence[int]], Iterable[LoggedTransaction]]
_ROLES = (
    (C.MET, "met"),
    (C.UNKEYED_ROWS, "unkeyed"),
    (C.SEARCHED, "searched"),
    (C.BLURRED, "blurred"),
    (C.UNIDENTIFIED, "unidentified"),
)


class NamedTables:
    """Names what is touched beside keys, and notes undecided overlaps; call in log order."""

    def __init__(
        self, safety: DependencySafety, appliers: Sequence[str], source: BatchSource
    ) -> None:
        self._safety = safety
        self._source = source
        self._rules = np.array([C.GROUP if name == COMMIT_GROUP else C.CLOCK for name in appliers])
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._places: Ints = np.zeros((64, 3), np.int64)
        """Of each name: among all in order, its lower-case form's number, and its table's."""
        self._blurred: Ints = np.zeros((1, 64, SEEN_COLUMNS), np.int64)
        self._used: Ints = np.zeros((1, 64, SEEN_COLUMNS), np.int64)
        """Who blurred and used a name last, by domain."""
        self._starts: Ints = np.zeros(1, np.int64)
        """The first transaction of each domain's open group."""
        self._has_blurred = False
        self._touches_max = 1
        self._number_of(ANY_ROWS)

    def table_of(self, number: int) -> str:
        """Return the table of a name's number."""
        return table_of(self._names[number])

    def add_names(self, state: State, batch: JudgedBatch, left: Sequence[Touches]) -> State:
        """Set a batch's names and roles; return the state with room for them."""
        count, roles = len(batch.columns), batch.table_roles & C.NAMED
        at = np.flatnonzero(roles)
        ends = batch.columns[:, C.B_TABLE_END]
        owners = [np.searchsorted(ends, at, side="right")]
        tables = batch.tables[at]
        numbers_of = np.zeros(len(batch.table_names), np.int64)
        for table in np.unique(tables).tolist():
            numbers_of[table] = self._number_of(batch.table_names[table])
        numbers, found = [numbers_of[tables]], [roles[at] | C.MET]
        marked = np.flatnonzero(batch.table_roles >= C.MARKS)
        for table in np.unique(batch.tables[marked]).tolist():
            of_table = marked[batch.tables[marked] == table]
            for beside in batch.ties[table].names:
                where = of_table[(batch.table_roles[of_table] & beside.mark) != 0]
                owner = np.searchsorted(ends, where, side="right")
                for named, how in ((beside.met, C.MET), (beside.reached, C.BLURRED)):
                    for name in named if len(where) else ():
                        owners.append(owner)
                        numbers.append(np.full(len(owner), self._number_of(name)))
                        found.append(np.full(len(owner), how))
        for part, touches in zip(batch.left, left, strict=True):
            of_left = _roles_of(touches)
            owners.append(np.full(len(of_left), part.index))
            numbers.append(np.array([self._number_of(name) for name in of_left], np.int64))
            found.append(np.array([*of_left.values()], np.int64))
        owner, number, role = map(np.concatenate, (owners, numbers, found))
        order = np.lexsort((self._places[number, 0], owner))
        owner, number, role = owner[order], number[order], role[order]
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (owner[1:] != owner[:-1]) | (number[1:] != number[:-1])
        first = np.flatnonzero(is_first)
        batch.columns[:, C.B_NAME_END] = np.cumsum(np.bincount(owner[first], minlength=count))
        batch.names = number[first]
        batch.roles = np.bitwise_or.reduceat(role, first) if len(first) else role
        if len(self._names) > PARTITIONS_MAX:
            raise NotCompilable("more tables than are followed")
        return with_names(state, len(self._names))

    def _number_of(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            lower, table = name.lower(), table_of(name).lower()
            for each in (name, lower, table):
                if each not in self._numbers:
                    self._numbers[each] = len(self._names)
                    self._names.append(each)
            self._make_room()
            number = self._numbers[name]
        return number

    def _make_room(self) -> None:
        names = self._names
        room = max(len(self._places), 2 * len(names))
        self._places = lengthened(self._places, room)
        in_order = sorted(
            range(len(names)), key=lambda number: (table_of(names[number]), names[number])
        )
        self._places[in_order, 0] = np.arange(len(names))
        for number, name in enumerate(names):
            folded = self._numbers[name.lower()], self._numbers[table_of(name).lower()]
            self._places[number, 1:] = folded

    def _make_lanes(self, lanes: int) -> None:
        known, names = self._used.shape[:2]
        more = max(0, lanes - known), len(self._places) - names
        if any(more):
            room = ((0, more[0]), (0, more[1]), (0, 0))
            self._blurred, self._used = np.pad(self._blurred, room), np.pad(self._used, room)
            self._starts = np.pad(self._starts, (0, more[0]))

    def note_undecided(
        self, batch: JudgedBatch, first_ordinal: int, headers: Headers, left: Sequence[Touches],
        placed: Ints,
    ) -> None:  # fmt: skip
        """Note which overlapping transactions may conflict by keys that are not known.

        ``headers`` names chosen transactions, ``placed`` has ``columns.D_*`` for all.
        """
        columns = batch.columns
        ends = columns[:, C.B_TABLE_END]
        blurs_all = np.zeros(len(columns), np.bool_)
        blurring = np.flatnonzero(batch.table_roles & C.BLURS_ALL)
        blurs_all[np.searchsorted(ends, blurring, side="right")] = True
        self._touches_max = max(self._touches_max, int(batch.uses_max().max()))
        for part, touches in zip(batch.left, left, strict=True):
            self._touches_max = max(self._touches_max, len(touches.uses), len(touches.blurred))
            blurs_all[part.index] |= ANY_ROWS in touches.blurred
        self._has_blurred |= bool(blurs_all.any() or (batch.roles & C.BLURRED).any())
        found = np.zeros((len(self._rules), len(self._names), 4), np.int64)
        self._make_lanes(1 + int(columns[:, C.B_LANE].max()))
        widest = note_undecided(
            columns, batch.names, batch.roles, blurs_all, placed, self._rules, self._places,
            self._blurred, self._used, self._starts, first_ordinal, self._numbers[ANY_ROWS], found,
            np.zeros(len(self._places), np.int64), np.zeros(C.PLACE_COLUMNS, np.int64),
            np.zeros(SEEN_COLUMNS, np.int64),
        )  # fmt: skip
        at = np.argwhere(found[:, :, 0])
        # Of several names of a table, the first pair is told.
        for rule, number in at[np.argsort(found[at[:, 0], at[:, 1], 3])].tolist():
            self._note(rule, number, found[rule, number].tolist(), first_ordinal, headers)
        if self._has_blurred:
            self._require_remembered(1 + widest)

    def _note(
        self, rule: int, number: int, found: list[int], first_ordinal: int, headers: Headers
    ) -> None:
        pairs, earlier, at, later = found
        table, evidence = self.table_of(number), self._safety.evidence[rule]
        known = evidence.undecided.get(table)
        if known is not None:
            known.pairs += pairs
            return
        if earlier >= first_ordinal:
            (before,) = headers([earlier - first_ordinal])
        else:
            before = self._source.reread(earlier, at)
        (after,) = headers([later - first_ordinal])
        evidence.add_undecided(table, pairs, get_reference(before), get_reference(after))

    def _require_remembered(self, widest: int) -> None:
        """Refuse overlaps with what the readable judge may have forgotten."""
        horizon = self._safety.index.horizon
        if widest >= min(horizon.transactions, horizon.keys // self._touches_max):
            raise NotCompilable("unknown keys, in overlaps longer than the horizon")


def note_domains_of_batch(
    domains: DomainsOfTables, batch: JudgedBatch, left: Sequence[Touches]
) -> None:
    """Note how commit groups of a batch touch tables other than by keys."""
    columns = batch.columns
    in_groups = (columns[:, C.B_HAS_DOMAIN] > 0) | (columns[:, C.B_COMMIT_ID] >= 0)
    if not in_groups.any():
        return
    for part, touches in zip(batch.left, left, strict=True):
        if in_groups[part.index]:
            note_domains(domains, int(columns[part.index, C.B_LANE]), touches)
    tables = np.diff(columns[:, C.B_TABLE_END], prepend=0)
    grouped = np.repeat(in_groups, tables)
    used, numbers = np.repeat(columns[:, C.B_LANE], tables)[grouped], batch.tables[grouped]
    roles = batch.table_roles[grouped]
    for domain, number, role in set(
        zip(used.tolist(), numbers.tolist(), roles.tolist(), strict=True)
    ):
        name = batch.table_names[number].lower()
        domains.note(domain, How.USES, (name, f"{get_schema(name)}.*", ANY_ROWS))
        blurred = ((C.BLURRED, name), (C.BLURS_ALL, ANY_ROWS))
        domains.note(domain, How.BLURRED, (each for bit, each in blurred if role & bit))
        for beside in batch.ties[number].names if role >= C.MARKS else ():
            if role & beside.mark:
                domains.note(domain, How.USES, map(str.lower, beside.met))
                domains.note(domain, How.BLURRED, map(str.lower, beside.reached))


def _roles_of(touches: Touches) -> dict[str, int]:
    found: dict[str, int] = {}
    for role, field in _ROLES:
        for name in getattr(touches, field) - {ANY_ROWS}:
            found[name] = found.get(name, 0) | role
    return found
