"""Safety: no two conflicting transactions may overlap under the metadata.

Transactions conflict if one writes a key that the other writes or reads (foreign key), or by DDL on
a changed table or schema. An overlap breaks ``conflicting_transactions_are_ordered`` or, with DDL,
``definitions_change_alone``.

**The check is linear and exact.** If any conflicting earlier toucher of a key may overlap j, the
newest may. Let i be an earlier toucher in j's lane and run with rank_i > floor_j, and p the newest.
Ranks rise strictly inside a run, so rank_p >= rank_i > floor_j: p overlaps j. Runs follow each
other, so p is of j's run. Conversely every finding is such a pair. Writers and readers have
separate chains: a reader checks the newest writer, a writer the newest of either.

**All pairs are listed** by walking back from the head while overlaps are allowed. A full list
counts heads only, in linear time, as a lower bound.

Overlaps without keys are undecided: two changes with unknown keys, or a change and a transaction
that may touch its table (unknown UNIQUE keys, cascades).

Domains: a GTID replica applies ``commit-group`` lanes unordered. A key last touched in another
domain makes the verdict unknown, as do tables redefined in one and changed in another.

Barriers: DDL overlapping a change of its table is a violation; other overlaps are legal under
concurrent load and noted. Overlaps with statement-based changes and incidents are undecided. XA
PREPARE is judged by rows. XA COMMIT and XA ROLLBACK must follow only their PREPARE, which keeps its
row locks. The lint judges view changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paraply.properties.logs.conflict_index import (
    Access,
    AccessTable,
    ConflictIndex,
    SeenTransaction,
)
from paraply.properties.logs.domains_of_tables import DomainsOfTables, How
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, OverlapRule, Place
from paraply.properties.logs.safety_evidence import SafetyEvidence, get_consequence
from paraply.properties.logs.statement_tables import StatementTables, get_statement_tables
from paraply.properties.logs.transaction_facts import (
    get_changed_tables,
    get_primary_keys,
    get_reference,
    get_schema,
    shorten,
)
from paraply.vocabulary.audit_result import Reason, SafetyViolation
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import CREATES_NOTHING, LoggedKind, LoggedTransaction, table_of

CONFLICTING_TRANSACTIONS_ARE_ORDERED = "conflicting_transactions_are_ordered"
DEFINITIONS_CHANGE_ALONE = "definitions_change_alone"

VIOLATIONS_MAX = 1_000


@dataclass(slots=True, kw_only=True)
class Touches:
    """One transaction's touches, for the judges."""

    writes: dict[ConflictKey, bool] = field(default_factory=dict)
    """Keys with their certainty."""
    reads: dict[ConflictKey, bool] = field(default_factory=dict)
    redefinitions: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()
    unkeyed: frozenset[str] = frozenset()
    """Tables with changed rows without a key."""
    searched: frozenset[str] = frozenset()
    """Those searched for one, which waits for others' rows, in either order."""
    unidentified: frozenset[str] = frozenset()
    """Those with unknown rows; ``blurred`` tells what they may meet."""
    blurred: frozenset[str] = frozenset()
    """Tables possibly touched without keys; any change conflicts."""
    tables: frozenset[str] = frozenset()
    """Tables with row changes."""
    met: frozenset[str] = frozenset()
    """What another's ``blurred`` may name."""
    locks: dict[ConflictKey, bool] = field(default_factory=dict)
    """Read-locked keys: writers wait, in either order."""


