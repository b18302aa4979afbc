"""The source's dependency trackers as a subject.

The history has true dependencies. The tracker sees fewer for a keyless table, a cascade, a
statement-based change or CREATE TABLE ... SELECT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from paraply.reference_impl.causes import (
    COMMITTED_BETWEEN,
    FORGOTTEN_OR_SESSION,
    SESSION_LOGS_TWO,
    WRITERS_FORGOTTEN,
)
from paraply.reference_impl.certification.trackers import (
    CommitOrderTracker,
    TrackedTransaction,
    WritesetSessionTracker,
    WritesetTracker,
)
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Cause, Option, Subject, Workload, register_subject
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import INITIAL_STATE, Transaction, TransactionId

SOURCE = "r1"


class Flavour(Enum):
    """Kinds of statements, by their write sets."""

    PLAIN = "plain"
    """The write set is complete."""
    KEYLESS = "keyless"
    """No PRIMARY or UNIQUE key."""
    MIXED = "mixed"
    """A trigger logs the changed row in a table without key."""
    CASCADING = "cascading"
    """A parent row; the write set omits its cascade."""
    STATEMENT = "statement"
    """binlog_format MIXED."""
    CREATE_SELECT = "create_select"
    """Writes a new table and reads the row."""
    BLOCKING = "blocking"
    """REPAIR TABLE and similar: unlocks before the commit."""


class Phase(Enum):
    """Progress of a transaction."""

    EXECUTING = "executing"
    FLUSHED = "flushed"


@dataclass(slots=True, kw_only=True)
class Running:
    """A session's transaction before its engine commit."""

    session: int
    flavour: Flavour
    depends_on: set[str] = field(default_factory=set)
    """Rows locked until the engine commit."""
    tracked: TrackedTransaction
    statements_left: int
    phase: Phase = Phase.EXECUTING
    id: TransactionId = INITIAL_STATE


TRACKERS: Mapping[str, Callable[[int], CommitOrderTracker]] = {
    "commit_order": lambda _: CommitOrderTracker(),
    "writeset": WritesetTracker,
    "writeset_session": WritesetSessionTracker,
}
"""binlog_transaction_dependency_tracking; servers from 8.4: WRITESET only."""


