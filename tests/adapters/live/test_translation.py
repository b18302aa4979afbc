"""From observations to histories, and what the properties then say of them."""

from __future__ import annotations

import pytest

import paraply.properties.all
from paraply.adapters.live.observed import Restart, Touch
from paraply.adapters.live.translation import commit_groups
from paraply.properties.registry import property_named, verdict_of
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.adapters.live.observations import change, final, logged, snapshot, told, update

assert paraply.properties.all


def verdict(history, name):
    return verdict_of(history, property_named(name))


def breaches(history, name):
    return [str(one) for one in property_named(name).violations(history)]


def touch(number, row, *, connection=1, table="account"):
    return Touch(connection=connection, gtid=f"0-1-{number}", table=f"live0.{table}", key=row)


def touches(number, row, *, connection=1):
    """Return the touches of one whole attempt of ``update(number, row)``."""
    journal = touch(number, 100 + number, connection=connection, table="journal")
    return [touch(number, row, connection=connection), journal]


def test_replica_log_in_source_order_holds():
    log = [update(1, 1), update(2, 2), update(3, 1)]
    history = told(log, log, final=final(3, {1: 3, 2: 2}))
    for name in (
        "replica_logs_domains_in_order",
        "no_event_is_applied_twice",
        "no_event_is_lost",
        "gtids_name_one_transaction",
        "final_state_is_the_sources",
        "tables_end_as_the_sources",
        "position_covers_all_that_is_applied",
        "stop_points_are_prefixes",
    ):
        assert verdict(history, name) is Verdict.HOLDS, name


def test_replica_log_with_two_swapped_is_out_of_order():
    source = [update(1, 1), update(2, 2)]
    replica = [update(2, 2, place=1), update(1, 1, place=2)]
    found = breaches(told(source, replica), "replica_logs_domains_in_order")
    assert found == ["replica1: T2 was logged before T1, which comes first"]


def test_swap_between_domains_is_in_order():
    source = [update(1, 1, domain=0), update(2, 2, domain=1), update(3, 1, domain=0)]
    replica = [update(2, 2, domain=1, place=1), update(1, 1, place=2), update(3, 1, place=3)]
    assert verdict(told(source, replica), "replica_logs_domains_in_order") is Verdict.HOLDS


def test_transaction_without_a_row_in_the_journal_at_the_end_is_lost():
    log = [update(1, 1), update(2, 2), update(3, 1)]
    history = told(log, [log[0], log[2]], final=final(3, {1: 3, 2: 0}, missing={2}))
    assert breaches(history, "no_event_is_lost") == [
        "replica1 has nothing left to read from source and lacks T2"
    ]


def test_same_gtid_with_rows_of_another_transaction_names_two():
    source = [update(1, 1), update(2, 2)]
    replica = [update(1, 1), update(2, 2, place=2, gtid="0-1-1")]
    assert verdict(told(source, replica), "gtids_name_one_transaction") is Verdict.VIOLATED


def test_snapshot_of_a_prefix_holds():
    log = [update(1, 1), update(2, 2), update(3, 1)]
    history = told(log, log, snapshots=[snapshot(1, {1: 1, 2: 0}), snapshot(2, {1: 1, 2: 2})])
    assert verdict(history, "domains_are_read_in_order") is Verdict.HOLDS


def test_snapshot_that_misses_an_earlier_write_never_existed():
    log = [update(1, 1), update(2, 2), update(3, 3)]
    history = told(log, log, snapshots=[snapshot(2, {1: 0, 2: 2})])
    assert breaches(history, "domains_are_read_in_order") == [
        "replica1: a reader saw live0.account.PRIMARY(2) of T2 but not live0.account.PRIMARY(1) "
        "of T1, which comes first: the source never was so"
    ]


def test_later_snapshot_that_shows_less_went_back():
    log = [update(1, 1), update(2, 2)]
    history = told(log, log, snapshots=[snapshot(1, {1: 1, 2: 0}), snapshot(0, {1: 0, 2: 0})])
    assert any("no longer" in one for one in breaches(history, "domains_are_read_in_order"))


CHAIN = [
    logged(1, change("chain", None, (7, 0, 101))),
    logged(2, change("chain", (7, 0, 101), None)),
    logged(3, change("chain", None, (7, 0, 103))),
    update(4, 1),
]


@pytest.mark.parametrize(
    ("place", "accounts", "chain", "expected"),
    [
        (1, {1: 0}, [(7, 1)], Verdict.HOLDS),
        (2, {1: 0}, [], Verdict.HOLDS),
        (3, {1: 0}, [(7, 3)], Verdict.HOLDS),
        (4, {1: 4}, [], Verdict.VIOLATED),
        (4, {1: 4}, [(7, 1)], Verdict.VIOLATED),
    ],
    ids=["inserted", "deleted", "inserted again", "gone too late", "old version"],
)
def test_absence_of_a_row_is_laid_to_who_deleted_it(place, accounts, chain, expected):
    history = told(CHAIN, CHAIN, snapshots=[snapshot(place, accounts, chain=chain)])
    read = next(history.events_of(EventKind.READ))
    assert dict(read.observed)["live0.chain.PRIMARY(7)"] == (chain[0][1] if chain else 2)
    assert bool(breaches(history, "domains_are_read_in_order")) is (expected is Verdict.VIOLATED)