def get_touches(txn: LoggedTransaction) -> Touches:
    """Return what ``txn`` touches."""
    uncertain = txn.uncertain_keys
    writes = {key: key not in uncertain for key in txn.keys}
    writes |= dict.fromkeys(txn.searched_rows, False)
    writes |= dict.fromkeys(txn.xa_keys, True)
    tables = get_changed_tables(txn)
    names = get_definitions_changed(txn)
    schemas = {f"{schema}.*" for schema in names.schemas}
    redefined = (names.tables - names.only_read) | schemas
    if CREATES_NOTHING in txn.flags:
        redefined = frozenset()
    uses = {table.lower() for table in tables} | names.tables
    uses |= {f"{get_schema(table)}.*" for table in uses} | schemas
    uses -= redefined
    uses |= {name.lower() for name in txn.aspects}
    return Touches(
        writes=writes,
        reads={key: key not in uncertain for key in txn.shared_keys if key not in writes}
        | dict.fromkeys(txn.left_rows - txn.searched_rows, False),
        redefinitions=redefined,
        uses=frozenset(uses),
        unkeyed=txn.unkeyed_tables,
        searched=txn.unidentified_tables.union(key.table for key in txn.searched_rows),
        unidentified=txn.unidentified_tables,
        blurred=txn.partly_keyed_tables.union(txn.reached_tables, txn.undecoded_tables),
        tables=tables,
        met=tables | txn.aspects,
        locks=dict.fromkeys(txn.locked_keys, True),
    )


def get_definitions_changed(txn: LoggedTransaction) -> StatementTables:
    """Return DDL's tables and schemas."""
    if not txn.is_ddl or not txn.statements:
        return StatementTables(verb="")
    parts = [get_statement_tables(text, txn.default_schema) for text in txn.statements]
    return StatementTables(
        verb=parts[0].verb,
        tables=frozenset().union(*(part.tables for part in parts)),
        only_read=frozenset().union(*(part.only_read for part in parts))
        - frozenset().union(*(part.tables - part.only_read for part in parts)),
        schemas=frozenset().union(*(part.schemas for part in parts)),
        cut=any(part.cut for part in parts),
    )


def note_domains(domains: DomainsOfTables, domain: int, touches: Touches) -> None:
    """Note how a transaction of ``domain`` touches tables other than by keys."""
    domains.note(domain, How.REDEFINES, touches.redefinitions)
    domains.note(domain, How.USES, touches.uses)
    domains.note(domain, How.BLURRED, map(str.lower, touches.blurred))


@dataclass(slots=True)
class Meeting:
    """The best evidence that a pair conflicts."""

    earlier: SeenTransaction
    order: tuple[int, int, str, str, str]
    certain: bool
    definition: bool
    reads: bool

    def violation(
        self, applier: str, rule: int, earlier: SeenTransaction, later: SeenTransaction
    ) -> SafetyViolation:
        """Return what the pair breaks under an applier, by the places that ``rule`` gave both."""
        _, _, table, index, shown = self.order
        if self.definition:
            shown = earlier.statement or later.statement
        return SafetyViolation(
            property=(
                DEFINITIONS_CHANGE_ALONE
                if self.definition
                else CONFLICTING_TRANSACTIONS_ARE_ORDERED
            ),
            applier=applier,
            earlier=earlier.ref,
            later=later.ref,
            table=table,
            index=index,
            key=shown,
            consequence=get_consequence(
                earlier, later, rule, table, index, self.definition, self.reads
            ),
            certain=self.certain,
        )


