"""How parallel a log is: exact small cases, and a slow scheduler as the oracle."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.critical_path import LINKS_SHOWN, CriticalPath, one_after_the_other
from paraply.properties.logs.dependency_safety import get_touches
from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.properties.logs.parallelism import MODELS
from paraply.properties.logs.transaction_facts import get_schema
from paraply.properties.logs.width_over_time import WidthOverTime
from paraply.vocabulary.audit_result import TransactionRef
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import WHOLE_ROW, LoggedKind
from paraply.vocabulary.verdict import Verdict
from tests.builders.logged import NotationKeys, log, maria_log, stamped, transaction
from tests.properties.logged_strategies import mariadb_logs, mysql_logs

WORKERS = (1, 2, 3)


def audited(transactions, workers=WORKERS):
    auditor = Auditor(NotationKeys(), AuditOptions(workers=workers))
    for txn in transactions:
        auditor.observe(txn)
    return auditor.result()


def models(transactions, workers=WORKERS):
    return {entry.model: entry for entry in audited(transactions, workers).parallelism}


# --- exact small cases ----------------------------------------------------------------------


def test_independent_transactions_take_one_round():
    found = models(log("1<0 a", "2<0 b", "3<0 c", "4<0 e"))["logical-clock"]
    assert (found.work, found.critical_path, found.steps, found.width_max) == (8, 2, 1, 4)
    assert found.ideal_speedup == 4.0
    assert found.speedup == {1: 1.0, 2: 2.0, 3: 2.0}
    assert found.width_mean == 4.0


def test_chain_takes_one_round_each():
    found = models(log("1<0 a", "2<1 a", "3<2 a"))
    assert found["logical-clock"].steps == found["row-conflicts"].steps == 3
    assert found["row-conflicts"].ideal_speedup == 1.0
    assert found["row-conflicts"].knee == 1


def test_prefix_waits_for_all_before_it_and_not_for_the_last_only():
    # 3 waits for 1 (long) and 2 (short): prefix up to 2.
    found = models(log("1<0 a b c e", "2<0 u.a", "3<2 u.b"))["logical-clock"]
    assert found.critical_path == 5 + 2


def test_row_conflicts_reach_more_than_a_serial_clock():
    found = models(log("1<0 a", "2<1 b", "3<2 a", "4<3 b"))
    assert found["logical-clock"].steps == 4
    assert found["row-conflicts"].steps == 2


def test_writer_waits_for_every_reader_and_not_only_the_newest():
    found = models(log("1<0 a b c/p.1", "2<0 e/p.1", "3<2 p.1"))["row-conflicts"]
    assert found.critical_path == 4 + 2


def test_readers_of_one_parent_run_together():
    assert models(log("1<0 a/p.1", "2<0 b/p.1"))["row-conflicts"].steps == 1


def test_ddl_runs_alone_where_rows_decide():
    ddl = stamped(2, "2<0", kind=LoggedKind.DDL, statements=("CREATE TABLE z (i INT)",))
    result = audited(log("1<0 a", ddl, "3<0 b"))
    found = {entry.model: entry for entry in result.parallelism}
    assert found["row-conflicts"].steps == found["by-table"].steps == 3
    assert found["logical-clock"].steps == 1
    assert result.blockers[0].kind == "ddl"
    assert result.blockers[0].name == "CREATE TABLE z (i INT)"


def test_rows_of_ddl_are_no_cause_beside_it():
    ddl = stamped(2, "2<1 a", kind=LoggedKind.DDL, statements=("CREATE TABLE d.t (i INT)",))
    result = audited([stamped(1, "1<0 b"), ddl, stamped(3, "3<2 a")])
    assert [(each.kind, each.transactions) for each in result.blockers] == [("ddl", 2)]


def test_commit_groups_wait_for_the_whole_group_before():
    found = models(maria_log("7 a b c", "7 u.a", "8 u.b", "8 e"))["commit-group"]
    # The second group begins when the first has started to commit.
    assert (found.steps, found.critical_path) == (2, 3 + 2)
    assert "logical-clock" not in models(maria_log("7 a", "7 b"))


def test_mysql_log_is_also_read_by_groups_of_one_last_committed():
    found = models(log("1<0 a", "2<1 b", "3<1 c", "4<2 e"))
    assert found["commit-group"].steps == 3


def test_partitions_order_what_shares_one():
    found = models(log("1<0 a", "2<0 b", "3<0 u.a"))
    assert found["by-table"].steps == 2
    assert found["by-schema"].steps == 3
    assert found["by-primary-key"].steps == 1


def test_partitioning_by_primary_key_is_unsafe_when_a_unique_key_moves_between_rows():
    found = models(log("1<0 a t#uk.x", "2<1 b t#uk.x", "3<2 a"))
    assert found["by-primary-key"].conflicting_pairs_apart == 1
    assert found["by-primary-key"].safe is Verdict.VIOLATED
    assert found["by-table"].safe is Verdict.HOLDS


def test_partitioning_by_table_is_unsafe_across_a_foreign_key():
    found = models(log("1<0 p.1", "2<1 c.1/p.1"))
    assert found["by-table"].conflicting_pairs_apart == 1
    assert found["by-table"].safe is Verdict.VIOLATED
    assert found["by-schema"].safe is Verdict.HOLDS


def test_partitioning_is_unknown_where_nothing_conflicts_or_keys_are_missing():
    assert models(log("1<0 a", "2<0 b"))["by-table"].safe is Verdict.UNKNOWN
    unkeyed = stamped(3, "3<2", unkeyed=["d.k"])
    assert models(log("1<0 a", "2<1 a", unkeyed))["row-conflicts"].safe is Verdict.UNKNOWN


def test_changes_without_keys_follow_each_other_by_table():
    unkeyed = [stamped(n, f"{n}<0", unkeyed=["d.k"]) for n in (1, 2, 3)]
    result = audited(log(*unkeyed))
    found = {entry.model: entry for entry in result.parallelism}
    assert found["row-conflicts"].steps == 3
    assert result.blockers[0].kind == "table"


def rows_without_a_key(number, searched="", left=""):
    def row(name):
        return ConflictKey(table="d.k", index=WHOLE_ROW, values=(name,), shown=name)

    return stamped(
        number,
        f"{number}<0",
        unkeyed=["d.k"],
        unidentified_tables=frozenset(),
        searched_rows=frozenset(map(row, searched)),
        left_rows=frozenset(map(row, left)),
    )


def test_rows_without_a_key_that_differ_wait_no_more_if_their_table_had_one():
    found = models(
        log(
            rows_without_a_key(1, left="a"),
            rows_without_a_key(2, left="b"),
            rows_without_a_key(3, searched="a", left="c"),
            rows_without_a_key(4, searched="b"),
        )
    )
    # The two inserts do not wait; what searches a row waits for both, and the last for the third.
    assert found["row-conflicts"].steps == 3
    assert found["with-keys"].steps == 2


def test_inserts_alone_never_wait_for_each_other_without_a_key():
    rows = [rows_without_a_key(number, left=text) for number, text in enumerate("abcd", 1)]
    assert models(log(*rows))["row-conflicts"].steps == 1
    rows.insert(2, rows_without_a_key(9, searched="x"))
    assert models(log(*rows))["row-conflicts"].steps == 3


def test_no_key_is_proposed_where_every_table_has_one_or_the_rows_are_not_known():
    assert "with-keys" not in models(log("1<0 a", "2<1 a"))
    unkeyed = [stamped(n, f"{n}<0", unkeyed=["d.k"]) for n in (1, 2, 3)]
    assert "with-keys" not in models(log(*unkeyed))


def test_clock_distances_are_counted_by_power_of_two():
    result = audited(log("1<0 a", "2<0 b", "3<0 c", "4<0 e", "5<1 a"))
    assert result.clock_distance == {1: 1, 2: 2, 4: 2}


def test_hot_key_is_the_top_blocker_and_its_path_is_told():
    result = audited(log("1<0 hot", "2<1 hot", "3<1 a", "4<2 hot"))
    (blocker,) = result.blockers
    assert (blocker.kind, blocker.name, blocker.transactions) == ("key", "d.t.PRIMARY(hot)", 2)
    assert blocker.share == pytest.approx(2 / 3, abs=1e-3)
    assert [(link.transaction.ordinal, link.waits_for) for link in result.critical_path] == [
        (1, 0),
        (2, 1),
        (4, 2),
    ]


def test_knee_is_the_last_number_of_workers_worth_having():
    texts = [f"{n}<0 k{n}" for n in range(1, 5)]
    assert models(log(*texts), workers=(1, 2, 4, 8, 16))["logical-clock"].knee == 4


def test_empty_log_has_no_width_and_no_division_by_zero():
    found = models([])["row-conflicts"]
    assert (found.work, found.ideal_speedup, found.width_mean) == (0, 1.0, 0.0)


# --- critical path and width in bounded memory ----------------------------------------------


def ref(ordinal):
    return TransactionRef(ordinal=ordinal, gtid="", file="f", offset=0)


def test_long_path_shows_both_ends_and_counts_all_of_it():
    path = CriticalPath()
    for n in range(1, 1001):
        path.observe(ref(n), n - 1, ("key", f"k{n % 2}"), 1, n)
    traced = path.trace()
    ordinals = [link.transaction.ordinal for link in traced.links]
    assert ordinals == [*range(1, LINKS_SHOWN + 1), *range(1001 - LINKS_SHOWN, 1001)]
    assert (traced.traced, traced.whole) == (1000, True)
    assert sum(blocker.transactions for blocker in traced.blockers) == 999


def test_path_longer_than_the_ring_is_told_by_its_last_part():
    path = CriticalPath(ring_max=100)
    for n in range(1, 1001):
        path.observe(ref(n), n - 1, ("key", "k"), 1, n)
    traced = path.trace()
    assert not traced.whole
    assert traced.traced == 100
    assert traced.links[-1].transaction.ordinal == 1000


def test_path_that_ended_long_ago_is_kept():
    path = CriticalPath(ring_max=100)
    for n in range(1, 46):
        path.observe(ref(n), n - 1, ("key", "k"), 1, n)
    for n in range(46, 1001):
        path.observe(ref(n), 0, ("key", "k"), 1, 1)
    traced = path.trace()
    assert [link.transaction.ordinal for link in traced.links] == list(range(1, 46))


def test_width_over_time_keeps_a_bounded_number_of_equal_slices():
    width = WidthOverTime(slices_max=4)
    for n in range(1, 101):
        width.observe((n + 1) // 2)  # Two transactions per round.
    assert width.slices() == [(1, 2.0), (17, 2.0), (33, 2.0), (49, 2.0)]


def test_width_over_time_shows_each_round_of_a_small_log():
    width = WidthOverTime()
    for level in (1, 1, 1, 2, 3, 3):
        width.observe(level)
    assert width.slices() == [(1, 3.0), (2, 1.0), (3, 2.0)]


def test_width_over_time_of_an_empty_log_is_empty():
    assert WidthOverTime().slices() == []


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 7), st.randoms())
def test_width_over_time_is_the_mean_count_of_each_slice_in_whatever_order(counts, slices_max, rng):
    counts = [*counts, 1]
    levels = [level for level, count in enumerate(counts, 1) for _ in range(count)]
    rng.shuffle(levels)
    width = WidthOverTime(slices_max)
    for level in levels:
        width.observe(level)
    slices = width.slices()
    assert len(slices) <= slices_max
    size = width.slice_rounds
    assert slices == [
        (first + 1, round(sum(counts[first : first + size]) / len(counts[first : first + size]), 4))
        for first in range(0, len(counts), size)
    ]
    # No coarser than it must be.
    assert size == 1 or len(counts) > slices_max * size // 2


LEVELS = st.lists(st.integers(1, 30), min_size=1, max_size=40)


def width_of(levels, slices_max):
    width = WidthOverTime(slices_max)
    for level in levels:
        width.observe(level)
    return width


@given(LEVELS, LEVELS, st.integers(0, 20))
def test_width_of_two_parts_is_that_of_both_where_slices_are_of_one_round(first, second, shift):
    width = width_of(first, 400)
    width.add(width_of(second, 400), shift)
    both = width_of([*first, *(level + shift for level in second)], 400)
    assert width.slices() == both.slices()


@pytest.mark.long
@given(LEVELS, LEVELS, st.integers(1, 7), st.integers(1, 7), st.integers(-30, 20))
def test_width_of_two_parts_loses_nobody_however_slices_lie(first, second, one, other, shift):
    width = width_of(first, one)
    width.add(width_of(second, other), shift)
    assert sum(width.counts) == len(first) + len(second)
    assert width.rounds == max(*first, max(second) + shift)
    assert len(width.slices()) <= one


def test_paths_of_two_parts_follow_each_other():
    parts = [CriticalPath(), CriticalPath()]
    for part in parts:
        for n in range(1, 4):
            part.observe(ref(n), n - 1, ("key", "k"), 1, n)
    # The second part begins at its second transaction, and follows three of the first.
    parts[1].begin_at(2)
    path = one_after_the_other([(parts[0].trace(), 0), (parts[1].trace(), 2)])
    assert [(link.transaction.ordinal, link.waits_for) for link in path.links] == [
        (1, 0), (2, 1), (3, 2), (4, 3), (5, 4),
    ]  # fmt: skip
    (blocker,) = path.blockers
    assert (blocker.name, blocker.transactions, blocker.share) == ("k", 4, 0.8)
    assert (path.traced, path.whole) == (5, True)


# --- a scheduler by definition --------------------------------------------------------------


def schedule(transactions, waits, workers, commits=lambda _: 0):
    """Return the end with N workers, None for unbounded, by asking about every pair.

    A transaction that waits for another may run beside the last ``commits`` steps of it.
    """
    free = [0] * (workers or 0)
    finish = []
    for later, txn in enumerate(transactions):
        before = [i for i in range(later) if waits(i, later)]
        start = max((finish[i] - commits(i) for i in before), default=0)
        work = 1 + len(txn.rows)
        if workers:
            at = free.index(min(free))
            start = max(start, free[at])
            free[at] = start + work
        finish.append(start + work)
    return max(finish, default=0)


def waits_by_model(transactions, model):
    ordinals = [txn.ordinal for txn in transactions]
    if model in ("logical-clock", "commit-group"):
        allowed = check_all_pairs(transactions, model).allowed
        return lambda i, j: (
            (ordinals[i], ordinals[j]) not in allowed
            and (model == "logical-clock" or transactions[i].domain == transactions[j].domain)
        )
    touches = [get_touches(txn) for txn in transactions]

    def shares(i, j):
        a, b = touches[i], touches[j]
        if transactions[i].is_barrier or transactions[j].is_barrier:
            return True
        if model == "row-conflicts":
            reads = b.writes.keys() | b.reads.keys()
            return bool(a.writes.keys() & reads or a.reads.keys() & b.writes.keys())
        if model == "by-table":
            return bool(a.tables & b.tables)
        if model == "by-schema":
            return bool({*map(get_schema, a.tables)} & {*map(get_schema, b.tables)})
        primary = {key for key in a.writes if key.index == "PRIMARY"}
        return bool(primary & b.writes.keys())

    return shares


def disagreement(transactions, names):
    found = models(transactions)
    for model in names:
        entry = found.get(model)
        if entry is None:
            continue
        waits = waits_by_model(transactions, model)

        def commits(i, model=model):
            txn = transactions[i]
            return int(model == "commit-group" and txn.domain is not None and not txn.is_barrier)

        path = schedule(transactions, waits, None, commits)
        if entry.critical_path != path:
            return f"{model}: critical path {entry.critical_path}, not {path}"
        for workers in WORKERS:
            end = schedule(transactions, waits, workers, commits)
            if entry.speedup[workers] != (round(entry.work / end, 4) if end else 1.0):
                return f"{model}: {workers} workers end at {entry.speedup[workers]}, not {end}"
    return None


@pytest.mark.long
@given(mysql_logs())
def test_models_of_a_mysql_log_agree_with_the_slow_scheduler(transactions):
    names = [model for model in MODELS if model != "commit-group"]
    assert disagreement(transactions, names) is None


@pytest.mark.long
@given(mariadb_logs())
def test_models_of_a_mariadb_log_agree_with_the_slow_scheduler(transactions):
    assert disagreement(transactions, MODELS) is None


@pytest.mark.long
@given(mysql_logs())
def test_more_room_never_makes_the_ideal_worse(transactions):
    for entry in models(transactions, workers=(1, 2, 4, 64)).values():
        assert entry.speedup[1] == 1.0
        assert all(value <= entry.ideal_speedup for value in entry.speedup.values())
        # As many workers as transactions are as good as unbounded.
        assert entry.speedup[64] == entry.ideal_speedup
        assert entry.width_max <= len(transactions)


def test_slow_scheduler_itself_by_hand():
    transactions = log("1<0 a b", "2<0 c", "3<2 a")
    waits = waits_by_model(transactions, "logical-clock")
    # Work 3, 2, 2: unbounded 3 then 2; one worker 7; two workers 3 then 2.
    assert [schedule(transactions, waits, n) for n in (None, 1, 2)] == [5, 7, 5]


def test_transactions_of_every_pair_of_models_are_the_same_work():
    found = models([*log("1<0 a b", "2<1 a"), transaction(3, kind=LoggedKind.EMPTY)])
    for one, other in itertools.pairwise(found.values()):
        assert one.work == other.work == 6


def test_path_of_two_parts_is_whole_only_if_both_are():
    whole = CriticalPath()
    for n in range(1, 4):
        whole.observe(ref(n), n - 1, ("key", "k"), 1, n)
    part = replace(whole.trace(), whole=False)
    for first, second in ((part, whole.trace()), (whole.trace(), part)):
        assert not one_after_the_other([(first, 0), (second, 3)]).whole


def test_search_without_a_key_waits_for_changes_of_rows_without_a_key_only():
    keyed = stamped(1, "1<0 k.a")
    search = rows_without_a_key(2, searched="x")
    assert models(log(keyed, search))["row-conflicts"].steps == 1
    unkeyed = rows_without_a_key(1, left="a")
    assert models(log(unkeyed, search))["row-conflicts"].steps == 2
