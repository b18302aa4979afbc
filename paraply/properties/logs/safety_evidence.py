"""Evidence of the safety check under one rule.

Without overlaps or conflicts the verdict is unknown, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.properties.logs.conflict_index import SeenTransaction
from paraply.properties.logs.domains_of_tables import DomainsOfTables
from paraply.properties.logs.overlap_rules import LANES_MAX, LOGICAL_CLOCK, Place
from paraply.properties.logs.table_census import (
    JUDGE_TARGET,
    NO_SCHEMAS,
    Schemas,
    because,
    remedy_for_keys,
)
from paraply.properties.logs.transaction_facts import get_name
from paraply.vocabulary.audit_result import Reason, TransactionRef
from paraply.vocabulary.counting import counted
from paraply.vocabulary.log import WHOLE_ROW, LoggedKind, table_of
from paraply.vocabulary.schema import TableSchema

NAME = "conflicting_transactions_are_ordered"
UNDECIDED_TABLES_MAX = 1_000
"""Named tables; others are counted."""


@dataclass(slots=True)
class _Undecided:
    pairs: int
    earlier: TransactionRef
    later: TransactionRef


@dataclass(slots=True)
class _LastOfKind:
    undecidable: Place | None = None
    changes_rows: Place | None = None
    ddl: Place | None = None


@dataclass(slots=True)
class SafetyEvidence:
    """Counts under one overlap rule."""

    applier: str
    pairs_allowed: int = 0
    conflicts_ordered: int = 0
    """Pairs with a key's last toucher, ordered inside a run."""
    violations_certain: int = 0
    violations_uncertain: int = 0
    may_wait: int = 0
    """Conflict-free pairs with a row-lock wait."""
    keys_forgotten: int = 0
    """Touches possibly forgotten within reach."""
    lanes_forgotten: int = 0
    """Domains forgotten above the limit."""
    statements_overlapping: int = 0
    incidents: int = 0
    ddl_overlapping: int = 0
    """DDL that overlaps other tables' changes: legal, noted."""
    undecided: dict[str, _Undecided] = field(default_factory=dict)
    undecided_more: int = 0
    crossings: int = 0
    """Keys last touched in another domain."""
    crossing_first: tuple[int, str] | None = None
    """Ordinal of the earlier transaction, and table."""
    domains: DomainsOfTables = field(default_factory=DomainsOfTables)
    _lanes: dict[int, _LastOfKind] = field(default_factory=dict)

    def note_undecided(self, table: str, earlier: SeenTransaction, later: SeenTransaction) -> None:
        """Count an undecided overlap in ``table``."""
        self.add_undecided(table_of(table), 1, earlier.ref, later.ref)

    def add_undecided(
        self, table: str, pairs: int, earlier: TransactionRef, later: TransactionRef
    ) -> None:
        """Count undecided pairs, with the first."""
        known = self.undecided.get(table)
        if known is not None:
            known.pairs += pairs
        elif len(self.undecided) < UNDECIDED_TABLES_MAX:
            self.undecided[table] = _Undecided(pairs, earlier, later)
        else:
            self.undecided_more += pairs

    def note_crossing(self, earlier: int, table: str) -> None:
        """Count a conflict with another domain."""
        self.crossings += 1
        if self.crossing_first is None:
            self.crossing_first = (earlier, table)

    def observe_barriers(self, seen: SeenTransaction, place: Place) -> None:
        """Count statements, incidents and unrelated DDL overlaps."""
        kind = seen.kind
        if kind is LoggedKind.INCIDENT:
            self.incidents += 1
        if kind in (LoggedKind.EMPTY, LoggedKind.VIEW_CHANGE):
            return
        lane = self._lanes.get(place.lane)
        if lane is None:
            if len(self._lanes) >= LANES_MAX:
                self.keys_forgotten += 1
                del self._lanes[next(iter(self._lanes))]
            lane = self._lanes[place.lane] = _LastOfKind()
        undecidable = kind in (LoggedKind.STATEMENT, LoggedKind.INCIDENT)
        # The newest of a kind decides, as for keys: ranks rise inside a run.
        before = lane.changes_rows if undecidable else lane.undecidable
        if before is not None and place.may_overlap(before):
            self.statements_overlapping += 1
        before = lane.changes_rows if kind is LoggedKind.DDL else lane.ddl
        if before is not None and place.may_overlap(before):
            self.ddl_overlapping += 1
        lane.changes_rows = place
        if undecidable:
            lane.undecidable = place
        if kind is LoggedKind.DDL:
            lane.ddl = place

    @property
    def conflicts(self) -> int:
        """Return the certain conflicts, ordered or not."""
        return self.conflicts_ordered + self.violations_certain

    @property
    def pairs_in_doubt(self) -> int:
        """Return how many of the allowed pairs have an undecided part, at least.

        Each kind of doubt counts pairs once, but several kinds may concern one pair.
        """
        doubts = [
            self.violations_uncertain,
            *(undecided.pairs for undecided in self.undecided.values()),
            self.statements_overlapping,
            int(self.undecided_more > 0 or self.keys_forgotten > 0),
        ]
        return min(max(doubts), self.pairs_allowed)

    def reasons(self, schemas: Schemas = NO_SCHEMAS) -> list[Reason]:
        """Return why this applier's safety is unknown; ``schemas`` are those of changed tables."""
        return [*self.untested(), *self.doubts(schemas)]

    def untested(self) -> list[Reason]:
        """Return why nothing was there to judge."""
        found = []
        if self.pairs_allowed == 0:
            found.append(
                self._reason(
                    "the metadata allows no two transactions to overlap, so it was never put to "
                    "the test",
                    "audit a log that was written under concurrent load"
                    + (
                        ", or raise binlog_group_commit_sync_delay at the source"
                        if self.applier == LOGICAL_CLOCK
                        else ", or raise binlog_commit_wait_count and binlog_commit_wait_usec"
                    ),
                )
            )
        elif self.conflicts == 0:
            found.append(
                self._reason(
                    "no two transactions of one clock run touched the same key, so nothing shows "
                    "that conflicts are kept apart",
                    "audit a longer stretch of the log, or one that updates rows more than once; "
                    "pass --schema if keys are missing",
                )
            )
        return found

    def doubts(self, schemas: Schemas = NO_SCHEMAS) -> list[Reason]:
        """Return what could not be decided."""
        found = []
        if self.violations_uncertain:
            found.append(
                self._reason(
                    f"{counted(self.violations_uncertain, 'pair')} that may overlap would share a "
                    "key, or one of several equal rows, only if an assumption about it holds",
                    "pass --schema with the tables' collations and keys; give tables whose rows "
                    "may be equal a primary key",
                )
            )
        found.extend(self._undecided_reasons(schemas))
        if self.crossing_first is not None:
            ordinal, table = self.crossing_first
            found.append(
                self._reason(
                    f"{counted(self.crossings, 'transaction changes', 'transactions change')} a "
                    f"key last changed in another replication domain (first: of {table}, changed "
                    f"by transaction {ordinal}); a replica that uses GTIDs applies domains side "
                    "by side without any order",
                    "keep conflicting changes in one domain (gtid_domain_id), or set "
                    "slave_parallel_threads=0 on the replica",
                )
            )
        crossed = self.domains.crossed()
        if crossed:
            found.append(
                self._reason(
                    f"{counted(len(crossed), 'table or schema is', 'tables or schemas are')} "
                    "redefined, or changed in rows that no known key names, in one replication "
                    f"domain and changed in another{_named(crossed)}; a replica that uses GTIDs "
                    "applies domains side by side without any order",
                    "run a table's DDL in the domain of its changes (gtid_domain_id), or set "
                    "slave_parallel_threads=0 on the replica",
                )
            )
        if self.statements_overlapping:
            found.append(
                self._reason(
                    f"{counted(self.statements_overlapping, 'transaction')} may overlap with "
                    "statement-based changes or an incident, whose rows are not in the log",
                    "set binlog_format=ROW at the source and audit a log written since",
                )
            )
        if self.incidents:
            found.append(
                self._reason(
                    f"the server logged {counted(self.incidents, 'incident')}: events were lost",
                    "rebuild the replica from a backup taken after the incident",
                )
            )
        if self.keys_forgotten:
            found.append(
                self._reason(
                    f"{counted(self.keys_forgotten, 'touch reaches', 'touches reach')} back to a "
                    "key further than the horizon of the audit, so an earlier touch may have "
                    "been forgotten",
                    "audit fewer files at once, or raise the horizon",
                )
            )
        if self.lanes_forgotten:
            found.append(
                self._reason(
                    f"the log has more than {LANES_MAX:,} replication domains, too many to follow",
                    "audit fewer files at once",
                )
            )
        return found

    def _undecided_reasons(self, schemas: Schemas) -> list[Reason]:
        found = []
        for table, undecided in sorted(self.undecided.items()):
            pairs = f"{counted(undecided.pairs, 'transaction')} may overlap another"
            if table:
                what, remedy = _unknown_keys(table, schemas.get(table))
                pairs += f" that changes {table}, and {what}{_first(undecided)}"
            else:
                without = sorted(name for name in schemas if not _tells_parents(schemas[name]))
                more = f" and {len(without) - 1:,} more" if len(without) > 1 else ""
                pairs += (
                    ", and foreign keys of a table that one of them changes are unknown"
                    f"{f' ({without[0]}{more})' if without else ''}{_first(undecided)}"
                )
                remedy = (
                    "pass --schema with the definitions of all tables (mysqldump --no-data), or "
                    "audit a log that begins before the tables were created"
                )
            found.append(self._reason(pairs, remedy, table))
        if self.undecided_more:
            found.append(
                self._reason(
                    f"{counted(self.undecided_more, 'more such overlap')} in further tables",
                    "pass --schema with their definitions",
                )
            )
        return found

    def _reason(self, reason: str, remedy: str, subject: str = "") -> Reason:
        return Reason(property=NAME, reason=reason, remedy=remedy, subject=subject or self.applier)


