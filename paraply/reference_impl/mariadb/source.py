"""A MariaDB source's event groups, with domain, commit id and flags.

Transactions with one commit id held their locks together, so they share no row. The user who sets
domains guarantees disjoint rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from zlib import crc32

from paraply.reference_impl.applier.coordinator import schema_of
from paraply.reference_impl.applier.source_log import Source, SourceSettings
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.choices import write_sets
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.timestamps import CommitId
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import share_items

TRANSACTIONAL, ALLOW_PARALLEL, WAITED, DDL = "transactional", "allow_parallel", "waited", "ddl"
"""Flags in the adapters' spelling."""

SERVER_ID = 1
NORMAL_DOMAIN, LONG_RUNNING_DOMAIN = 1, 2
SCHEMAS = ("sales", "hr")
FIRST_SCHEMA_DOMAIN, SCHEMA_DOMAINS = 20, 10
"""The document's example."""
LONG_RUNNING_ROWS: tuple[str, ...] = ("big1", "big2")
"""Rows of a long maintenance statement."""


def domain_of_schema(schema: int) -> int:
    """Return a schema's hashed domain."""
    return FIRST_SCHEMA_DOMAIN + crc32(SCHEMAS[schema].encode()) % SCHEMA_DOMAINS


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """Limits of optional source actions."""

    domains: str = "one"
    """``one``, ``schema``, or ``long_running``: one statement in a separate domain."""
    ddl: int = 0
    non_transactional: int = 0
    """Changes of non-transactional tables."""
    marks: int = 0
    """Transactions that waited, or must run alone."""
    restarts: int = 0
    """Restarts, which repeat commit ids."""
    commit_groups: bool = True


class Draft(NamedTuple):
    """A transaction without its commit group."""

    transaction: Transaction
    group: int
    first_of_run: int


class GroupCommitSource(Source):
    """Executes transactions and chooses commit groups."""

    def __init__(self, rows: Sequence[str], settings: GroupSettings) -> None:
        nothing = SourceSettings(
            barriers=False, rotations=0, collections=0, sessions=1, view_changes=0
        )  # fmt: skip
        super().__init__(rows, DIALECTS["wl8440"], nothing)
        self.group_settings = settings
        self.left = {DDL: settings.ddl, "non_transactional": settings.non_transactional}
        self.marks_left, self.restarts_left = settings.marks, settings.restarts
        self.first_of_run = 1
        self.sequence: dict[int, int] = {}
        self.has_run_long = False

    def write(self, schedule: Schedule, recorder: Recorder, count: int) -> tuple[Transaction, ...]:
        """Log, list and return ``count`` transactions."""
        drafts: list[Draft] = []
        for number in range(1, count + 1):
            if self.restarts_left and drafts and schedule.choose(2, "source restarts"):
                self.on_restart(TransactionId(number))
            drafts.append(self.draft(schedule, TransactionId(number), drafts))
        sizes: dict[int, int] = {}
        for draft in drafts:
            sizes[draft.group] = sizes.get(draft.group, 0) + 1
        log = tuple(
            replace(draft.transaction, commit_id=self.commit_id(draft, sizes[draft.group]))
            for draft in drafts
        )
        for transaction in log:
            recorder.add(transaction)
        return log

    def on_restart(self, number: TransactionId) -> None:
        """Begin a new binary log."""
        self.restarts_left -= 1
        self.clock += 1
        self.first_of_run = number

    def commit_id(self, draft: Draft, size: int) -> CommitId | None:
        """Return the run's commit id; None if alone."""
        return None if size == 1 else CommitId(draft.group - draft.first_of_run + 1)

    def draft(self, schedule: Schedule, number: TransactionId, drafts: Sequence[Draft]) -> Draft:
        """Execute one transaction."""
        kind = self.choose_kind(schedule)
        domain, items = self.choose_rows(schedule, kind)
        flags = {TRANSACTIONAL} if kind == "rows" else {DDL} if kind == DDL else set()
        mark = "none"
        if self.marks_left and kind == "rows" and schedule.choose(2, "is marked"):
            self.marks_left -= 1
            mark = schedule.choose([WAITED, "skip_parallel_replication"], "mark")
        flags |= {WAITED} if mark == WAITED else set()
        flags |= {ALLOW_PARALLEL} if mark != "skip_parallel_replication" else set()
        self.sequence[domain] = self.sequence.get(domain, 0) + 1
        transaction = Transaction(
            id=number,
            kind=TransactionKind.DDL if kind == DDL else TransactionKind.ROWS,
            gtid=f"{domain}-{SERVER_ID}-{self.sequence[domain]}",
            domain=domain,
            clock=self.clock,
            flags=frozenset(flags),
            write_set=frozenset(items),
            rows=tuple(self._write(schedule, number, item) for item in items),
            statement="ALTER TABLE t" if kind == DDL else "",
        )
        for item in items:
            if item in self.writers:
                self.writers[item] += (number,)
        group = self.group_of(schedule, transaction, drafts)
        return Draft(transaction, group, self.first_of_run)

    def choose_kind(self, schedule: Schedule) -> str:
        """Return the next statement's kind."""
        kind = schedule.choose(
            ["rows", *(name for name, left in self.left.items() if left)], "kind"
        )
        if kind in self.left:
            self.left[kind] -= 1
        return kind

    def choose_rows(self, schedule: Schedule, kind: str) -> tuple[int, tuple[str, ...]]:
        """Return domain and rows, in order."""
        rule = self.group_settings.domains
        if rule == "long_running" and kind == "rows" and not self.has_run_long:
            self.has_run_long = bool(schedule.choose(2, "long-running"))
            if self.has_run_long:
                return LONG_RUNNING_DOMAIN, LONG_RUNNING_ROWS
        rows, domain = self.writers, 0 if rule == "one" else NORMAL_DOMAIN
        if rule == "schema":
            schemas = sorted({schema_of(row) for row in rows})
            schema = schedule.choose(schemas, "schema")
            rows = {row: marks for row, marks in rows.items() if schema_of(row) == schema}
            domain = domain_of_schema(schema)
        if kind == DDL:
            return domain, ()
        sets = self.row_sets(rows)
        if kind == "non_transactional":
            sets = [one for one in sets if len(one) == 1]
        items = schedule.choose(sets, "writes")
        if len(items) > 1 and schedule.choose(2, "last row first"):
            items = items[::-1]
        return domain, items

    def row_sets(self, rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
        """Return row sets without symmetric ones."""
        return write_sets(rows)

    def group_of(
        self, schedule: Schedule, transaction: Transaction, drafts: Sequence[Draft]
    ) -> int:
        """Return the predecessor's or a new group."""
        may_join = self.group_settings.commit_groups and TRANSACTIONAL in transaction.flags
        if may_join and transaction.id > self.first_of_run:
            group = drafts[-1].group
            members = [draft.transaction for draft in drafts if draft.group == group]
            if all(self.may_share(member, transaction) for member in members):
                joins = schedule.choose(2, "joins the commit group")
                return group if joins else transaction.id
        return transaction.id

    def may_share(self, member: Transaction, transaction: Transaction) -> bool:
        """Return whether they can share a group."""
        return TRANSACTIONAL in member.flags and not share_items(
            member.write_set, transaction.write_set
        )
