"""Snapshots that show the journal say themselves where they lie; a reader takes them in order."""

from __future__ import annotations

import paraply.properties.all
from paraply.adapters.live.observed import Snapshot
from paraply.adapters.live.readers import JournalReader
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import change, logged, told, update

assert paraply.properties.all
UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
AHEAD = "position_covers_only_what_is_applied"
PREFIX = "readers_see_prefixes"
BACK = "reads_never_go_back"


def numbered(number, make=update, *arguments, **fields):
    return make(number, *arguments, domain=None, gtid=f"{UUID}:{number}", **fields)


LOG = [
    numbered(1, update, 1),
    numbered(2, update, 2),
    numbered(3, logged, kind=LoggedKind.DDL),
    numbered(4, update, 3),
]


def seen(there, accounts, executed):
    """Return a snapshot with the tags of some transactions, and what was executed before it."""
    return Snapshot(
        session="reader",
        rows={
            "live0.account": [(row, 1, 100 + one if one else 0) for row, one in accounts.items()]
        },
        gtid_position=f"{UUID}:{executed}" if executed else "",
        tags=frozenset(100 + one for one in there),
    )


def story(*snapshots, log=LOG):
    return told(log, log, snapshots=list(snapshots))


def places(history):
    """Return how many transactions the replica had committed before each read."""
    found, committed = [], 0
    for event in history.events:
        if event.member == "replica1":
            committed += event.kind is EventKind.ENGINE_COMMITTED
            if event.kind is EventKind.READ:
                found.append(committed)
    return found


def verdict(history, name):
    return verdict_of(history, property_named(name))


def test_snapshot_stands_behind_the_last_that_it_shows():
    history = story(
        seen([], {1: 0, 2: 0, 3: 0}, ""), seen([1], {1: 1, 2: 0, 3: 0}, "1"),
        seen([1, 2, 4], {1: 1, 2: 2, 3: 4}, "1-2"),
    )  # fmt: skip
    assert places(history) == [0, 1, 4]
    for name in (AHEAD, PREFIX, BACK):
        assert verdict(history, name) is Verdict.HOLDS, name


def test_schema_change_that_was_executed_before_stands_before_the_snapshot():
    history = story(seen([1, 2], {1: 1, 2: 2, 3: 0}, "1-3"))
    assert places(history) == [3]
    assert verdict(history, AHEAD) is Verdict.HOLDS
    assert places(story(seen([1, 2], {1: 1, 2: 2, 3: 0}, "1-2"))) == [2]


def test_executed_set_with_what_the_snapshot_does_not_show_is_ahead():
    history = story(seen([1, 2], {1: 1, 2: 2, 3: 0}, "1-4"))
    (breach,) = property_named(AHEAD).violations(history)
    assert (breach.transaction, breach.when) == (4, EventKind.READ)


def test_schema_change_does_not_hide_what_is_missing_before_it():
    history = story(seen([1], {1: 1, 2: 0, 3: 0}, "1:3"))
    assert places(history) == [1]
    assert verdict(history, AHEAD) is Verdict.VIOLATED


def test_hole_in_the_journal_is_a_state_that_never_existed():
    # Nothing that is read tells of the second: the journal alone does.
    log = [numbered(1, update, 1), numbered(2, logged, change("bulk", None, (9, 102))),
           numbered(3, update, 1)]  # fmt: skip
    history = story(seen([1, 3], {1: 3}, "1:3"), log=log)
    (breach,) = property_named(PREFIX).violations(history)
    assert (breach.seen, breach.missed) == (3, 2)
    assert breach.missed_item == "live0.journal.PRIMARY(102)"


def test_later_snapshot_with_a_shorter_journal_went_back():
    history = story(seen([1, 2], {1: 1, 2: 2, 3: 0}, "1-2"), seen([1], {1: 1, 2: 0, 3: 0}, "1"))
    assert verdict(history, BACK) is Verdict.VIOLATED


class Cursor:
    """Answers as a replica would, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def execute(self, statement):
        self.asked.append(statement)

    def fetchone(self):
        return (f"{UUID}:1-2,\n{UUID.replace('3', '4')}:1",)

    def fetchall(self):
        return [(3_000_001,), (3_000_002,)] if "journal" in self.asked[-1] else [(1, 0, 3_000_002)]


def test_reader_asks_what_was_executed_before_it_takes_the_snapshot():
    cursor = Cursor()
    shot = JournalReader(None, ["live0", "live1"], round_number=3).read(cursor)
    executed = next(n for n, one in enumerate(cursor.asked) if "gtid_executed" in one)
    begun = next(n for n, one in enumerate(cursor.asked) if "CONSISTENT SNAPSHOT" in one)
    assert executed < begun
    assert cursor.asked[-1] == "COMMIT"
    assert "SELECT w FROM live1.journal WHERE w >= 3000000" in cursor.asked
    assert shot.gtid_position == f"{UUID}:1-2,{UUID.replace('3', '4')}:1"
    assert shot.tags == {3_000_001, 3_000_002}
    assert "live1.account" in shot.rows
