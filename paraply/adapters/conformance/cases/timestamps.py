"""Families A, B and C: sequence_number and last_committed across files and gaps."""

from __future__ import annotations

from paraply.adapters.conformance.cases.case import (
    AS_LOGGED,
    ENDS,
    NO_OVERLAP,
    ONCE,
    Case,
    T,
    bystanders,
    empty_log,
    log_of,
)
from paraply.adapters.conformance.source import SourceLog, delete, insert, update

_GH_OST = "gh-ost PR 1454, comment of 2026-04-29"


def _rows(log: SourceLog, *numbers: int) -> None:
    for number in numbers:
        log.transaction(insert("d.t", number, 0))


def _stale_mark(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1, 2, 3, 4, 5)
    log.rotate()
    bystanders(log, 1)
    log.transaction(insert("d.t", 9, 1))
    log.transaction(update("d.t", {"id": 9}, v=2))
    log.transaction(update("d.t", {"id": 9}, v=3))
    bystanders(log, 2)
    return log


def _across_files(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    log.rotate()
    log.transaction(update("d.t", {"id": 1}, v=2))
    bystanders(log, 1, 2)
    return log


def _empty_file(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    bystanders(log, 1)
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.rotate()
    log.rotate()
    log.transaction(update("d.t", {"id": 1}, v=2))
    bystanders(log, 2, 3)
    return log


def _waits_when_it_rotates(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1, 2)
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.transaction(update("d.t", {"id": 2}, v=1))
    log.transaction(update("d.t", {"id": 1}, v=2))
    log.rotate()
    _rows(log, 3, 4)
    log.transaction(update("d.t", {"id": 3}, v=1))
    return log


def _longer_file(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    log.rotate()
    _rows(log, 2, 3, 4, 5)
    log.transaction(update("d.t", {"id": 5}, v=1))
    log.transaction(delete("d.t", id=5))
    return log


def _old_numbers_are_gone(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1, 2, 3)
    log.drain()
    log.rotate()
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.transaction(update("d.t", {"id": 1}, v=2))
    bystanders(log, 1, 2)
    return log


def _prefix(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0))
    bystanders(log, 1)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=3)
    bystanders(log, 2)
    return log


def _long_prefix(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    bystanders(log, 1, 2, 3)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=5)
    log.transaction(delete("d.t", id=1), last_committed=6)
    return log


def _middle(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1, 2, 3)
    log.transaction(update("d.t", {"id": 2}, v=1), last_committed=3)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=3)
    bystanders(log, 1)
    return log


def _commit_order_stamps(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1, 2)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=3)
    log.transaction(update("d.t", {"id": 2}, v=1), last_committed=3)
    log.transaction(update("d.t", {"id": 2}, v=2), last_committed=5)
    log.transaction(update("d.t", {"id": 1}, v=2), last_committed=5)
    return log


def _burned(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    log.skip_numbers(1)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=3)
    bystanders(log, 1)
    log.skip_numbers(2)
    log.transaction(update("d.t", {"id": 1}, v=2), last_committed=7)
    bystanders(log, 2)
    return log


def _starts_high(_: int) -> SourceLog:
    log = empty_log(T)
    log.transaction(insert("d.t", 1, 0), last_committed=999, sequence_number=1000)
    bystanders(log, 1)
    log.transaction(update("d.t", {"id": 1}, v=1))
    bystanders(log, 2)
    return log


def _every_third(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    for value in range(1, 5):
        log.skip_numbers(2)
        log.transaction(update("d.t", {"id": 1}, v=value))
        bystanders(log, value)
    return log


def _beyond_32_bits(_: int) -> SourceLog:
    log = log_of(T)
    first = (1 << 32) - 1
    log.transaction(insert("d.t", 1, 0), last_committed=1, sequence_number=first)
    bystanders(log, 1)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=first + 1)
    bystanders(log, 2)
    return log


def _gap_after_rotation(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1, 2)
    log.rotate()
    log.skip_numbers(3)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=3)
    log.transaction(update("d.t", {"id": 2}, v=1), last_committed=3)
    log.transaction(update("d.t", {"id": 1}, v=2))
    return log


def _gap_hides_the_rotation(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    bystanders(log, 1)
    log.rotate()
    log.skip_numbers(6)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=1)
    bystanders(log, 2, 3)
    return log


