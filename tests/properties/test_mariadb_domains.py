"""In order within a domain, any order between domains: each property holds, breaks, on its edge."""

from __future__ import annotations

from paraply.properties.apply.mariadb.domains import (
    domain_histories,
    domains_apply_without_conflict,
    domains_are_read_in_order,
    domains_commit_in_order,
    domains_keep_their_worker_limit,
    domains_overtake_each_other,
    engine_commits_follow_the_replicas_log,
    replica_logs_domains_in_order,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = """| T1{a} domain=1 flags=transactional | T2{b} domain=2 flags=transactional
    | T3{a} domain=1 flags=transactional | T4{d} domain=1 flags=transactional
    | T5:ddl domain=2 flags=ddl | """


def history(events, header=""):
    return history_of(header + LOG + events)


def apply(number, item, worker=1):
    """Return the events of a transaction that meets nobody."""
    return (
        f"scheduled T{number}@w{worker} ; begun T{number}@w{worker} ; "
        f"row_applied T{number}@w{worker} {{{item}}} ok ; engine_committed T{number}@w{worker}"
    )


def begun(number, worker=1):
    return f"scheduled T{number}@w{worker} ; begun T{number}@w{worker}"


def test_history_of_a_domain_has_its_transactions_and_what_readers_saw_of_them():
    run = history(f"{apply(1, 'a')} ; {apply(2, 'b')} ; read session=s [a=T1 b=T2]")
    first, second = domain_histories(run)
    assert [one.id for one in first.transactions] == [1, 3, 4]
    assert [one.id for one in second.transactions] == [2, 5]
    assert [read.observed for read in (first.events[-1], second.events[-1])] == [
        (("a", 1),), (("b", 2),)
    ]  # fmt: skip
    assert first.check()
    assert second.check()


def test_log_without_domains_has_no_domain_histories():
    assert domain_histories(history_of("T1{a} | begun T1@w1")) == ()


CONFLICT = f"{begun(1)} ; {begun(4, 2)} ; row_applied T1@w1 {{a}} ok ; {begun(3, 3)}"


def test_row_that_is_changed_after_its_writer_committed_is_no_conflict():
    run = history(
        f"{CONFLICT} ; engine_committed T1@w1 ; row_applied T3@w3 {{a}} ok ; "
        "engine_committed T3@w3 ; engine_committed T4@w2"
    )
    assert verdict(run, domains_apply_without_conflict) is Verdict.HOLDS


def test_row_that_is_changed_before_its_writer_committed_is_a_conflict():
    run = history(
        f"{CONFLICT} ; row_applied T3@w3 {{a}} ok ; engine_committed T1@w1 ; engine_committed T3@w3"
    )
    (breach,) = domains_apply_without_conflict(run)
    assert str(breach) == "r1: T3 changed a before T1 had committed"


def test_attempt_that_is_rolled_back_was_no_conflict():
    run = history(
        f"{CONFLICT} ; row_applied T3@w3 {{a}} ok ; rolled_back T3@w3 ; engine_committed T1@w1"
    )
    assert not domains_apply_without_conflict(run)


def test_ddl_is_in_order_with_its_own_domain_only():
    beside = f"{begun(1)} ; {apply(2, 'b', 2)} ; {begun(5, 2)} ; engine_committed T5@w2"
    assert not domains_apply_without_conflict(history(f"{beside} ; engine_committed T1@w1"))
    early = f"{begun(2)} ; {begun(5, 2)} ; engine_committed T2@w1 ; engine_committed T5@w2"
    (breach,) = domains_apply_without_conflict(history(early))
    assert str(breach) == "r1: T5 began before T2 had committed"


BOTH = f"{begun(1)} ; {begun(3, 2)}"


def test_domain_that_commits_in_the_logs_order_holds():
    run = history(f"{BOTH} ; engine_committed T1@w1 ; engine_committed T3@w2")
    assert verdict(run, domains_commit_in_order) is Verdict.HOLDS


def test_domain_that_commits_in_another_order_is_reported():
    run = history(f"{BOTH} ; engine_committed T3@w2 ; engine_committed T1@w1")
    (breach,) = domains_commit_in_order(run)
    assert str(breach) == "r1: T3 committed before T1, which comes first"


def test_domains_that_overtake_each_other_keep_their_own_order():
    run = history(f"{begun(1)} ; {apply(2, 'b', 2)} ; engine_committed T1@w1")
    assert not domains_commit_in_order(run)
    assert domains_overtake_each_other(run)
    assert not domains_overtake_each_other(history(f"{apply(1, 'a')} ; {apply(2, 'b')}"))
    within = history(f"{BOTH} ; engine_committed T3@w2 ; engine_committed T1@w1")
    assert not domains_overtake_each_other(within)


def test_reader_that_sees_a_prefix_of_each_domain_sees_them_in_order():
    # T2 is of another domain: to see T3 without it is no gap.
    run = history("read session=s [a=T1 b=T0 d=T0] ; read session=s [a=T3 b=T0 d=T0]")
    assert verdict(run, domains_are_read_in_order) is Verdict.HOLDS


def test_reader_that_sees_a_gap_in_a_domain_is_reported():
    (breach,) = domains_are_read_in_order(history("read session=s [a=T1 d=T4]"))
    assert (breach.seen, breach.missed) == (4, 3)


def test_reader_that_goes_back_in_one_domain_is_reported():
    run = history("read session=s [a=T3 b=T0] ; read session=s [a=T1 b=T2]")
    (breach,) = domains_are_read_in_order(run)
    assert breach.missed == 3


def flushed(*numbers):
    return " ; ".join(f"flushed T{number}@w1 group={number}" for number in numbers)


def committed(*numbers):
    return " ; ".join(f"engine_committed T{number}@w1" for number in numbers)


def test_binary_log_with_each_domain_in_order_holds():
    assert verdict(history(flushed(2, 1, 3)), replica_logs_domains_in_order) is Verdict.HOLDS


def test_binary_log_with_a_domain_out_of_order_is_reported():
    (breach,) = replica_logs_domains_in_order(history(flushed(1, 4, 3)))
    assert str(breach) == "r1: T4 was logged before T3, which comes first"


def test_binary_log_of_one_transaction_per_domain_shows_nothing():
    assert verdict(history(flushed(2, 1)), replica_logs_domains_in_order) is Verdict.UNKNOWN


def test_engine_that_commits_as_logged_holds():
    run = history(f"{flushed(1, 2, 3)} ; {committed(1, 2, 3)}")
    assert verdict(run, engine_commits_follow_the_replicas_log) is Verdict.HOLDS


def test_engine_that_commits_unlike_the_log_is_reported_over_domains_too():
    run = history(f"{flushed(1, 2, 3)} ; {committed(2, 1, 3)}")
    (breach,) = engine_commits_follow_the_replicas_log(run)
    assert str(breach) == "r1: T2 committed before T1, which its binary log has first"


def test_statement_that_commits_by_itself_is_not_compared_with_the_log():
    run = history(f"{flushed(1, 3, 5)} ; {committed(5, 1, 3)}")
    assert not engine_commits_follow_the_replicas_log(run)


def test_domain_within_its_worker_limit_holds():
    run = history(
        f"{BOTH} ; {begun(2, 3)} ; engine_committed T1@w1 ; engine_committed T3@w2",
        'options={"domain_workers":2} ',
    )
    assert verdict(run, domains_keep_their_worker_limit) is Verdict.HOLDS


def test_domain_with_one_worker_too_many_is_reported():
    (breach,) = domains_keep_their_worker_limit(history(BOTH, 'options={"domain_workers":1} '))
    assert str(breach) == "r1: domain 1 had workers 1, 2; it may have 1"


def test_worker_that_goes_on_with_the_next_of_its_domain_is_one_worker():
    events = f"{begun(1)} ; engine_committed T1@w1 ; {begun(3, 2)} ; rolled_back T3@w2 ; {begun(4)}"
    assert not domains_keep_their_worker_limit(history(events, 'options={"domain_workers":1} '))


def test_limit_of_zero_is_no_limit():
    run = history(BOTH, 'options={"domain_workers":0} ')
    assert verdict(run, domains_keep_their_worker_limit) is Verdict.UNKNOWN


def test_transaction_that_a_crash_removed_from_the_log_is_logged_again():
    first = "flushed T1@r1 ; flushed T3@r1 ; "
    again = "flushed T1@r1 ; flushed T3@r1"
    assert not replica_logs_domains_in_order(history(f"{first}crashed @r1 ; {again}"))
    assert replica_logs_domains_in_order(history(f"{first}crashed @r2 ; {again}"))
    assert replica_logs_domains_in_order(history(f"{first}{again}"))
