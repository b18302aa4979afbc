"""Who may begin beside whom: each property of the parallel modes holds, breaks, on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.apply.mariadb.modes import (
    batches_begin_at_once,
    commit_groups_never_overlap,
    irreversible_changes_wait_for_all_before,
    marked_transactions_wait_for_all_before,
    serial_modes_have_one_order,
    single_threads_end_what_they_took_up,
    source_restarts_drain_the_workers,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

ROWS = "domain=0 flags=transactional,allow_parallel"
LOG = f"""| T1{{a}} {ROWS} commit_id=7 | T2{{b}} {ROWS} commit_id=7 | T3{{c}} {ROWS}
    | T4{{d}} {ROWS},waited commit_id=8 | T5{{e}} {ROWS},waited commit_id=8
    | T6{{f}} domain=0 flags=transactional | T7:ddl domain=0 flags=ddl
    | T8{{g}} domain=0 flags=allow_parallel | """


def history(events):
    return history_of(LOG + events)


def begun(number):
    return f"scheduled T{number}@w{number} ; begun T{number}@w{number}"


def row(number):
    item = "abcdef_g"[number - 1]
    return f"row_applied T{number}@w{number} {{{item}}} ok"


def committed(*numbers):
    return " ; ".join(f"engine_committed T{number}@w{number}" for number in numbers)


def whole(*numbers):
    return " ; ".join(f"{begun(n)} ; {committed(n)}" for n in numbers)


def test_groups_of_one_commit_may_overlap():
    run = history(
        f"{begun(1)} ; {begun(2)} ; {row(2)} ; {row(1)} ; {begun(3)} ; {committed(1, 2, 3)}"
    )
    assert verdict(run, commit_groups_never_overlap) is Verdict.HOLDS


def test_group_of_another_commit_that_begins_before_the_last_change_is_reported():
    run = history(f"{begun(1)} ; {row(1)} ; {begun(2)} ; {begun(3)} ; {row(2)} ; "
                  f"{committed(1, 2, 3)}")  # fmt: skip
    (breach,) = commit_groups_never_overlap(run)
    assert str(breach) == (
        "r1: T3 began before T2, of another commit group, had made all its changes"
    )


def test_next_batch_may_begin_while_the_one_before_has_yet_to_commit():
    run = history(f"{begun(2)} ; {row(2)} ; {begun(3)} ; {committed(2, 3)}")
    assert not commit_groups_never_overlap(run)


def test_batch_of_one_commit_group_alone_shows_nothing():
    run = history(f"{begun(1)} ; {begun(2)} ; {committed(1, 2)}")
    assert verdict(run, commit_groups_never_overlap) is Verdict.UNKNOWN


@pytest.mark.parametrize(("number", "why"), [(7, "a DDL"), (8, "of a table without transactions")])
def test_irreversible_change_that_begins_before_a_commit_is_reported(number, why):
    late = number - 1
    run = history(f"{whole(*range(1, late))} ; {begun(late)} ; {begun(number)} ; "
                  f"{committed(late, number)}")  # fmt: skip
    (breach,) = irreversible_changes_wait_for_all_before(run)
    assert str(breach) == f"r1: T{number}, {why}, began before T{late} had committed"


def test_irreversible_change_after_all_commits_holds():
    run = history(whole(*range(1, 9)))
    assert verdict(run, irreversible_changes_wait_for_all_before) is Verdict.HOLDS


def test_transaction_that_begins_beside_an_irreversible_change_is_not_its_fault():
    assert not irreversible_changes_wait_for_all_before(
        history(f"{whole(*range(1, 7))} ; {begun(7)} ; {begun(8).replace('T8', 'T6')}")
    )


@pytest.mark.parametrize(
    ("number", "why"),
    [(4, "which had waited on the source"), (6, "set not to be applied in parallel")],
)
def test_marked_transaction_that_begins_before_a_commit_is_reported(number, why):
    late = number - 1
    run = history(f"{whole(*range(1, late))} ; {begun(late)} ; {begun(number)} ; "
                  f"{committed(late, number)}")  # fmt: skip
    (breach,) = marked_transactions_wait_for_all_before(run)
    assert str(breach) == f"r1: T{number}, {why}, began before T{late} had committed"


def test_marked_transaction_after_all_commits_holds():
    assert verdict(history(whole(1, 2, 3, 4)), marked_transactions_wait_for_all_before) is (
        Verdict.HOLDS
    )


def test_mark_does_not_matter_beside_the_transaction_it_committed_with():
    run = history(f"{whole(1, 2, 3)} ; {begun(4)} ; {begun(5)} ; {committed(4, 5)}")
    assert not marked_transactions_wait_for_all_before(run)


SERIAL = "dialect=minimal | T1{a} domain=0 flags=transactional | T2{b} domain=1 | "


def serial(*events):
    return history_of(SERIAL + " ; ".join(events))


def test_commits_may_wait_while_the_next_is_applied_in_minimal():
    run = serial(begun(1), row(1), begun(2), row(2), committed(1, 2))
    assert verdict(run, serial_modes_have_one_order) is Verdict.HOLDS


def test_domains_are_not_applied_at_once_in_minimal():
    (breach,) = serial_modes_have_one_order(serial(begun(1), begun(2), row(1), committed(1, 2)))
    assert str(breach) == (
        "r1: T2 began before T1 had made all its changes, in a mode that applies one at a time"
    )
    assert serial_modes_have_one_order(serial(begun(1), row(1), begun(2), committed(2, 1)))


RESTARTED = f"| T1{{a}} {ROWS} | T2{{b}} {ROWS} | T3{{c}} {ROWS} clock=1 | "


def test_workers_are_idle_before_what_a_restarted_source_logged():
    drained = history_of(RESTARTED + f"{begun(1)} ; {begun(2)} ; {committed(1, 2)} ; {begun(3)}")
    assert verdict(drained, source_restarts_drain_the_workers) is Verdict.HOLDS
    stopped = history_of(RESTARTED + f"{begun(1)} ; started ; {begun(3)}")
    assert not source_restarts_drain_the_workers(stopped)
    (breach,) = source_restarts_drain_the_workers(
        history_of(RESTARTED + f"{begun(1)} ; {begun(2)} ; {committed(1)} ; {begun(3)}")
    )
    assert str(breach) == (
        "r1: T3, the source's first since its restart, was given to a worker before T2 had ended"
    )


EAGER = 'dialect={} options={{"eager":true,"workers":3}} '


def eager(*events, dialect="conservative"):
    given = " ; ".join(f"scheduled T{one}@w{one} time=1" for one in (1, 2, 3))
    head = EAGER.format(dialect) + LOG
    return history_of(" ; ".join((f"{head}started time=0", given, *events, committed(1))))


COMMITS = "prepared T1@w1 time=9 ; prepared T2@w2 time=9"


@pytest.mark.parametrize(
    "events",
    [
        ("begun T1@w1 time=1", "begun T2@w2 time=1", row(1), COMMITS, "begun T3@w3 time=9"),
        ("begun T1@w1 time=1", "begun T2@w2 time=1", row(1)),
        (
            "begun T1@w1 time=1",
            "begun T2@w2 time=1",
            f"{COMMITS} ; rolled_back T1@w1",
            "begun T3@w3",
        ),
    ],
    ids=["after the group", "beside its group", "after a start that is revoked"],
)
def test_batch_begins_when_the_one_before_starts_to_commit(events):
    assert verdict(eager(*events), batches_begin_at_once) is Verdict.HOLDS


def test_member_of_a_group_that_waits_for_the_group_is_reported():
    (breach,) = batches_begin_at_once(eager("begun T1@w1 time=1", row(1), "begun T2@w2"))
    assert str(breach) == (
        "r1: T2 may run beside all before it and was first in its worker's queue, but row_applied "
        "of T1 came before its begin"
    )
    both = ("begun T1@w1 time=1", "begun T2@w2 time=1", COMMITS)
    (late,) = batches_begin_at_once(
        eager(*both, "read @r1 time=10", "begun T3@w3 time=11", "flushed T2@w2")
    )
    assert late.transaction == 3


def test_minimal_knows_no_groups():
    late = ("begun T1@w1 time=1", row(1), "begun T2@w2")
    assert not batches_begin_at_once(eager(*late, dialect="minimal"))


SINGLE = "dialect=none "


def test_single_thread_ends_a_transaction_before_the_next():
    right = history_of(f"{SINGLE}{LOG}{begun(1)} ; engine_committed T1@w1 ; {begun(2)}")
    assert verdict(right, single_threads_end_what_they_took_up) is Verdict.HOLDS
    stopped = history_of(f"{SINGLE}{LOG}{begun(1)} ; stopped ; started ; {begun(1)}")
    assert not single_threads_end_what_they_took_up(stopped)


def test_single_thread_that_reads_ahead_is_reported():
    history = history_of(f"{SINGLE}{LOG}{begun(1)} ; {begun(2)}")
    (breach,) = single_threads_end_what_they_took_up(history)
    assert str(breach) == "r1 took T2 up before T1 had ended"


def test_crash_ends_what_was_given_before_the_sources_restart():
    crashed = history_of(
        RESTARTED
        + "started @r1 ; scheduled T2@r1 worker=1 ; crashed @r1 ; scheduled T3@r1 worker=1"
    )
    assert not source_restarts_drain_the_workers(crashed)
