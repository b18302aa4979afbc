"""Every place where the text of WL#8440, its examples and the servers disagree.

docs/wl8440-review.md has a line for each, under the letter in the name of the test.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import paraply.properties.all
import paraply.reference_impl.subjects  # noqa: F401 - registers
from paraply.counterexamples.hunt import properties_of, system_of
from paraply.properties.certification.timestamps import (
    barriers_are_ordered_with_all,
    conflicting_transactions_are_ordered,
    last_committed_is_below_sequence_number,
    sequence_numbers_increase,
)
from paraply.properties.registry import property_named
from paraply.properties.search import random_schedules, search
from paraply.reference_impl.applier.coordinator import LogicalClock
from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.certification.certifier import CertificationRequest
from paraply.reference_impl.certification.dialects import WL8440, WL8440_LITERAL, dialect_named
from paraply.reference_impl.certification.gtid_generator import GtidGenerator
from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.certification.retries import CERTIFIER_RETRIES
from paraply.reference_impl.certification.trackers import CommitOrderTracker, TrackedTransaction
from paraply.reference_impl.group.subject import GROUP
from paraply.reference_impl.mutants import mutant_named
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.log import Operation
from paraply.vocabulary.timestamps import LogicalTimestamp, may_overlap
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionKind
from tests.reference_impl.certifying import history_of, run_of, timestamps
from tests.reference_impl.test_golden_traces import ScriptedGroup


def faulty_run(name):
    return mutant_named(name).module("tests.reference_impl.certifying").run_of()


def deliver(run, *write_sets):
    for items in write_sets:
        run.deliver(items.split())
    return run


def coordinator_with(*given, done=()):
    coordinator = LogicalClock()
    for number, (lc, sn) in enumerate(given, start=1):
        coordinator.on_dispatched(logged(number, lc, sn), worker=1)
    for number in done:
        coordinator.on_done(number)
    return coordinator


def logged(number, lc, sn):
    return Transaction(id=number, timestamp=LogicalTimestamp.as_recorded(lc, sn))


def test_a_al1_on_a_transaction_without_write_set_read_literally_is_unsafe():
    literal = deliver(run_of("wl8440_literal"), "ws1", "")
    assert timestamps(literal) == [(1, 2), (1, 3)]
    assert barriers_are_ordered_with_all(history_of(literal))
    safe = deliver(run_of("wl8440"), "ws1", "")
    assert timestamps(safe) == [(1, 2), (2, 3)]
    assert not barriers_are_ordered_with_all(history_of(safe))


def test_a_ex4_prints_four_where_al1_gives_two():
    stream = ("", "ws1", "ws2", "")
    assert timestamps(deliver(run_of("wl8440_literal"), *stream))[-1] == (2, 5)
    assert timestamps(deliver(run_of("wl8440"), *stream))[-1] == (4, 5)


def test_b_the_sentence_on_garbage_collection_read_literally_makes_lc_equal_sn():
    def after_collection(dialect):
        run = deliver(run_of(dialect), "ws1", "ws2")
        run.collect()
        return deliver(run, "ws1", "ws4")

    literal = after_collection("wl8440_literal")
    assert timestamps(literal)[-2:] == [(4, 4), (4, 5)]
    assert last_committed_is_below_sequence_number(history_of(literal))
    # The two safe readings: EX6 and servers from 8.4; servers to 8.3, which burn a number.
    assert timestamps(after_collection("wl8440"))[-2:] == [(3, 4), (3, 5)]
    assert timestamps(after_collection("mysql_8_0"))[-2:] == [(4, 5), (4, 6)]


def test_b_shortest_history_of_the_literal_sentence_has_one_transaction():
    run = run_of("wl8440_literal")
    run.collect()
    assert timestamps(deliver(run, "ws1")) == [(2, 2)]


@pytest.mark.parametrize("dialect", ["wl8440", "wl8440_literal", "mysql_8_0"])
def test_c_the_same_words_are_right_for_a_barrier(dialect):
    # Before the increment parallel_applier_sequence_number is the barrier's own number.
    run = deliver(run_of(dialect), "")
    assert run.certifier.indexes.window.last_committed_global == timestamps(run)[0][1]


def test_d_coordinator_does_not_run_the_first_two_transactions_of_ex3_together():
    assert timestamps(deliver(run_of(), "ws1", "ws2")) == [(1, 2), (1, 3)]
    assert not coordinator_with((1, 2)).may_dispatch(logged(2, 1, 3))
    assert coordinator_with((1, 2), done=(1,)).may_dispatch(logged(2, 1, 3))


def test_e_last_committed_is_a_prefix_and_not_a_parent():
    # {b d} with the writers 3 and 5 gets LC 5; waiting for 5 alone would forget 3.
    run = deliver(run_of(), "a", "b", "c", "d", "b d")
    assert timestamps(run)[-1] == (5, 6)
    assert not conflicting_transactions_are_ordered(history_of(run))
    only_the_parent_done = coordinator_with((1, 2), (1, 3), (1, 4), (1, 5), done=(1, 3, 4))
    assert not only_the_parent_done.may_dispatch(logged(5, 5, 6))


def test_f_dispatch_follows_the_log_and_only_commits_may_overtake():
    # 'T2 may be started before T1': the coordinator offers the next in the log and no other.
    coordinator = coordinator_with((1, 2), (2, 3))
    assert not coordinator.may_dispatch(logged(3, 3, 4))


def test_g_missing_row_is_an_error_and_not_silent():
    store = RowStore(["1"])
    update = RowWrite(table="t1", operation=Operation.UPDATE, before=("9", 1), after=("9", 2))
    assert store.apply(1, update).outcome is Outcome.MISSING_BEFORE_IMAGE


def test_h_last_sentence_of_ex6_means_t1_and_t3():
    # T1 and T2 write different rows and may overlap; T1 and T3 write ws1.
    run = deliver(run_of(), "ws1", "ws2")
    run.collect()
    deliver(run, "ws1")
    first, second, third = timestamps(run)
    assert second[0] < first[1]
    assert third[0] >= first[1]


def test_i_window_is_needed_only_where_the_purged_writer_is_not_committed():
    run = deliver(faulty_run("collection_opens_no_window"), "ws1", "ws2")
    run.commit_here(2)
    run.collect()
    deliver(run, "ws1")
    assert timestamps(run)[-1] == (1, 4)
    # On a member that has executed what is stable, nothing can overlap with T1 any more.
    assert not conflicting_transactions_are_ordered(history_of(run))
    recovering = deliver(faulty_run("collection_opens_no_window"), "ws1", "ws2")
    recovering.collect()
    deliver(recovering, "ws1")
    assert conflicting_transactions_are_ordered(history_of(recovering))


def test_j_certification_info_is_not_empty_after_a_collection_but_on_a_joiner_of_an_empty_group():
    run = deliver(run_of(), "ws1", "ws2")
    run.collect()
    assert set(run.certifier.certification_info) == {"ws2"}
    group = ScriptedGroup("wl8440", ("s1", "s2"), ("s1",))
    group.join("s2")
    assert not group.group.members["s2"].certifier.certification_info


def test_k_last_committed_is_the_newest_conflicting_writer_and_not_the_number_before():
    # By the definition ('the trx.SN before the current transaction commits') it would be 3.
    assert timestamps(deliver(run_of(), "ws1", "ws2", "ws1"))[-1] == (2, 4)


def test_l_counters_start_again_only_on_the_member_that_starts():
    group = ScriptedGroup("wl8440", ("s1", "s2", "s3"), ("s1", "s2"))
    group.write("s1", "a")
    group.join("s3")
    group.write("s1", "b")
    # The summary says 'whenever the group starts or members join'; EX7 says counters stay.
    assert group.timestamps("s2") == [(1, 2), (0, 0), (2, 3)]
    assert group.timestamps("s3") == [(0, 0), (1, 2)]


def test_m_view_change_resets_the_appliers_numbers_and_not_the_certifiers():
    run = deliver(run_of(), "ws1", "ws2")
    run.change_view()
    deliver(run, "ws3")
    assert timestamps(run)[-1] == (1, 4)
    # T3 waits for the view change although 1 is below everything that has committed.
    coordinator = coordinator_with((1, 2), (1, 3), (0, 0), done=(1, 2))
    assert not coordinator.may_dispatch(logged(4, 1, 4))


def test_n_first_remote_transaction_is_zero_zero_from_8_3_on():
    stream = ("ws1", "ws1")
    assert timestamps(deliver(run_of("mysql_8_4"), *stream)) == [(0, 0), (2, 3)]
    assert timestamps(deliver(run_of("mysql_8_0"), *stream)) == [(1, 2), (2, 3)]
    unmarked = mutant_named("first_remote_is_not_marked")
    assert unmarked.caught_by == sequence_numbers_increase.__name__


def test_o_zero_zero_needs_no_rotation_of_the_relay_log():
    # The coordinator begins a group at (0, 0) and after it, in one and the same file.
    assert not coordinator_with((1, 2), (0, 0), done=(1,)).may_dispatch(logged(3, 2, 3))
    assert coordinator_with((1, 2), (0, 0), done=(1, 2)).may_dispatch(logged(3, 2, 3))


def test_p_stored_version_includes_the_writers_own_gtid():
    # The definition ('before transaction commits') excludes it; the table of EX2 includes it.
    run = faulty_run("version_lacks_the_writers_gtid")
    first = run.deliver(["ws1"], snapshot=0)
    second = run.deliver(["ws1"], snapshot=0)
    assert first.is_positive
    assert second.is_positive
    run = run_of()
    run.deliver(["ws1"], snapshot=0)
    assert not run.deliver(["ws1"], snapshot=0).is_positive


def test_q_transactions_after_a_barrier_wait_for_it_and_for_all_before():
    run = deliver(run_of(), "ws1", "ws2", "", "ws3", "ws4")
    assert timestamps(run)[-2:] == [(4, 5), (4, 6)]


def test_r_item_that_comes_twice_must_not_find_its_own_transaction():
    run = deliver(faulty_run("duplicate_item_finds_itself"), "ws1 ws1")
    assert timestamps(run) == [(2, 2)]
    assert timestamps(deliver(run_of(), "ws1 ws1")) == [(1, 2)]


def test_s_storing_before_looking_up_finds_every_transaction_itself():
    run = deliver(faulty_run("items_are_stored_before_they_are_looked_up"), "ws1")
    assert timestamps(run) == [(2, 2)]


def test_t_create_select_is_a_barrier_though_the_text_does_not_know_it():
    def create_select(dialect):
        run = deliver(run_of(dialect), "source")
        run.deliver(["new"], kind=TransactionKind.CTAS)
        return run

    literal = create_select("wl8440_literal")
    assert timestamps(literal) == [(1, 2), (1, 3)]
    assert barriers_are_ordered_with_all(history_of(literal))
    for dialect in ("wl8440", "mysql_8_0"):
        assert timestamps(create_select(dialect)) == [(1, 2), (2, 3)]


def test_u_empty_transaction_with_a_specified_gtid_is_certified_and_costs_a_barrier():
    run = deliver(run_of(), "ws1")
    decision = run.deliver(
        [], specified=next(iter(run.certifier.group_gtid_executed))._replace(number=9)
    )
    assert decision.is_positive
    assert timestamps(deliver(run, "ws2"))[-2:] == [(2, 3), (3, 4)]


def test_v_last_committed_zero_may_hide_a_dependency_that_the_coordinator_must_honour():
    # COMMIT_ORDER: REPAIR TABLE is first in a new log and gives its locks back before it
    # commits; whoever takes them then has a commit parent in the old log, which is logged as 0.
    tracker = CommitOrderTracker()
    tracker.on_rotation()
    repair = TrackedTransaction(is_blocking=True)
    insert = TrackedTransaction()
    tracker.on_statement_prepared(repair)
    first = tracker.on_flushed(repair)
    tracker.on_statement_prepared(insert)
    second = tracker.on_flushed(insert)
    assert (first.last_committed, second.last_committed) == (0, 0)
    # By the numbers alone they may overlap; MySQL's coordinator waits for all at 0.
    assert may_overlap(first, second)
    assert not coordinator_with((0, 1)).may_dispatch(logged(2, 0, 2))


PREEMPTIVE = {"single_primary": True, "preemptive_rows_threshold": 2}


def first_breach_of_first_certified_wins(**options):
    workload = Workload(
        transactions=6, members=3, rows=3, dialect="mysql_8_4", options={**PREEMPTIVE, **options}
    )
    prop = property_named("first_certified_wins")
    return search(system_of(GROUP, workload), prop, random_schedules(0, 600))


@pytest.mark.long
def test_w_preemptive_collection_loses_updates_when_a_new_primary_does_not_wait():
    # Consistency EVENTUAL: the map that would refuse the write was emptied.
    assert first_breach_of_first_certified_wins(waits_for_backlog=False) is not None
    assert first_breach_of_first_certified_wins(waits_for_backlog=True) is None


def test_x_member_that_did_not_report_must_apply_its_backlog_before_it_writes():
    # From 8.3 on a round does not wait for members in recovery.
    eager = mutant_named("member_writes_before_its_backlog")
    assert eager.workload.dialect == "mysql_8_4"
    assert eager.caught_by == "nothing_needed_is_purged"
    assert WL8440.recovering_members_report
    assert not dialect_named("mysql_8_4").recovering_members_report


def test_y_ddl_and_dml_from_two_members_never_conflict():
    # Bug 89058: no items, no conflict; the text does not claim otherwise.
    run = run_of()
    assert run.deliver([], kind=TransactionKind.DDL, snapshot=0).is_positive
    assert run.deliver(["ws1"], snapshot=0).is_positive


def test_z_refusal_without_conflict_where_a_snapshot_has_a_gap():
    # t2 saw t1, and so its version holds t1; t3 saw t2 but not t1 (commit order not kept).
    certifier = run_of().certifier
    one, two = Gtid("group", 1), Gtid("group", 2)

    def certify(items, snapshot):
        request = CertificationRequest(
            origin="r2", snapshot_version=frozenset(snapshot), items=items
        )
        return certifier.on_transaction_delivered(request, is_local=False)

    assert certify(("b",), []).is_positive
    assert certify(("a",), [one]).is_positive
    assert not certify(("a",), [two]).is_positive


@pytest.mark.parametrize("dialect", ["mysql_8_0", "mysql_8_4"])
def test_aa_transaction_that_was_rolled_back_comes_again(dialect):
    prop = property_named("retries_are_certified_again")
    system = system_of(CERTIFIER_RETRIES, Workload(transactions=1, dialect=dialect))
    found = search(system, prop, random_schedules(0, 20))
    assert (found is None) == (dialect == "mysql_8_4")


@pytest.mark.parametrize(("dialect", "second"), [("mysql_8_0", False), ("mysql_8_4", True)])
def test_ab_one_specified_gtid_for_two_transactions_before_the_first_is_executed(dialect, second):
    run = run_of(dialect)
    gtid = Gtid("group", 1)
    assert run.deliver(["a"], snapshot=0, specified=gtid).is_positive
    assert run.deliver(["b"], snapshot=0, specified=gtid).is_positive is second
    history = history_of(run)
    assert bool(property_named("gtids_are_unique").violations(history)) is second


@pytest.mark.parametrize(
    ("dialect", "is_decided_alike"), [("mysql_8_3", True), ("mysql_9_7", False)]
)
def test_ab_members_part_over_a_specified_gtid_that_one_of_them_has_not_executed(
    dialect, is_decided_alike
):
    # What MySQL 9.7.4 did when told this story: tests/live/test_mysql_group.py.
    story = ScriptedGroup(dialect, ("r1", "r2", "r3"), ("r1", "r2", "r3"))
    group, gtid = story.group, Gtid("elsewhere", 1)
    first, second = (
        group.submit(group.members[name], items, specified=gtid)
        for name, items in (("r1", ("a",)), ("r2", ("b",)))
    )
    for member in group.members.values():
        group.deliver_next(member)
        if member.name != "r2":  # There, the session of the second transaction owns the GTID.
            for entry in member.applicable():
                member.apply(entry)
    story.settle()
    for name in group.members:
        story.recorder.record(EventKind.STOPPED, member=name, note="at rest")
    history = story.recorder.history(HistoryHeader()).check()
    for name in ("members_decide_alike", "gtids_are_unique", "members_execute_the_same"):
        assert bool(property_named(name).violations(history)) is not is_decided_alike, name
    executed = [{one for one, _ in member.binlog} for member in group.members.values()]
    elsewhere = {first} if is_decided_alike else {second}
    assert executed == [{first}, elsewhere, {first}]
    # Yet all of them say that they have executed the same.
    assert len({member.executed for member in group.members.values()}) == 1


@pytest.mark.parametrize(("dialect", "last_committed"), [("mysql_8_4", 3), ("mysql_9_7", 1)])
def test_ac_empty_transaction_is_a_barrier_until_9_7(dialect, last_committed):
    run = deliver(run_of(dialect), "a", "b")
    certifier = run.certifier
    request = CertificationRequest(
        origin="r2", snapshot_version=certifier.group_gtid_executed, is_empty=True
    )
    decision = certifier.on_transaction_delivered(request, is_local=False)
    assert decision.timestamp == LogicalTimestamp.of(last_committed, 4)
    statement = replace(request, is_empty=False)
    barrier = certifier.on_transaction_delivered(statement, is_local=False)
    assert barrier.timestamp == LogicalTimestamp.of(4, 5)


def test_ad_blocks_are_taken_back_when_somebody_joins():
    def numbers(*, joined):
        taken = {Gtid("group", 1), Gtid("group", 11)}
        generator = GtidGenerator(block_size=10)
        first = [generator.next_gtid(member, frozenset()).number for member in ("r1", "r2")]
        if joined:
            generator.on_view_change(frozenset(taken))
        return [*first, generator.next_gtid("r2", frozenset(taken)).number]

    assert numbers(joined=False) == [1, 11, 12]
    assert numbers(joined=True) == [1, 11, 2]


@pytest.mark.parametrize(
    ("dialect", "collects", "at_others", "at_joiner"),
    [
        ("mysql_8_3", {"r1", "r2", "r3"}, (6, 7), (4, 5)),
        ("mysql_8_4", {"r3"}, (2, 5), (3, 4)),
        ("mysql_9_7", {"r3"}, (2, 5), (3, 4)),
    ],
)
def test_ae_joiner_collects_what_the_others_had_found_stable_when_it_joined(
    dialect, collects, at_others, at_joiner
):
    story = joined_and_told(dialect)
    history = story.recorder.history(HistoryHeader()).check()
    joined = max(n for n, e in enumerate(history.events) if e.kind is EventKind.RECOVERED)
    collected = [e for e in history.events[joined:] if e.kind is EventKind.GARBAGE_COLLECTED]
    assert {event.member for event in collected} == collects
    assert {event.transactions for event in collected} == {(1, 2)}
    assert story.timestamps("r1")[-1] == at_others
    assert story.timestamps("r3")[-1] == at_joiner
    # Windows that differ cost the joiner parallelism, and are no breach of anything.
    known = GROUP.known_breaches(Workload(dialect=dialect))
    broken = {prop.name for prop in properties_of(GROUP) if prop.violations(history)}
    assert broken <= known


def joined_and_told(dialect):
    """Return a story: r3 joins, r1 tells what it had executed then, and others write before."""
    story = ScriptedGroup(dialect, ("r1", "r2", "r3"), ("r1", "r2"))
    story.write("r1", "a")
    story.write("r2", "a")
    story.join("r3")
    story.group.broadcast_executed_set(story.group.members["r1"])
    story.write("r2", "b")
    story.write("r2", "c")
    for name in ("r2", "r3"):
        story.group.broadcast_executed_set(story.group.members[name])
    story.settle()
    story.write("r2", "d")
    return story


def test_review_has_a_line_for_every_letter(repository):
    text = (repository / "docs" / "wl8440-review.md").read_text(encoding="utf-8")
    letters = set(re.findall(r"^\| \(([a-z]{1,2})\)", text, flags=re.MULTILINE))
    tested = {name.split("_")[1] for name in globals() if re.match(r"test_[a-z]{1,2}_", name)}
    assert letters >= tested
    assert tested == {*"abcdefghijklmnopqrstuvwxyz", "aa", "ab", "ac", "ad", "ae"}


def test_dialects_of_the_text_differ_only_where_they_say():
    same = replace(WL8440_LITERAL, name=WL8440.name, source=WL8440.source)
    assert same.last_committed_of_barrier is not WL8440.last_committed_of_barrier
    assert same.window_after_collection is not WL8440.window_after_collection
    assert not same.orders_create_select
    assert (
        replace(
            same,
            last_committed_of_barrier=WL8440.last_committed_of_barrier,
            window_after_collection=WL8440.window_after_collection,
            orders_create_select=True,
        )
        == WL8440
    )
