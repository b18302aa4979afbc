"""What members of a group logged and showed, told as a history and judged.

Three transactions of two members: r1's own T2 overtakes T1, which r2 sent before it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import paraply.properties.all  # noqa: F401
from paraply.adapters.live.group.clients import GroupClients
from paraply.adapters.live.group.members import GroupSeen
from paraply.adapters.live.group.steps import BY_THEMSELVES, workload_named
from paraply.adapters.live.group.story import history_of_trace
from paraply.adapters.live.group.target import MYSQL_GROUP
from paraply.adapters.live.observed import Snapshot
from paraply.adapters.live.target import LiveRequest
from paraply.adapters.live.workload import WORKLOADS
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.group_trace import (
    GroupTrace,
    LoggedDecision,
    MemberRecovered,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import STATEMENTS, change, logged, update

GROUP = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
FIRST, SECOND = (f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2))
PREFIXES = "members_show_prefixes_of_their_commits"
BACK = "member_reads_never_go_back"
ORDER = "remote_transactions_commit_as_certified"
OWN = "own_transactions_commit_after_what_they_saw"
AHEAD = "position_covers_only_what_is_applied"
END = "final_state_is_the_sources"


def delivered(number, origin, items, snapshot=""):
    gtid = parse_gtid(f"{GROUP}:{number}")
    return TransactionDelivered(
        origin=origin,
        snapshot=parse_gtid_set(f"{GROUP}:{snapshot}") if snapshot else EMPTY_GTID_SET,
        items=items,
        decided={
            uuid: LoggedDecision(gtid)
            if uuid == origin
            else LoggedDecision(gtid, number, number + 1)
            for uuid in (FIRST, SECOND)
        },
    )


TRACE = GroupTrace(
    server_version="MySQL 9.7.4",
    group_name=GROUP,
    block_size=1,
    members=(FIRST, SECOND),
    steps=(
        ViewInstalled(members=(FIRST, SECOND), joined=(SECOND,), left=(), executed={}),
        MemberRecovered(member=SECOND),
        delivered(1, SECOND, ("one",)),
        delivered(2, FIRST, ("two",)),
        delivered(3, SECOND, ("one", "three"), snapshot="1"),
        delivered(4, SECOND, ("four",), snapshot="1"),
    ),
)


def named(make, number, *arguments, **fields):
    return make(number, *arguments, domain=None, gtid=f"{GROUP}:{number}", **fields)


T1, T2, T3 = (named(update, number, row) for number, row in ((1, 1), (2, 2), (3, 1)))
T4 = named(logged, 4, change("chain", (4, 0, 0), None))
SECONDS_LOG = (T1, T2, T3, T4)


def shot(there, one, two, *, chain=True, executed="", session="reader"):
    """Return a snapshot: the tags that are there, and who wrote rows 1 and 2 of ``account``."""
    return Snapshot(
        session=session,
        rows={
            "live0.account": [
                (row, 1, 100 + writer if writer else 0) for row, writer in ((1, one), (2, two))
            ],
            "live0.chain": [(4, 0, 0)] if chain else [],
        },
        gtid_position=f"{GROUP}:{executed}" if executed else "",
        tags=frozenset(100 + number for number in there),
    )


END_SHOT = shot((1, 2, 3, 4), 3, 2, chain=False, executed="1-4", session="final")


def story(*shots, log=(T2, T1, T3, T4), seconds=SECONDS_LOG, end=END_SHOT):
    """Return the history in which the first member has such a log, and showed such snapshots."""
    return history_of_trace(
        TRACE,
        seed=0,
        options={},
        clients=GroupClients(
            gtids={100 + number: f"{GROUP}:{number}" for number in range(1, 5)},
            journals=dict.fromkeys((FIRST, SECOND), END_SHOT.tags),
            executed=dict.fromkeys((FIRST, SECOND), END_SHOT.gtid_position),
        ),
        seen=GroupSeen(
            statements=STATEMENTS,
            witness=SECOND,
            logs={FIRST: log, SECOND: seconds},
            snapshots={FIRST: shots},
            finals={FIRST: end, SECOND: END_SHOT},
        ),
    ).check()


def judged(history, name):
    prop = property_named(name)
    return verdict_of(history, prop), [str(breach) for breach in prop.violations(history)]


def test_member_whose_own_transaction_overtakes_another_breaks_nothing():
    history = story(
        shot((2,), 0, 2, executed="2"), shot((1, 2), 1, 2), shot((1, 2, 3), 3, 2, executed="1-3")
    )
    for name in (PREFIXES, BACK, ORDER, AHEAD, END, "position_covers_all_that_is_applied"):
        assert judged(history, name) == (Verdict.HOLDS, []), name
    # In the order of certification the first of these snapshots never was.
    assert judged(history, "readers_see_prefixes")[0] is Verdict.VIOLATED
    assert property_named("members_commit_in_different_orders").witness(history)


def test_commits_and_snapshots_stand_in_the_order_of_the_members_log():
    history = story(shot((2,), 0, 2), shot((1, 2), 1, 2))
    mine = [
        "read" if event.kind is EventKind.READ else event.transaction
        for event in history.events_of(EventKind.ENGINE_COMMITTED, EventKind.READ)
        if event.member == "r1"
    ]
    assert mine == [2, "read", 1, "read", 3, 4, "read"]
    # r2 sent T3 when it had committed T1; of T2 and T3 nothing is known before the end.
    seconds = [
        (event.kind, event.transaction)
        for event in history.events_of(EventKind.CERTIFIED, EventKind.ENGINE_COMMITTED)
        if event.member == "r2"
    ]
    assert seconds.index((EventKind.ENGINE_COMMITTED, 1)) == 2
    assert seconds.index((EventKind.ENGINE_COMMITTED, 2)) == 5


@pytest.mark.parametrize(
    ("shots", "name", "text"),
    [
        (
            [shot((1, 2), 1, 0)],
            PREFIXES,
            "r1: a reader saw live0.account.PRIMARY(1) of T1 but not live0.account.PRIMARY(2) of"
            " T2, which was committed there first",
        ),
        (
            [shot((1,), 1, 2)],
            PREFIXES,
            "r1: a reader saw live0.account.PRIMARY(1) of T1 but not live0.journal.PRIMARY(102) of"
            " T2, which was committed there first",
        ),
        (
            [shot((1, 2), 1, 2), shot((2,), 0, 2)],
            BACK,
            "r1: after a read that included T1 a reader no longer saw live0.account.PRIMARY(1) of"
            " T1",
        ),
        (
            [shot((2,), 0, 2, executed="1-2")],
            AHEAD,
            f"on r1, read, position {GROUP}:1-2 covers T1, which is not applied",
        ),
    ],
    ids=["row missed", "journal missed", "went back", "position ahead"],
)
def test_snapshot_that_was_no_state_of_the_member_is_reported(shots, name, text):
    verdict, breaches = judged(story(*shots), name)
    assert verdict is Verdict.VIOLATED
    assert breaches == [text]


def test_row_that_is_gone_before_its_deletion_is_reported():
    assert judged(story(shot((1, 2, 3), 3, 2)), PREFIXES)[0] is Verdict.HOLDS
    assert judged(story(shot((1, 2), 1, 2, chain=False)), PREFIXES)[0] is Verdict.VIOLATED


def test_remote_transactions_that_the_member_commits_the_other_way_round_are_reported():
    _, breaches = judged(story(log=(T2, T1, T4, T3)), ORDER)
    assert breaches == ["r1 certified T3 before T4, both of other members, and committed T4 first"]


def test_own_transaction_before_the_remote_one_that_it_had_seen_is_reported():
    steps = list(TRACE.steps)
    steps[5] = delivered(4, FIRST, ("one",))
    trace = replace(TRACE, steps=tuple(steps))
    seen = GroupSeen(
        statements=STATEMENTS, witness=SECOND, logs={FIRST: (T4, T2, T1, T3), SECOND: SECONDS_LOG}
    )
    history = history_of_trace(trace, seed=0, options={}, seen=seen).check()
    assert judged(history, OWN)[0] is Verdict.VIOLATED


def test_member_that_ends_with_another_version_of_a_row_is_reported():
    _, breaches = judged(story(end=replace(END_SHOT, rows=shot((), 1, 2, chain=False).rows)), END)
    assert breaches == ["r1: live0.account.PRIMARY(1) is of T1, the source left T3"]


def test_rows_that_the_tables_were_filled_with_are_the_initial_state():
    filled = named(logged, 1, change("account", None, (1, 0, 0)))
    filled.rows.pop()  # It leaves no tag.
    log = (filled, *SECONDS_LOG[1:])
    seen = GroupSeen(
        statements=STATEMENTS, witness=SECOND, logs={FIRST: log, SECOND: log},
        snapshots={FIRST: [shot((2,), 0, 2)]},
    )  # fmt: skip
    history = history_of_trace(TRACE, seed=0, options={}, seen=seen).check()
    assert "live0.account.PRIMARY(1)" not in history.transaction(1).write_set
    assert judged(history, PREFIXES) == (Verdict.HOLDS, [])


def test_what_leaves_no_tag_stands_where_the_executed_set_puts_it():
    silent = named(logged, 4, kind=LoggedKind.DDL)
    logs = {"log": (T2, T1, T3, silent), "seconds": (T1, T2, T3, silent)}
    history = story(shot((1, 2, 3), 3, 2, executed="1-4"), **logs)
    assert judged(history, AHEAD)[0] is Verdict.HOLDS


@pytest.mark.parametrize("name", WORKLOADS)
def test_load_of_a_group_writes_only_tables_with_a_primary_key(name):
    does = workload_named(name)
    assert all("PRIMARY KEY" in one for one in does.statements if one.startswith("CREATE TABLE"))
    assert any(step not in BY_THEMSELVES for step, _ in does.steps)
    created = " ".join(one for one in does.statements if one.startswith("CREATE TABLE"))
    for table in (*does.tables, *(f"d.{one}" for one in does.read_tables), "d.journal"):
        assert f"CREATE TABLE {table} " in created


def test_load_that_a_mode_does_not_take_is_refused_with_what_to_do():
    for mode in MYSQL_GROUP.modes:
        for workload in MYSQL_GROUP.workloads:
            request = LiveRequest(mode=mode, workload=workload)
            if (mode, workload) != ("multi-primary", "ddl"):
                MYSQL_GROUP.check(request)
                continue
            with pytest.raises(ParaplyError, match="P624") as refused:
                MYSQL_GROUP.check(request)
            assert "another mode" in refused.value.remedy
