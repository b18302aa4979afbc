"""Families L, M and N: stalls, losses, needless waits."""

from __future__ import annotations

from paraply.adapters.conformance.cases.case import (
    ENDS,
    GOES_ON,
    NO_OVERLAP,
    ONCE,
    ORDER,
    OVERLAP,
    POSITIONS,
    PREFIXES,
    WHOLE,
    Case,
    T,
    bystanders,
    log_of,
)
from paraply.adapters.conformance.source import Change, SourceLog, insert, update

_OTHER_T = "CREATE TABLE e.t (id INT PRIMARY KEY, v INT)"
_SAME_VALUES = "CREATE TABLE d.u (id INT PRIMARY KEY, k INT, UNIQUE KEY uk (k))"
_ESPERANTO = (
    "CREATE TABLE d.n (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_esperanto_ci "
    "NOT NULL, v INT, PRIMARY KEY (name))"
)


def _many(_: int) -> SourceLog:
    log = log_of(T)
    bystanders(log, *range(1, 13))
    return log


def _mixed(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0))
    bystanders(log, 1, 2)
    log.transaction(update("d.t", {"id": 1}, v=1))
    bystanders(log, 3)
    log.transaction(update("d.t", {"id": 1}, v=2))
    bystanders(log, 4, 5)
    return log


def _with_everything(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0))
    bystanders(log, 1, 2)
    log.rotate()
    log.transaction(update("d.t", {"id": 1}, v=1))
    bystanders(log, 3)
    log.ddl("ALTER TABLE d.t ADD COLUMN w INT")
    bystanders(log, 4, 5)
    return log


def _drained(_: int) -> SourceLog:
    log = log_of(T)
    bystanders(log, 1, 2, 3)
    log.drain()
    log.transaction(insert("d.t", 1, 0))
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.drain()
    bystanders(log, 4, 5)
    return log


def _chain(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0))
    for value in range(1, 9):
        log.transaction(update("d.t", {"id": 1}, v=value))
    bystanders(log, 1, 2)
    return log


def _sessions(_: int) -> SourceLog:
    log = log_of(T)
    for number in range(1, 5):
        log.transaction(insert("d.other", number, 0), session="s1" if number % 2 else "s2")
    return log


def _alone(*tables: str, changes: tuple[tuple[Change, ...], ...]) -> SourceLog:
    log = log_of(*tables)
    for each in changes:
        log.transaction(*each)
    return log


def _independent(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0))
    log.transaction(insert("d.t", 2, 0))
    return log


def _wide(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(*(insert("d.t", number, 0) for number in range(1, 9)))
    bystanders(log, 1, 2)
    log.transaction(*(update("d.t", {"id": number}, v=1) for number in range(1, 5)))
    log.transaction(*(update("d.t", {"id": number}, v=1) for number in range(5, 9)))
    bystanders(log, 3)
    return log


def _empty_among(_: int) -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0))
    bystanders(log, 1)
    log.transaction(last_committed=1)  # A source may commit it in the previous group.
    bystanders(log, 2, 3)
    log.transaction(last_committed=4)
    log.transaction(update("d.t", {"id": 1}, v=1))
    bystanders(log, 4)
    return log


_ORDER_DOCUMENT = "replica_preserve_commit_order=ON"
_POSITION = frozenset({"position"})