class DependencySafety:
    """Judges one log under several overlap rules."""

    def __init__(
        self, rules: Sequence[OverlapRule], index: ConflictIndex, violations_max: int
    ) -> None:
        self.index = index
        self._rules = rules
        self._violations_max = violations_max
        self.listing = True
        """Whether the list had room before the transaction that is judged."""
        self.violations: list[SafetyViolation] = []
        self.evidence = [SafetyEvidence(rule.name) for rule in rules]

    def place(self, txn: LoggedTransaction, touches: Touches) -> SeenTransaction:
        """Return the memory of ``txn``; call in log order."""
        return SeenTransaction(
            ref=get_reference(txn),
            kind=txn.kind,
            places=tuple(rule.place(txn) for rule in self._rules),
            tables=touches.tables,
            primary_keys=get_primary_keys(txn),
            statement=shorten(txn.statements[0]) if txn.statements else "",
            domain=txn.domain or 0,
        )

    def observe(self, seen: SeenTransaction, touches: Touches) -> None:
        """Judge ``seen`` against the past."""
        for rule, place in enumerate(seen.places):
            evidence = self.evidence[rule]
            evidence.pairs_allowed += place.allowed
            self.listing = len(self.violations) < self._violations_max
            meetings, ordered = self._meetings(rule, place, touches)
            evidence.conflicts_ordered += len(ordered)
            for ordinal in sorted(meetings):
                self._report(rule, meetings[ordinal], seen)
            if place.allowed:
                self._note_undecided(rule, place, seen, touches)
                evidence.may_wait += self._count_waits(place, rule, touches, meetings)
            evidence.observe_barriers(seen, place)
            if place.follows and evidence.applier == COMMIT_GROUP:
                note_domains(evidence.domains, place.lane, touches)
            evidence.lanes_forgotten = self._rules[rule].lanes_forgotten

    def remember(self, seen: SeenTransaction, touches: Touches) -> None:
        """Add ``seen`` after every judge."""
        index = self.index
        index.writes.add(seen, touches.writes.items())
        index.reads.add(seen, touches.reads.items())
        index.redefinitions.add(seen, ((name, True) for name in touches.redefinitions))
        index.uses.add(seen, ((name, True) for name in touches.uses))
        index.unkeyed.add(seen, ((table, table in touches.searched) for table in touches.unkeyed))
        index.blurred.add(seen, ((table, True) for table in touches.blurred))
        index.locks.add(seen, touches.locks.items())
        index.forget_beyond_horizon(seen.ref.ordinal)

    def _meetings(
        self, rule: int, place: Place, touches: Touches
    ) -> tuple[dict[int, Meeting], set[int]]:
        index = self.index
        meetings: dict[int, Meeting] = {}
        ordered: set[int] = set()
        crossing: list[tuple[int, str]] = []
        if not place.allowed and not place.follows:
            return meetings, ordered
        chains: list[tuple[AccessTable[ConflictKey], dict[ConflictKey, bool], bool]] = [
            (index.writes, touches.writes, False),
            (index.reads, touches.writes, True),
            (index.writes, touches.reads, True),
        ]
        for table, keys, reads in chains:
            lost = table.may_have_forgotten(rule, place)
            for key, certain in keys.items():
                head = table.newest(key)
                if head is None:
                    if lost:
                        self.evidence[rule].keys_forgotten += 1
                    continue
                met = False
                for access in self._overlapping(head, rule, place):
                    met = True
                    sure = certain and access.certain
                    order = (0, 0 if sure else 1, key.table, key.index, _show(key))
                    _keep_best(meetings, access, order, sure, False, reads)
                if met or not (certain and head.certain) or head.seen is None:
                    continue
                earlier = head.seen.places[rule]
                # Readers in several domains are no conflict, so the newest may hide another's.
                outside = head.seen if earlier.lane != place.lane else None
                if table is index.reads:
                    outside = table.newest_outside(key, place.lane)
                if outside is not None:
                    crossing.append((outside.ref.ordinal, key.table))
                elif earlier.run == place.run:
                    ordered.add(head.seen.ref.ordinal)
        if crossing:
            self.evidence[rule].note_crossing(*min(crossing))
        if place.allowed:
            self.meet_definitions(rule, place, touches, meetings)
        return meetings, ordered - meetings.keys()

    def meet_definitions(
        self, rule: int, place: Place, touches: Touches, meetings: dict[int, Meeting]
    ) -> None:
        """Add to ``meetings``, by ordinal, whom ``touches`` meets by DDL."""
        index = self.index
        chains: list[tuple[AccessTable[str], frozenset[str]]] = [
            (index.redefinitions, touches.redefinitions),
            (index.uses, touches.redefinitions),
            (index.redefinitions, touches.uses),
        ]
        for table, names in chains:
            for name in names:
                head = table.newest(name)
                if head is None:
                    if table.may_have_forgotten(rule, place):
                        self.evidence[rule].keys_forgotten += 1
                    continue
                for access in self._overlapping(head, rule, place):
                    _keep_best(meetings, access, (1, 0, name, "DDL", ""), True, True, False)

    def _overlapping(
        self, head: Access, rule: int, place: Place, *, is_each: bool = False
    ) -> Iterator[Access]:
        """Step over other lanes, up to the lane's first ordered touch.

        Where nothing is listed, one that overlaps is enough, unless ``is_each``.
        """
        access: Access | None = head
        while access is not None and access.seen is not None:
            earlier = access.seen.places[rule]
            if place.may_overlap(earlier):
                yield access
                if not (self.listing or is_each):
                    return
            elif earlier.lane == place.lane:
                return
            access = access.previous

    def _report(self, rule: int, meeting: Meeting, later: SeenTransaction) -> None:
        evidence = self.evidence[rule]
        if meeting.certain:
            evidence.violations_certain += 1
        else:
            evidence.violations_uncertain += 1
        if len(self.violations) < self._violations_max:
            name = self._rules[rule].name
            self.violations.append(meeting.violation(name, rule, meeting.earlier, later))

    def _note_undecided(
        self, rule: int, place: Place, seen: SeenTransaction, touches: Touches
    ) -> None:
        index = self.index
        evidence = self.evidence[rule]
        noted: set[str] = set()
        chains: list[tuple[AccessTable[str], frozenset[str]]] = [
            (index.blurred, touches.met),
            (index.uses, touches.blurred),
        ]
        for chain, tables in chains:
            lost = chain.may_have_forgotten(rule, place)
            for table in sorted(tables):
                head = chain.newest(table.lower() if chain is index.uses else table)
                while head is not None and _only_reads(head):
                    head = head.previous
                if head is None:
                    evidence.keys_forgotten += lost
                    continue
                named = table_of(table).lower()
                if named in noted:
                    continue
                for access in self._overlapping(head, rule, place, is_each=True):
                    if _only_reads(access):
                        continue
                    assert access.seen is not None
                    evidence.note_undecided(table, access.seen, seen)
                    noted.add(named)
                    break

    def _count_waits(
        self, place: Place, rule: int, touches: Touches, meetings: dict[int, Meeting]
    ) -> int:
        index = self.index
        found: set[int] = set()
        for table, keys in ((index.locks, touches.writes), (index.writes, touches.locks)):
            for key in keys:
                head = table.newest(key)
                for access in () if head is None else self._overlapping(head, rule, place):
                    assert access.seen is not None
                    found.add(access.seen.ref.ordinal)
        for name in touches.unkeyed:
            head = index.unkeyed.newest(name)
            for access in () if head is None else self._overlapping(head, rule, place):
                assert access.seen is not None
                # ``certain`` says that it searched.
                if access.certain or name in touches.searched:
                    found.add(access.seen.ref.ordinal)
        return len(found - meetings.keys())

    def pairs_allowed(self) -> int:
        """Return allowed pairs over all rules."""
        return sum(evidence.pairs_allowed for evidence in self.evidence)

    def conflicts_ordered(self) -> int:
        """Return ordered conflicting neighbours over all rules."""
        return sum(evidence.conflicts_ordered for evidence in self.evidence)

    def violations_dropped(self) -> int:
        """Return unlisted violations; a lower bound with a full list."""
        total = sum(e.violations_certain + e.violations_uncertain for e in self.evidence)
        return total - len(self.violations)

    def reasons(self) -> list[Reason]:
        """Return why safety is unknown."""
        return [reason for evidence in self.evidence for reason in evidence.reasons()]


def _only_reads(access: Access) -> bool:
    """Return whether a remembered touch is by DDL that reads a table, and meets no row of it."""
    seen = access.seen
    return seen is not None and seen.kind is LoggedKind.DDL and not seen.tables


def _show(key: ConflictKey) -> str:
    return f"{key.index}({key.shown or ', '.join(map(repr, key.values))})"


def _keep_best(
    meetings: dict[int, Meeting],
    access: Access,
    order: tuple[int, int, str, str, str],
    certain: bool,
    definition: bool,
    reads: bool,
) -> None:
    """Keep the smallest evidence per pair, whatever the set order.

    Certain keys outrank uncertain ones; keys outrank definitions unless only those are certain.
    """
    assert access.seen is not None
    ordinal = access.seen.ref.ordinal
    known = meetings.get(ordinal)
    if known is None or (not certain, order) < (not known.certain, known.order):
        meetings[ordinal] = Meeting(access.seen, order, certain, definition, reads)