def test_touch_after_the_commit_of_the_earlier_writer_holds():
    log = [update(1, 1), update(2, 2), update(3, 1)]
    seen = [touch(2, 2, connection=2), *touches(1, 1), touches(2, 2, connection=2)[1]]
    history = told(log, log, touches=[*seen, *touches(3, 1)])
    assert verdict(history, "domains_apply_without_conflict") is Verdict.HOLDS
    assert verdict(history, "domains_commit_in_order") is Verdict.HOLDS


def test_touch_before_the_commit_of_the_earlier_writer_is_conflicting_apply():
    log = [update(1, 1), update(2, 1)]
    first = touches(1, 1)
    later = touches(2, 1, connection=2)
    history = told(log, log, touches=[first[0], later[0], first[1], later[1]])
    assert breaches(history, "domains_apply_without_conflict") == [
        "replica1: T2 changed live0.account.PRIMARY(1) before T1 had committed"
    ]


def test_attempt_that_was_undone_is_no_conflicting_apply():
    log = [update(1, 1), update(2, 1)]
    undone = touch(2, 1, connection=2)
    history = told(log, log, touches=[undone, *touches(1, 1), *touches(2, 1, connection=2)])
    assert not breaches(history, "domains_apply_without_conflict")
    assert sum(event.kind is EventKind.ROLLED_BACK for event in history.events) == 1
    committed = list(history.events_of(EventKind.ENGINE_COMMITTED))
    assert [(event.transaction, event.attempt) for event in committed] == [(1, 1), (2, 2)]


def test_restart_with_the_position_of_what_it_has_holds():
    log = [update(1, 1), update(2, 2), update(3, 1)]
    restart = Restart(file="bin.000001", offset=300, tags=frozenset({101, 102}),
                      gtid_position="0-1-2")  # fmt: skip
    history = told(log, log, restarts=[restart], final=final(3, {1: 3, 2: 2}))
    for name in ("position_covers_only_what_is_applied", "position_covers_all_that_is_applied"):
        assert verdict(history, name) is Verdict.HOLDS, name
    assert verdict(history, "no_event_is_applied_twice") is Verdict.HOLDS


@pytest.mark.parametrize(
    ("position", "broken"),
    [
        ("0-1-3", "position_covers_only_what_is_applied"),
        ("0-1-1", "position_covers_all_that_is_applied"),
    ],
)
def test_restart_with_a_position_that_is_not_its_data_is_found(position, broken):
    log = [update(1, 1), update(2, 2), update(3, 1)]
    restart = Restart(file="bin.000001", offset=300, tags=frozenset({101, 102}),
                      gtid_position=position)  # fmt: skip
    history = told(log, log, restarts=[restart], final=final(3, {1: 3, 2: 2}))
    assert verdict(history, broken) is Verdict.VIOLATED


def test_applier_that_failed_is_judged_for_that_alone():
    log = [update(1, 1), update(2, 2)]
    history = told(log, log[:1], applier_error="Error_code: 1032", final=final(1, {1: 1, 2: 0}))
    assert verdict(history, "sound_log_never_fails") is Verdict.VIOLATED
    assert verdict(history, "no_event_is_lost") is Verdict.UNKNOWN
    assert verdict(history, "final_state_is_the_sources") is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        ("Error_code: 1032", 2),
        ("Error 1032, Gtid 0-1-3, Internal MariaDB error code: 1032", 3),
        ("An attempt was made to binlog GTID 0-1-1 after existing GTID 0-1-2", 1),
        ("failed executing transaction '0-1-3' at source log bin.000001, end_log_pos 7", 3),
    ],
)
def test_applier_failed_at_the_transaction_that_its_error_names(error, failed):
    log = [update(1, 1), update(2, 2), update(3, 3)]
    history = told(log, log[:1], applier_error=error, final=final(1, {1: 1, 2: 0, 3: 0}))
    (event,) = history.events_of(EventKind.FAILED)
    assert event.transaction == history.transactions[failed - 1].id
    assert event.note == error


def test_table_that_differs_at_the_end_has_diverged():
    log = [update(1, 1)]
    history = told(log, log, final=final(1, {1: 1}, differing={"live0.account"}))
    assert verdict(history, "tables_end_as_the_sources") is Verdict.VIOLATED


def test_nothing_observed_is_unknown():
    history = told([], [])
    for name in ("replica_logs_domains_in_order", "domains_are_read_in_order", "no_event_is_lost"):
        assert verdict(history, name) is Verdict.UNKNOWN, name


def test_schema_change_is_known_by_its_gtid():
    source = [logged(1, kind=LoggedKind.DDL), update(2, 1)]
    history = told(source, source, final=final(2, {1: 2}))
    assert verdict(history, "no_event_is_lost") is Verdict.HOLDS
    assert verdict(history, "replica_logs_domains_in_order") is Verdict.HOLDS


def test_commit_groups_are_neighbours_with_one_commit_id():
    assert commit_groups([5, 5, None, None, 5, 6, 6]) == [1, 1, 2, 3, 4, 5, 5]