CASES = (
    Case(
        id="L-order-01",
        fact="with commit order, more transactions than workers stall nobody",
        source="MySQL bugs 89247, 120281",
        decides=ENDS,
        log=_many,
        workers=2,
        commit_order=True,
    ),
    Case(
        id="L-order-02",
        fact="engine commits follow the log",
        source=_ORDER_DOCUMENT,
        decides=ORDER,
        log=_mixed,
        commit_order=True,
    ),
    Case(
        id="L-order-03",
        fact="readers see states that the source had",
        source="WL#4648, any-time consistency",
        decides=PREFIXES,
        log=_mixed,
        commit_order=True,
    ),
    Case(
        id="L-order-04",
        fact="commit order goes on across files and schema changes",
        source="MySQL bug 103636",
        decides=ENDS,
        log=_with_everything,
        commit_order=True,
    ),
    Case(
        id="L-retry-05",
        fact="a deadlock's victim is tried again, and nobody waits for it for ever",
        source="gh-ost PR 1665: gap locks",
        decides=ENDS,
        log=_mixed,
        deadlocks=2,
    ),
    Case(
        id="L-retry-06",
        fact="so it is with commit order, when the victim is next in line",
        source="MySQL bug 89247",
        decides=ORDER,
        log=_mixed,
        deadlocks=2,
        commit_order=True,
    ),
    Case(
        id="L-drain-07",
        fact="asked to finish what it has, the applier does, and goes on after",
        source="STOP REPLICA; FLUSH TABLES WITH READ LOCK",
        decides=ENDS,
        log=_drained,
        workers=2,
    ),
    Case(
        id="L-chain-08",
        fact="a chain of conflicts longer than there are workers ends",
        source="MySQL bug 120281",
        decides=ENDS,
        log=_chain,
        workers=3,
    ),
    Case(
        id="L-retry-09",
        fact="a transaction of several rows is repeated from its first row",
        source="MySQL manual, replica_transaction_retries; error 1213 rolls everything back",
        decides=WHOLE,
        log=_wide,
        deadlocks=6,
    ),
    Case(
        id="L-empty-10",
        fact="a transaction without rows takes its turn in commit order",
        source="GTID_NEXT with an empty transaction",
        decides=ORDER,
        log=_empty_among,
        commit_order=True,
    ),
    Case(
        id="M-once-01",
        fact="every transaction is applied once",
        source="dtle issue 574; gh-ost PR 1454",
        decides=ONCE,
        log=_mixed,
    ),
    Case(
        id="M-crash-02",
        fact="after a crash what was committed is skipped and the rest applied, gaps included",
        source="MySQL manual, START REPLICA UNTIL SQL_AFTER_MTS_GAPS",
        decides=ONCE,
        log=_mixed,
        crashes=1,
    ),
    Case(
        id="M-crash-03",
        fact="so it is after a second crash, and across files",
        source="WL#4648, recovery",
        decides=ONCE,
        log=_with_everything,
        crashes=2,
    ),
    Case(
        id="M-crash-04",
        fact="a crash makes no gaps where commits follow the log",
        source=_ORDER_DOCUMENT,
        decides=PREFIXES,
        log=_mixed,
        crashes=1,
        commit_order=True,
    ),
    Case(
        id="M-crash-05",
        fact="conflicts wait after a crash as they did before",
        source="WL#4648, recovery",
        decides=NO_OVERLAP,
        log=_chain,
        crashes=1,
    ),
    Case(
        id="M-position-06",
        fact="a checkpoint covers only what is committed",
        source="maxwell issue 2016",
        decides=POSITIONS,
        log=_mixed,
        needs=_POSITION,
    ),
    Case(
        id="M-position-07",
        fact="what a checkpoint covers is not lost in a crash",
        source="maxwell issue 2016",
        decides=ONCE,
        log=_mixed,
        crashes=1,
        needs=_POSITION,
    ),
    Case(
        id="M-session-08",
        fact="transactions of one session become visible in its order",
        source="WL#8440, session commit order",
        decides="sessions_keep_their_order",
        log=_sessions,
        commit_order=True,
    ),
    Case(
        id="N-parallel-01",
        fact="two rows with different keys are applied side by side",
        source="WL#7165",
        decides=OVERLAP,
        log=_independent,
        must_overlap=True,
    ),
    Case(
        id="N-parallel-02",
        fact="1 in the PRIMARY key and 1 in a UNIQUE key are two values",
        source="dm issue 2035",
        decides=OVERLAP,
        log=lambda _: _alone(
            _SAME_VALUES, changes=((insert("d.u", 1, 2),), (insert("d.u", 3, 1),))
        ),
        must_overlap=True,
    ),
    Case(
        id="N-parallel-03",
        fact="one value in two tables is two keys",
        source="dm issue 2035",
        decides=OVERLAP,
        log=lambda _: _alone(T, changes=((insert("d.t", 1, 0),), (insert("d.other", 1, 0),))),
        must_overlap=True,
    ),
    Case(
        id="N-parallel-04",
        fact="tables of one name in two schemas are two tables",
        source="tiflow issue 12350: routed names",
        decides=OVERLAP,
        log=lambda _: _alone(T, _OTHER_T, changes=((insert("d.t", 1, 0),), (insert("e.t", 1, 0),))),
        must_overlap=True,
    ),
    Case(
        id="N-fallback-05",
        fact="a collation that the applier cannot fold makes it slower, not stop",
        source="Vitess PR 19535, second thread",
        decides=GOES_ON,
        log=lambda _: _alone(
            _ESPERANTO,
            changes=(
                (insert("d.other", 1, 0),),
                (insert("d.n", "ĉio", 1),),
                (insert("d.n", "ĝuo", 1),),
                (insert("d.other", 2, 0),),
            ),
        ),
    ),
    Case(
        id="N-parallel-06",
        fact="updates of two rows of one table run side by side after both were inserted",
        source="tiflow issue 12296",
        decides=OVERLAP,
        log=lambda _: _updates(),
        must_overlap=True,
    ),
)


def _updates() -> SourceLog:
    log = log_of(T)
    log.transaction(insert("d.t", 1, 0), insert("d.t", 2, 0))
    log.drain()
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.transaction(update("d.t", {"id": 2}, v=1))
    return log
