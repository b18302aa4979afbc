"""Speculation, kills, retries, errors, group commit: each property holds, breaks, on its edge."""

from __future__ import annotations

import pytest

from paraply.properties.apply.mariadb.final_errors import errors_without_speculation_are_final
from paraply.properties.apply.mariadb.retries import (
    attempt_is_killed_for_an_earlier_one,
    commit_start_is_revoked,
    error_meets_later_transactions,
    errors_let_nothing_new_begin,
    errors_undo_only_what_follows,
    nothing_after_an_error_is_applied,
    only_later_transactions_are_killed,
    replica_never_stalls,
    retries_wait_for_all_before,
    sound_log_never_fails,
    speculation_meets_a_conflict,
    surviving_rows_apply_as_logged,
    transaction_is_retried,
    waiting_costs_no_sync,
    waiting_transaction_joins_the_group,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} domain=0 flags=transactional | T2{a} domain=0 flags=transactional
    | T3{b} domain=0 flags=transactional | T4{c} domain=1 flags=transactional | """


def history(events):
    return history_of(LOG + events)


def given(*numbers):
    return " ; ".join(f"scheduled T{n}@w{n} ; begun T{n}@w{n}" for n in numbers)


def committed(*numbers):
    return " ; ".join(f"engine_committed T{n}@w{n}" for n in numbers)


KILLED = 'rolled_back T2@w2 other=1 note="deadlock kill" ; retried T2@w2 attempt=2'
AGAIN = "begun T2@w2 attempt=2 ; engine_committed T2@w2 attempt=2"


@pytest.mark.parametrize(
    ("situation", "events", "otherwise"),
    [
        (transaction_is_retried, f"{KILLED} ; {AGAIN}", KILLED),
        (attempt_is_killed_for_an_earlier_one, KILLED, "rolled_back T2@w2 note=timeout"),
        (commit_start_is_revoked, f"prepared T2@w2 ; {KILLED}", f"prepared T1@w1 ; {KILLED}"),
        (
            commit_start_is_revoked,
            "prepared T2@w2 attempt=2 ; rolled_back T2@w2 attempt=2",
            'prepared T2@w2 ; rolled_back T2@w2 note="prior commit failed"',
        ),
        (
            speculation_meets_a_conflict,
            f"row_applied T2@w2 {{a}} missing_before_image ; {KILLED}",
            "row_applied T2@w2 {a} missing_before_image",
        ),
        (error_meets_later_transactions, f"{given(1, 2)} ; failed T1@w1",
         f"{given(1, 4)} ; failed T1@w1"),
        (error_meets_later_transactions, f"{given(1, 2)} ; failed T1@w1",
         f"{given(2)} ; started ; {given(1)} ; failed T1@w1"),
    ],
)  # fmt: skip
def test_situation_is_told_from_what_resembles_it(situation, events, otherwise):
    assert situation(history(events))
    assert not situation(history(otherwise))


def test_replica_that_applies_without_error_holds():
    assert verdict(history(committed(1)), sound_log_never_fails) is Verdict.HOLDS


def test_error_that_lies_in_the_log_is_reported():
    (breach,) = sound_log_never_fails(history('failed T2@w2 note="row error"'))
    assert str(breach) == "r1: T2 failed (row error); it was not to"


def test_error_from_outside_is_nobodys_fault():
    run = history('failed T2@w2 note="from outside"')
    assert verdict(run, sound_log_never_fails) is Verdict.UNKNOWN


MISSED = "begun T2@w2 ; row_applied T2@w2 {a} missing_before_image"


def test_attempt_that_committed_over_a_missing_row_is_reported():
    (breach,) = surviving_rows_apply_as_logged(history(f"{MISSED} ; engine_committed T2@w2"))
    assert str(breach) == "r1: T2 met a missing before image on a"


def test_attempt_that_missed_a_row_and_was_undone_is_no_breach():
    applied = "row_applied T2@w2 {a} ok attempt=2 ; engine_committed T2@w2 attempt=2"
    run = history(f"{MISSED} ; {KILLED} ; begun T2@w2 attempt=2 ; {applied}")
    assert verdict(run, surviving_rows_apply_as_logged) is Verdict.HOLDS


def test_attempts_are_counted_anew_after_a_restart():
    run = history(f"{MISSED} ; rolled_back T2@w2 ; stopped ; started ; begun T2@w2 ; "
                  "row_applied T2@w2 {a} ok ; engine_committed T2@w2")  # fmt: skip
    assert not surviving_rows_apply_as_logged(run)


def test_commit_after_an_error_is_reported():
    (breach,) = nothing_after_an_error_is_applied(
        history(f"{given(1, 2)} ; failed T1@w1 ; {committed(2)}")
    )
    assert str(breach) == "r1: T2 committed although T1 had failed"


def test_error_after_which_the_domain_stands_still_holds():
    run = history(f"{given(1, 2)} ; {committed(1)} ; {given(3)} ; failed T2@w2 ; stopped")
    assert verdict(run, nothing_after_an_error_is_applied) is Verdict.HOLDS


def test_error_ends_with_the_next_start_and_with_the_domain():
    restarted = f"failed T1@w1 ; stopped ; started ; {given(1, 2)} ; {committed(1, 2)}"
    other_domain = f"{given(1, 4)} ; failed T1@w1 ; {committed(4)}"
    assert not nothing_after_an_error_is_applied(history(f"{given(1, 2)} ; {restarted}"))
    assert not nothing_after_an_error_is_applied(history(other_domain))


@pytest.mark.parametrize("end", ["stopped", "failed T2@w2"])
def test_replica_that_ends_has_not_stalled(end):
    run = history(f"started ; {given(1, 2)} ; {committed(1)} ; {end}")
    assert verdict(run, replica_never_stalls) is Verdict.HOLDS


def test_replica_that_waits_for_ever_is_reported():
    (breach,) = replica_never_stalls(history(f"started ; {given(1, 2)} ; {committed(1)}"))
    assert str(breach) == "r1: nothing can move; T2 waits for ever"


def test_stop_before_a_restart_is_no_end():
    (breach,) = replica_never_stalls(
        history(f"started ; {given(1)} ; {committed(1)} ; stopped ; started ; {given(2, 3)}")
    )
    assert breach.waiting == (2, 3)


def kill(victim, waiter):
    return history(
        f'scheduled T{victim}@w1 ; rolled_back T{victim}@w1 other={waiter} note="deadlock kill"'
    )


def test_kill_for_an_earlier_transaction_holds():
    assert verdict(kill(2, 1), only_later_transactions_are_killed) is Verdict.HOLDS


def test_kill_for_a_later_transaction_is_reported():
    (breach,) = only_later_transactions_are_killed(kill(1, 2))
    assert str(breach) == "r1: T1 was killed for T2, which comes after it"


def test_kill_for_a_transaction_of_another_domain_has_no_wrong_way():
    assert not only_later_transactions_are_killed(kill(1, 4))


def test_retry_after_all_before_have_committed_holds():
    run = history(f"{given(1, 2)} ; {committed(1)} ; {KILLED} ; {AGAIN}")
    assert verdict(run, retries_wait_for_all_before) is Verdict.HOLDS


def test_retry_before_an_earlier_commit_is_reported():
    (breach,) = retries_wait_for_all_before(history(f"{given(1, 2)} ; {KILLED}"))
    assert str(breach) == "r1: T2 was tried again before T1 had committed"


def test_retry_waits_for_its_own_domain_only():
    retried = "rolled_back T4@w4 ; retried T4@w4 attempt=2"
    assert not retries_wait_for_all_before(history(f"{given(1, 4)} ; {retried}"))


def group_commit(first, second, *, later_starts_first=True):
    order = (2, 1) if later_starts_first else (1, 2)
    starts = " ; ".join(f"prepared T{n}@w{n}" for n in order)
    return history(f"{given(1, 2)} ; {starts} ; flushed T1@w1 group={first} ; "
                   f"flushed T2@w2 group={second} ; {committed(1, 2)}")  # fmt: skip


def test_transaction_that_waited_and_joined_the_group_holds():
    run = group_commit(1, 1)
    assert verdict(run, waiting_costs_no_sync) is Verdict.HOLDS
    assert waiting_transaction_joins_the_group(run)


def test_transaction_that_waited_and_was_synced_apart_is_reported():
    run = group_commit(1, 2)
    (breach,) = waiting_costs_no_sync(run)
    assert str(breach) == ("r1: T2 waited for T1 in its commit, and was not in its commit group")
    assert not waiting_transaction_joins_the_group(run)


def test_transaction_that_came_later_may_be_synced_apart():
    run = group_commit(1, 2, later_starts_first=False)
    assert verdict(run, waiting_costs_no_sync) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("attempt", "note", "is_excused"),
    [(3, "lock wait timeout", True), (2, "lock wait timeout", False), (3, "deadlock kill", False)],
)
def test_time_outs_excuse_an_error_only_when_they_used_up_the_retries(attempt, note, is_excused):
    run = history_of(
        f"""options={{"retries_max":2}} {LOG} rolled_back T2@w2 note="{note}"
        ; failed T2@w2 attempt={attempt} note="row error" """
    )
    assert bool(sound_log_never_fails(run)) is not is_excused


@pytest.mark.parametrize("waits", ["row_applied T2@w2 {c} lock_wait other=4",
                                   "row_applied T4@w4 {c} lock_wait other=2"])  # fmt: skip
@pytest.mark.parametrize(
    ("attempt", "other", "is_excused"), [(3, 4, True), (2, 4, False), (3, 3, False)]
)
def test_another_domain_excuses_an_error_only_when_it_used_up_the_retries(
    waits, attempt, other, is_excused
):
    waits = waits.replace("4", str(other))
    fails = f"failed T2@w2 attempt={attempt} note=deadlock"
    begins = f"begun T2@w2 attempt={attempt}"
    head = f'options={{"retries_max":2}} {LOG}'
    assert bool(sound_log_never_fails(history_of(f"{head} {begins} ; {waits} ; {fails}"))) is not (
        is_excused
    )
    # What an earlier attempt met is no excuse for the last one.
    assert sound_log_never_fails(history_of(f"{head} {waits} ; {begins} ; {fails}"))


def after_an_error(events):
    log = LOG.replace("domain=0", "domain=0 gtid=0-1-1")
    return history_of(f"{log}{given(1)} ; {events}")


@pytest.mark.parametrize(
    "events",
    [
        "rolled_back T3@w3 ; failed T2@w2 ; rolled_back T2@w2 ; stopped",
        "failed T2@w2 ; rolled_back T1@w1 ; retried T1@w1 attempt=2 ; stopped",
        "rolled_back T1@w1 ; started ; failed T2@w2 ; stopped",
        "failed T4@w4 ; rolled_back T1@w1 ; engine_committed T1@w1 attempt=2 ; stopped",
    ],
)
def test_error_undoes_what_follows_in_its_domain(events):
    assert verdict(after_an_error(events), errors_undo_only_what_follows) is Verdict.HOLDS


@pytest.mark.parametrize(("failed", "undone"), [(2, 1), (1, 4), (4, 3)])
def test_transaction_that_an_error_elsewhere_undoes_is_reported(failed, undone):
    run = after_an_error(f"failed T{failed}@w1 ; rolled_back T{undone}@w2 ; stopped")
    (breach,) = errors_undo_only_what_follows(run)
    assert str(breach).startswith(f"r1: T{undone} was rolled back and not tried again")


@pytest.mark.parametrize("end", ["", " ; crashed ; recovered ; stopped"])
def test_errors_are_judged_at_the_stop_after_them(end):
    run = after_an_error(f"failed T2@w2 ; rolled_back T1@w1{end}")
    assert verdict(run, errors_undo_only_what_follows) is Verdict.UNKNOWN


TWO_DOMAINS = "".join(
    f"| T{one}{{x{one}}} domain={domain} flags=transactional "
    for one, domain in enumerate("01111", 1)
)
QUEUES = "started ; scheduled T1@w1 ; scheduled T2@w2 ; scheduled T3@w2 ; scheduled T4@w3"
ERROR = "failed T1@w1"


@pytest.mark.parametrize(
    ("events", "found"),
    [
        (("begun T2@w2", ERROR), []),
        ((ERROR, "begun T2@w2", "begun T3@w2", "begun T4@w3"), []),
        (("scheduled T5@w2", ERROR, "begun T4@w3", "begun T5@w2"), [5]),
        (("begun T2@w2", "engine_committed T2@w2", ERROR, "begun T3@w2"), []),
        ((ERROR, "started", "scheduled T5@w1", "begun T5@w1"), []),
    ],
    ids=["at it", "before what a worker is at", "behind", "first in its queue", "next start"],
)
def test_only_what_workers_are_at_begins_after_an_error(events, found):
    run = history_of(f"{TWO_DOMAINS}| {QUEUES} ; {' ; '.join(events)} ; {committed(4)}")
    assert [one.transaction for one in errors_let_nothing_new_begin(run)] == found


def test_begin_past_an_error_is_named():
    events = f"{QUEUES} ; scheduled T5@w2 ; {ERROR} ; begun T5@w2 ; {committed(4)}"
    (breach,) = errors_let_nothing_new_begin(history_of(f"{TWO_DOMAINS}| {events}"))
    assert str(breach) == (
        "r1: T5 was begun after T1, of another domain, had failed; no worker was at it, or at one "
        "after it in its domain"
    )
    (prop,) = [one for one in registered_properties() if one.name.startswith("errors_let")]
    assert prop.applies_to(history_of(f"{TWO_DOMAINS}| {events}"))
    assert not prop.applies_to(history_of(f"dialect=minimal {TWO_DOMAINS}| {events}"))


UNDONE_BY_ERROR = 'rolled_back T2@w2 attempt={} note="row error"'


@pytest.mark.parametrize(
    ("dialect", "attempt", "found"),
    [("optimistic", 1, 0), ("optimistic", 2, 1), ("conservative", 1, 1)],
)
def test_error_is_final_without_speculation(dialect, attempt, found):
    run = history_of(f"dialect={dialect} {LOG}{given(2)} ; {UNDONE_BY_ERROR.format(attempt)}")
    breaches = errors_without_speculation_are_final(run)
    assert len(breaches) == found
    for one in breaches:
        assert str(one) == (
            f"r1: attempt {attempt} of T2 met an error, and was to be tried again, "
            "without speculation"
        )


def test_failure_is_final():
    run = history_of(f'dialect=conservative {LOG}{given(2)} ; failed T2@w2 note="row error"')
    assert verdict(run, errors_without_speculation_are_final) is Verdict.HOLDS
