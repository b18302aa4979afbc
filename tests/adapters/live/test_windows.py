"""Windows of workers become a history in which overlaps are seen and late ends do no harm."""

from __future__ import annotations

import pytest

import paraply.properties.all  # noqa: F401
from paraply.adapters.live.observed import Member
from paraply.adapters.live.pair.mysql.lab import of_one_table
from paraply.adapters.live.pair.windows import Window, WindowStory, commit_times
from paraply.adapters.live.source_log import Keys, source_log
from paraply.adapters.live.translation import SOURCE, source_events
from paraply.properties.apply.parallel_apply import two_transactions_overlap
from paraply.properties.registry import property_named
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import Clock, EvidenceTier, History, HistoryHeader
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind
from tests.adapters.live.observations import STATEMENTS, update

ROWS = {1: 1, 2: 2, 3: 1}
"""Transaction -> the row that it updates: the third needs the first."""


def window(number, start, end, *, worker=1, is_committed=True):
    return Window(
        gtid=f"0-1-{number}", worker=worker, is_committed=is_committed, start=start, end=end
    )


def told(windows, order=(1, 2, 3)):
    keys = Keys(STATEMENTS)
    log = source_log([update(number, row) for number, row in ROWS.items()], keys)
    member = Member(
        name="replica1",
        log=[update(n, ROWS[n], place=place) for place, n in enumerate(order, start=1)],
    )
    story = WindowStory(log, member, keys, windows)
    events = [*source_events(log), *story.events()]
    history = History(
        header=HistoryHeader(
            members=(SOURCE, "replica1"), clock=Clock.ORDER, tier=EvidenceTier.ROW_OUTCOMES
        ),
        transactions=log.transactions,
        events=tuple(e._replace(time=LogicalTime(n)) for n, e in enumerate(events, start=1)),
        is_complete=True,
    )
    return story, history.check()


def broken(history, name):
    return len(property_named(name).violations(history))


def test_conflicting_transaction_that_begins_after_the_end_is_in_order():
    story, history = told([window(1, 0, 10), window(2, 1, 8, worker=2), window(3, 11, 20)])
    assert story.covered == 3
    assert broken(history, "no_conflicting_parallel_apply") == 0
    assert broken(history, "engine_commits_follow_the_log") == 0
    assert two_transactions_overlap(history)


def test_conflicting_transaction_that_begins_before_the_end_is_found():
    _, history = told([window(1, 0, 10), window(2, 1, 12, worker=2), window(3, 9, 20, worker=3)])
    assert broken(history, "no_conflicting_parallel_apply") == 1


def test_ends_in_another_order_than_the_log_are_no_inversion():
    # The second ends first, but the log has its commit behind the first's.
    _, history = told([window(1, 0, 15), window(2, 1, 8, worker=2), window(3, 16, 20)])
    assert broken(history, "engine_commits_follow_the_log") == 0
    assert broken(history, "no_conflicting_parallel_apply") == 0


def test_log_in_another_order_is_an_inversion():
    _, history = told(
        [window(1, 0, 15), window(2, 1, 8, worker=2), window(3, 16, 20)], order=(2, 1, 3)
    )
    assert broken(history, "engine_commits_follow_the_log") == 1


def test_attempt_that_was_rolled_back_is_told_and_not_judged():
    windows = [window(3, 2, 5, worker=2, is_committed=False), window(1, 0, 10)]
    windows += [window(2, 1, 8, worker=3), window(3, 11, 20, worker=2)]
    _, history = told(sorted(windows, key=lambda one: one.start))
    assert broken(history, "no_conflicting_parallel_apply") == 0
    kinds = [(e.kind, e.attempt) for e in history.events if e.transaction == TransactionId(3)]
    assert (EventKind.ROLLED_BACK, 1) in kinds
    assert (EventKind.ENGINE_COMMITTED, 2) in kinds


def test_transaction_without_a_window_still_commits_where_the_log_says():
    story, history = told([window(1, 0, 10), window(3, 11, 20)])
    assert story.covered == 2
    commits = [
        e.transaction for e in history.events
        if e.kind is EventKind.ENGINE_COMMITTED and e.member == "replica1"
    ]  # fmt: skip
    assert commits == [1, 2, 3]


def test_transaction_whose_beginning_nobody_saw_commits_and_is_no_attempt():
    _, history = told([window(1, None, 10), window(2, 1, 8, worker=2), window(3, 11, 20)])
    begun = [event.transaction for event in history.events_of(EventKind.BEGUN)]
    assert begun == [2, 3]
    # Its commit stands where it was seen: the third, which needs it, began after that.
    assert broken(history, "no_conflicting_parallel_apply") == 0


@pytest.mark.parametrize(
    ("ends", "expected"),
    [([], []), ([None], [None]), ([5, 4, 3], [3, 3, 3]), ([1, None], [1, None])],
)
def test_commits_are_no_later_than_any_end_behind_them(ends, expected):
    assert commit_times(ends) == expected


def test_schema_change_of_the_load_writes_the_table_it_names():
    ddl = Transaction(
        id=TransactionId(1),
        kind=TransactionKind.DDL,
        statement="ALTER TABLE `live0`.`scratch` ADD COLUMN c1 INT",
    )
    assert of_one_table(ddl).write_set == {"live0.scratch"}
    other = Transaction(
        id=TransactionId(1), kind=TransactionKind.DDL, statement="CREATE DATABASE x"
    )
    assert of_one_table(other) is other