def _unknown_keys(table: str, schema: TableSchema | None) -> tuple[str, str]:
    """Return what is unknown of touched keys, and the remedy."""
    if schema is not None and schema.keys_complete:
        return (
            "not all keys that they touch in it are in the log",
            "log full row images, and give tables without a primary key one; before MySQL 9.6, a "
            f"foreign key's cascade is not logged: {JUDGE_TARGET}",
        )
    remedy = remedy_for_keys(
        schema,
        f"pass --schema with the definition of {table} and of tables it refers to; give it a "
        "primary key if it has none, and log full row images",
    )
    return f"not all keys in it are known{because(schema)}", remedy


def _tells_parents(schema: TableSchema | None) -> bool:
    return schema is not None and schema.foreign_keys_known


def _named(names: list[str]) -> str:
    tables = sorted(filter(None, map(table_of, names)))
    return f" (first: {tables[0]})" if tables else ""


def _first(undecided: _Undecided) -> str:
    one, two = undecided.earlier, undecided.later
    return (
        f" (first: {get_name(one)} at {one.file}:{one.offset} and {get_name(two)} at "
        f"{two.file}:{two.offset})"
    )


def get_consequence(
    earlier: SeenTransaction,
    later: SeenTransaction,
    rule: int,
    table: str,
    index: str,
    definition: bool,
    reads: bool,
) -> str:
    """Return the consequence and its remaining prevention."""
    first, second = get_name(earlier.ref), get_name(later.ref)
    if definition:
        text = (
            f"{second} may run before or while {first} does, so rows of {table} may be applied "
            "against the wrong definition of it"
        )
    elif index == WHOLE_ROW:
        text = (
            f"{second} may run before {first}: rows of {table} that no key tells apart may be "
            "changed before they are there, or too late"
        )
    elif reads:
        text = (
            f"{second} may run before {first}: a child row may meet a parent in {table} that is "
            "not there yet or no longer"
        )
    else:
        text = (
            f"{second} may be applied to {table} before {first}: a missing row, a duplicate key "
            "or a lost update"
        )
    place = later.places[rule]
    if earlier.places[rule].rank < place.break_rank:
        text += (
            f"; only a scheduler that waits at {place.break_reason}, as MySQL's own does, still "
            "keeps them apart"
        )
    return text