def _filtered_parent(_: int) -> SourceLog:
    log = log_of(T)
    _rows(log, 1)
    log.skip_numbers(1)
    bystanders(log, 1)
    log.transaction(update("d.t", {"id": 1}, v=1), last_committed=3)
    bystanders(log, 2, 3)
    return log


CASES = (
    Case(
        id="A-rotation-01",
        fact="the low-water mark of the old file lets nothing pass in the new one",
        source=_GH_OST,
        decides=NO_OVERLAP,
        log=_stale_mark,
    ),
    Case(
        id="A-rotation-02",
        fact="what is under way from the old file ends before a conflicting one of the new begins",
        source="WL#7165; MySQL manual, replica_parallel_type",
        decides=NO_OVERLAP,
        log=_across_files,
    ),
    Case(
        id="A-rotation-03",
        fact="a file without a transaction changes nothing of that",
        source="FLUSH BINARY LOGS twice in a row",
        decides=NO_OVERLAP,
        log=_empty_file,
    ),
    Case(
        id="A-rotation-04",
        fact="a transaction that waits when the log rotates still gets its turn, once",
        source="gh-ost PR 1692",
        decides=ONCE,
        log=_waits_when_it_rotates,
    ),
    Case(
        id="A-rotation-05",
        fact="a number that the old file never reached is waited for in the new one",
        source="Percona PS-11080: merged logs repeat their numbers",
        decides=NO_OVERLAP,
        log=_longer_file,
    ),
    Case(
        id="A-rotation-06",
        fact="numbers completed in the old file do not count as completed in the new one",
        source=_GH_OST,
        decides=NO_OVERLAP,
        log=_old_numbers_are_gone,
    ),
    Case(
        id="B-prefix-01",
        fact="last_committed=3 waits for 2 as well as for 3",
        source="gh-ost PR 1454, coordinator.go as restated",
        decides=NO_OVERLAP,
        log=_prefix,
    ),
    Case(
        id="B-prefix-02",
        fact="last_committed waits for every number below it, however many are done above one",
        source="WL#7165, low-water mark",
        decides=NO_OVERLAP,
        log=_long_prefix,
    ),
    Case(
        id="B-prefix-03",
        fact="numbers above last_committed need not be done, numbers up to it must",
        source="WL#7165, low-water mark",
        decides=NO_OVERLAP,
        log=_middle,
    ),
    Case(
        id="B-groups-04",
        fact="a group waits for all of the group before it",
        source="binlog_transaction_dependency_tracking=COMMIT_ORDER",
        decides=NO_OVERLAP,
        log=_commit_order_stamps,
    ),
    Case(
        id="C-sparse-01",
        fact="numbers that no transaction has are not waited for",
        source="gh-ost PR 1692; the burned number of MySQL 8.0",
        decides=ENDS,
        log=_burned,
    ),
    Case(
        id="C-sparse-02",
        fact="a log may begin with any number",
        source="START REPLICA in the middle of a file",
        decides=ENDS,
        log=_starts_high,
    ),
    Case(
        id="C-sparse-03",
        fact="with two of three numbers filtered out, conflicts still wait",
        source="gh-ost PR 1692",
        decides=NO_OVERLAP,
        log=_every_third,
    ),
    Case(
        id="C-sparse-04",
        fact="sequence numbers need 64 bits",
        source="MySQL bug 103636: 2^31 tickets",
        decides=AS_LOGGED,
        log=_beyond_32_bits,
    ),
    Case(
        id="C-sparse-05",
        fact="a file may begin with a gap",
        source="filtered stream after FLUSH BINARY LOGS",
        decides=ENDS,
        log=_gap_after_rotation,
    ),
    Case(
        id="A-rotation-07",
        fact="rotation begins a file, also where sequence numbers do not fall",
        source="gh-ost PR 1692; filtered stream after FLUSH BINARY LOGS",
        decides=NO_OVERLAP,
        log=_gap_hides_the_rotation,
    ),
    Case(
        id="C-sparse-06",
        fact="a last_committed that was filtered out still stands for everything below it",
        source="gh-ost PR 1692",
        decides=NO_OVERLAP,
        log=_filtered_parent,
    ),
)