class SourceSubject(Subject):
    """A source that logs its own timestamps."""

    name = "source"
    meaning = "a source's dependency tracking: COMMIT_ORDER, WRITESET, WRITESET_SESSION"
    source = "WL#7165; sql/rpl_trx_tracking.cc"
    dialects = tuple(TRACKERS)
    options = (
        Option(name="sessions", default=2, small=1, least=1, meaning="client sessions"),
        Option(
            name="history_size",
            default=25_000,
            greatest=1_000_000,
            meaning="items WRITESET remembers",
        ),
        Option(name="rotations", default=1, small=0, meaning="how often the binary log is rotated"),
        Option(
            name="statements",
            default=2,
            small=1,
            least=1,
            meaning="statements of a transaction, at most",
        ),
        Option(
            name="flavours",
            default=True,
            small=False,
            meaning="statements whose write set is incomplete",
        ),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        "commit_order": frozenset({"last_committed_is_minimal"}),
        "writeset": frozenset({"last_committed_is_minimal", "timestamps_keep_session_order"}),
        "writeset_session": frozenset({"last_committed_is_minimal"}),
    }
    causes: ClassVar[Mapping[str, Cause]] = {"timestamps_keep_session_order": SESSION_LOGS_TWO}
    causes_in: ClassVar[Mapping[str, Mapping[str, Cause]]] = {
        "commit_order": {"last_committed_is_minimal": COMMITTED_BETWEEN},
        "writeset": {"last_committed_is_minimal": WRITERS_FORGOTTEN},
        "writeset_session": {"last_committed_is_minimal": FORGOTTEN_OR_SESSION},
    }
    # The history lists all true dependencies, also those outside the write set.
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "": frozenset(
            {
                "a_barrier_meets_another_transaction",
                "barriers_are_ordered_with_all",
                "a_local_writer_comes_between",
            }
        )
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Run the sessions."""
        tracker = TRACKERS[dialect](int(options["history_size"]))
        SourceRun(tracker, schedule, workload, options, recorder).run()
        return (SOURCE,)


class SourceRun:
    """Sessions that execute, flush and commit stepwise."""

    def __init__(
        self,
        tracker: CommitOrderTracker,
        schedule: Schedule,
        workload: Workload,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> None:
        self.tracker = tracker
        self.schedule = schedule
        self.recorder = recorder
        self.rows = workload.row_names
        self.transactions_left = workload.transactions
        self.rotations_left = int(options["rotations"])
        self.statements_max = int(options["statements"])
        self.flavours = list(Flavour) if options["flavours"] else [Flavour.PLAIN]
        self.sessions = range(1, int(options["sessions"]) + 1)
        self.running: list[Running] = []
        self.clock = 0
        self.created = 0

    def run(self) -> None:
        """Choose steps until none is possible."""
        self.recorder.record(EventKind.STARTED, member=SOURCE)
        while steps := self.steps():
            self.recorder.next_step()
            self.schedule.choose(steps, "what happens next")()

    def steps(self) -> list[Callable[[], None]]:
        """Return the possible steps."""
        found: list[Callable[[], None]] = []
        flushed = [one for one in self.running if one.phase is Phase.FLUSHED]
        if flushed:
            # binlog_order_commits: the engine commits in the order of the binary log.
            found.append(lambda: self.commit(flushed[0]))
        for one in self.running:
            if one.phase is Phase.EXECUTING:
                if one.statements_left:
                    found.extend(self.statements_of(one))
                if one.depends_on:
                    found.append(lambda one=one: self.flush(one))  # type: ignore[misc]
        busy = {one.session for one in self.running}
        if self.transactions_left:
            for session in self.sessions:
                if session not in busy:
                    found.append(lambda s=session: self.begin(s))  # type: ignore[misc]
        # A rotation waits until all transactions in the file have committed.
        may_rotate = not flushed and bool(self.recorder.transactions)
        if self.rotations_left and self.transactions_left and may_rotate:
            found.append(self.rotate)
        return found

    def begin(self, session: int) -> None:
        """Begin a chosen transaction."""
        self.transactions_left -= 1
        flavour = self.schedule.choose(self.flavours, "flavour")
        statements = 1
        if flavour is Flavour.PLAIN and self.statements_max > 1:
            statements += self.schedule.choose(self.statements_max, "more statements")
        self.running.append(
            Running(
                session=session,
                flavour=flavour,
                tracked=TrackedTransaction(session=session),
                statements_left=statements,
            )
        )

    def statements_of(self, one: Running) -> list[Callable[[], None]]:
        """Return statements for unlocked rows."""
        found: list[Callable[[], None]] = []
        for position, row in enumerate(self.rows):
            touched = {row}
            if one.flavour is Flavour.CASCADING:
                touched.add(self.rows[(position + 1) % len(self.rows)])
            elif one.flavour is Flavour.KEYLESS:
                # All writers of a table see the same keys.
                touched = {f"{row}-keyless"}
            elif one.flavour is Flavour.MIXED:
                touched.add(f"{self.rows[0]}-keyless")
            if self.are_free(touched, one):
                found.append(
                    lambda row=row, touched=touched: self.execute(one, row, touched)  # type: ignore[misc]
                )
        return found

    def are_free(self, rows: set[str], one: Running) -> bool:
        """Return whether the rows are unlocked."""
        return all(
            rows.isdisjoint(other.depends_on)
            or (other.flavour is Flavour.BLOCKING and other.phase is Phase.FLUSHED)
            for other in self.running
            if other is not one
        )

    def execute(self, one: Running, row: str, touched: set[str]) -> None:
        """Execute and prepare one statement."""
        one.statements_left -= 1
        one.depends_on |= touched
        tracked = one.tracked
        match one.flavour:
            case Flavour.PLAIN:
                tracked.items |= {row}
            case Flavour.KEYLESS:
                tracked.has_missing_keys = True
            case Flavour.MIXED:
                tracked.items |= {row}
                tracked.has_missing_keys = True
            case Flavour.CASCADING:
                tracked.items |= {row}
                tracked.has_related_foreign_keys = True
            case Flavour.STATEMENT:
                tracked.is_empty = True
                tracked.logs_rows = False
            case Flavour.CREATE_SELECT:
                self.created += 1
                tracked.items |= {f"new{self.created}"}
                tracked.is_create_select = True
            case Flavour.BLOCKING:
                tracked.is_blocking = True
        self.tracker.on_statement_prepared(tracked)

    def flush(self, one: Running) -> None:
        """Log the transaction with its timestamp."""
        one.statements_left = 0
        one.phase = Phase.FLUSHED
        timestamp = self.tracker.on_flushed(one.tracked)
        one.id = self.recorder.add(
            Transaction(
                id=self.recorder.next_id(),
                session=f"s{one.session}",
                origin=SOURCE,
                write_set=frozenset(one.depends_on),
                timestamp=timestamp,
                clock=self.clock,
            )
        )
        self.recorder.record(
            EventKind.FLUSHED,
            member=SOURCE,
            transaction=one.id,
            timestamp=timestamp,
            session=f"s{one.session}",
            note=one.flavour.value,
        )
        # The flushed transactions commit in this order.
        self.running.remove(one)
        self.running.append(one)

    def commit(self, one: Running) -> None:
        """Commit, then release the locks."""
        self.tracker.on_engine_commit(one.tracked)
        self.running.remove(one)
        self.recorder.record(EventKind.ENGINE_COMMITTED, member=SOURCE, transaction=one.id)

    def rotate(self) -> None:
        """Begin a new binary log."""
        self.rotations_left -= 1
        self.clock += 1
        self.tracker.on_rotation()
        self.recorder.record(EventKind.RELAY_ROTATED, member=SOURCE)


SOURCE_TRACKERS = register_subject(SourceSubject())
