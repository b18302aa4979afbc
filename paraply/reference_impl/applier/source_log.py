"""The relay log of a serial source.

Write sets, operations, burned numbers, rotations and relay log files are choices. Images and
timestamps follow from them, so a correct replica ends in the source's state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.lc_sn import ParallelizationIndexes
from paraply.reference_impl.choices import Writes, choose_writes
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

TABLE = "d.t"


class Part(Enum):
    """Part of a transaction in an entry."""

    WHOLE = "whole"
    HEAD = "head"
    """GTID event and some rows."""
    TAIL = "tail"
    """The rest, without GTID event."""
    HALF = "half"
    """GTID event and some rows; the file ends, and the next one has the whole again."""
    ROTATE = "rotate"


@dataclass(frozen=True, slots=True)
class Entry:
    """A relay log entry or rotation."""

    part: Part
    transaction: Transaction | None = None


@dataclass(slots=True)
class RelayLog:
    """Relay log files, in commit order."""

    files: list[list[Entry]] = field(default_factory=lambda: [[]])

    def append(self, entry: Entry) -> None:
        """Write to the newest file."""
        self.files[-1].append(entry)

    def entries(self) -> list[Entry]:
        """Return the entries of all files."""
        return [entry for entries in self.files for entry in entries]

    def file_of_first_missing(self, executed: Sequence[TransactionId]) -> int:
        """Return the first missing transaction's file."""
        done = set(executed)
        for number, entries in enumerate(self.files):
            for entry in entries:
                if entry.transaction is not None and entry.transaction.id not in done:
                    return number
        return len(self.files) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """Limits of optional source actions."""

    barriers: bool
    rotations: int
    collections: int
    """Greatest number of garbage collections."""
    sessions: int
    view_changes: int
    """View changes, logged with (0, 0)."""
    reconnects: int = 0
    """Stops of the receiver within a transaction."""


class Source:
    """Executes transactions serially; AL1 stamps them."""

    def __init__(self, rows: Sequence[str], dialect: Dialect, settings: SourceSettings) -> None:
        self.settings = settings
        self.dialect = dialect
        self.clock = 0
        self.indexes = ParallelizationIndexes(dialect)
        self.item_writers: dict[Item, int] = {}
        self.values: dict[Item, object] = {}
        self.writers: dict[str, tuple[int, ...]] = dict.fromkeys(rows, ())
        self.log = RelayLog()
        self.relay_files_left = self.rotations_left = settings.rotations
        self.collections_left = settings.collections
        self.view_changes_left = settings.view_changes
        self.reconnects_left = settings.reconnects

    def execute(self, schedule: Schedule, recorder: Recorder, count: int) -> RelayLog:
        """Return a relay log."""
        for number in range(count):
            if number:
                self._between(schedule, recorder)
            self._one(schedule, recorder)
        return self.log

    def _between(self, schedule: Schedule, recorder: Recorder) -> None:
        options: list[Callable[[], None]] = []
        if self.relay_files_left:
            options.append(self.on_relay_log_full)
        if self.rotations_left:
            options.append(self.on_source_rotated)
        if self.collections_left and self.item_writers:
            options.append(self.on_garbage_collected)
        if self.view_changes_left:
            options.append(lambda: self.on_view_change(recorder))
        if self.reconnects_left:
            options.append(lambda: self.on_receiver_stopped(schedule))
        # Two choices keep random runs from splitting every transaction.
        if options and schedule.choose_index(2, "does anything happen between"):
            schedule.choose(options, "what happens between")()

    def on_relay_log_full(self) -> None:
        """Begin a new relay log file (max_relay_log_size, FLUSH RELAY LOGS)."""
        self.relay_files_left -= 1
        self.log.files.append([])

    def on_source_rotated(self) -> None:
        """Begin a new binary log."""
        self.rotations_left -= 1
        self.log.append(Entry(Part.ROTATE))
        self.clock += 1
        self.indexes = ParallelizationIndexes(self.dialect)
        self.item_writers.clear()

    def on_receiver_stopped(self, schedule: Schedule) -> None:
        """Stop within a transaction; the next file begins with it, or with the one before it.

        Killed, the receiver asks again for what it has not got whole. After CHANGE MASTER it
        begins at a position before.
        """
        self.reconnects_left -= 1
        *before, last = self.log.files[-1]
        assert last.transaction is not None
        rows = last.transaction.rows
        received = rows[: schedule.choose_index(len(rows) + 1, "rows received")]
        self.log.files[-1][-1] = Entry(Part.HALF, replace(last.transaction, rows=received))
        is_known = bool(before) and before[-1].part is Part.WHOLE
        is_before = is_known and schedule.choose_index(2, "is the one before sent again")
        self.log.files.append([Entry(Part.ROTATE), *(before[-1:] if is_before else []), last])

    def on_garbage_collected(self) -> None:
        """Purge all items."""
        self.collections_left -= 1
        self.indexes.on_garbage_collected()
        self.item_writers.clear()

    def on_view_change(self, recorder: Recorder) -> None:
        """Log a view change, keeping counters (EX7)."""
        self.view_changes_left -= 1
        transaction = Transaction(
            id=recorder.next_id(),
            kind=TransactionKind.VIEW_CHANGE,
            timestamp=self.indexes.on_view_change(),
            clock=self.clock,
        )
        recorder.add(transaction)
        self.log.append(Entry(Part.WHOLE, transaction))

    def _one(self, schedule: Schedule, recorder: Recorder) -> None:
        kind, items = self.choose_writes(schedule)
        transaction_id = recorder.next_id()
        session = schedule.choose_index(self.settings.sessions, "session") + 1
        transaction = Transaction(
            id=transaction_id,
            kind=kind,
            session=f"s{session}",
            write_set=frozenset(items),
            timestamp=self.stamp(kind, items),
            clock=self.clock,
            rows=tuple(self._write(schedule, transaction_id, item) for item in items),
        )
        recorder.add(transaction)
        for item in items:
            self.writers[item] += (transaction_id,)
        self.log.append(Entry(Part.WHOLE, transaction))

    def choose_writes(self, schedule: Schedule) -> Writes:
        """Return the next writes, in order."""
        return choose_writes(schedule, self.writers, barriers=self.settings.barriers)

    def choose_operation(self, schedule: Schedule) -> Operation:
        """Return an existing row's operation."""
        return schedule.choose([Operation.UPDATE, Operation.DELETE], "operation")

    def stamp(self, kind: TransactionKind, items: Sequence[Item]) -> LogicalTimestamp | None:
        """Return AL1's last_committed and sequence_number."""
        number = self.indexes.sequence_number
        if kind is TransactionKind.ROWS:
            found = [self.item_writers.get(item) for item in items]
            timestamp = self.indexes.on_remote_with_items(found)
        else:
            timestamp = self.indexes.on_remote_barrier()
        self.item_writers.update(dict.fromkeys(items, number))
        return timestamp

    def _write(self, schedule: Schedule, writer: TransactionId, item: Item) -> RowWrite:
        present = self.values.get(item)
        if present is None:
            operation = Operation.INSERT
        else:
            operation = self.choose_operation(schedule)
        value = None if operation is Operation.DELETE else int(writer)
        self.values[item] = value
        return RowWrite(
            table=TABLE,
            operation=operation,
            before=None if present is None else (item, present),
            after=None if value is None else (item, value),
        )
