"""Schedules that choose by content, their replay, and the stamps of every source."""

from itertools import combinations, pairwise

import pytest

from paraply.adapters.conformance.adversaries import (
    Adversary,
    Offer,
    OfferKind,
    SteeredSchedule,
    mixed_schedules,
)
from paraply.adapters.conformance.cases import cases_named, suite
from paraply.adapters.conformance.cases.case import empty_log
from paraply.adapters.conformance.cases.scaled import (
    DEFAULT,
    all_pairs,
    covered_json,
    read_covered,
    uncovered_scales,
)
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.rules.correct import (
    LogicalClock,
    MariaDBConservative,
    MySQLCoordinator,
    WriteSet,
)
from paraply.adapters.conformance.session import RunOptions, Session
from paraply.adapters.conformance.source import insert, update
from paraply.adapters.conformance.stamps import Stamps
from paraply.conforming.suite import Conformance, Result
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import RecordedSchedule, SeededSchedule


def offers(*transactions):
    return [
        Offer(OfferKind.ANSWER, lambda: None, place=one, members=(one,)) for one in transactions
    ] + [Offer(OfferKind.DELIVER, lambda: None)]


def steered(adversary, **more):
    options = {"workers": 3, "transactions": 9, "steps": 30} | more
    return SteeredSchedule(7, adversary, **options)


def test_latest_first_delivers_then_takes_the_newest():
    schedule = steered(Adversary.LATEST_FIRST)
    assert schedule.choose(offers(3, 8, 5)).kind is OfferKind.DELIVER
    assert schedule.choose(offers(3, 8, 5)[:-1]).transaction == 8
    assert schedule.choices == [3, 1]


def test_starved_worker_moves_only_when_nothing_else_can():
    schedule = steered(Adversary.STARVE_WORKER)
    taken = [schedule.choose(offers(1, 2, 3)).place for _ in range(60)]
    (starved,) = {1, 2, 3} - set(taken)
    assert schedule.choose(offers(starved)[:1]).place == starved


def test_priorities_change_at_most_twice():
    schedule = steered(Adversary.PRIORITIES, steps=40)
    taken = [schedule.choose(offers(1, 2, 3)).place for _ in range(60)]
    changes = sum(a != b for a, b in pairwise(taken))
    assert changes <= 2


def test_faults_come_at_drawn_steps_and_strike_one_victim_again():
    schedule = steered(Adversary.LATEST_FIRST, faults=2)
    faults = [Offer(OfferKind.DEADLOCK, lambda: None, one, members=(one,)) for one in (1, 2, 3)]
    taken = [schedule.choose([*offers(1, 2, 3), *faults]) for _ in range(30)]
    victims = [one.transaction for one in taken if one.kind is OfferKind.DEADLOCK]
    assert len(victims) > 2
    assert len(set(victims)) <= 2


@pytest.mark.parametrize("adversary", Adversary)
def test_steered_run_replays_from_its_choices_alone(adversary):
    (case,) = cases_named(["L-retry-05"])
    log = case.log(0)
    options = RunOptions(deadlocks=2, crashes=1)
    schedule = steered(adversary, workers=4, transactions=len(log.transactions), faults=3)
    launcher = InlineLauncher(LogicalClock)
    run = Session(launcher, log, schedule, options).run()
    again = Session(launcher, log, RecordedSchedule(schedule.choices, strict=True), options).run()
    assert again.history.events == run.history.events


def test_every_second_schedule_is_uniform_and_all_adversaries_take_turns():
    made = list(mixed_schedules(range(20), workers=4, transactions=5, steps=20, faults=0))
    assert all(type(one) is SeededSchedule for one in made[::2])
    assert all(type(one) is SteeredSchedule for one in made[1::2])


def stamps(log):
    return [
        (one.timestamp.last_committed, one.timestamp.sequence_number) for one in log.transactions
    ]


def six_transactions():
    log = empty_log("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
    for number in (1, 2, 3):
        log.transaction(insert("d.t", number, 0), session="s")
    log.transaction(update("d.t", {"id": 2}, v=1))
    log.rotate()
    log.transaction(update("d.t", {"id": 1}, v=1))
    log.transaction(update("d.t", {"id": 1}, v=2))
    return log


def test_writeset_waits_for_the_newest_writer_of_a_key():
    assert stamps(six_transactions()) == [(0, 1), (1, 2), (1, 3), (2, 4), (0, 1), (1, 2)]


def test_commit_order_gives_one_last_committed_to_a_group():
    log = six_transactions().stamped(Stamps.COMMIT_ORDER)
    assert stamps(log) == [(0, 1), (1, 2), (1, 3), (3, 4), (0, 1), (1, 2)]


def test_session_order_is_kept_by_writeset_session():
    log = six_transactions().stamped(Stamps.WRITESET_SESSION)
    assert stamps(log)[:3] == [(0, 1), (1, 2), (2, 3)]


def test_merged_log_has_one_file_and_a_barrier_at_the_border():
    log = six_transactions().stamped(Stamps.MERGED)
    assert stamps(log)[3:] == [(2, 4), (4, 5), (5, 6)]
    assert {entry.file for entry in log.entries} == {"bin.000001"}


def logs_stamped(kind):
    for case in suite():
        log = case.log(3).stamped(kind)
        # A case may give its own stamps, or a target with keys that the source does not know.
        if log.stamps is kind and "writeset" not in case.needs:
            yield log


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("kind", Stamps)
def test_stamps_order_conflicts_and_write_zero_only_at_the_start_of_a_file(kind):
    for log in logs_stamped(kind):
        first_of_file = set()
        for at, one in enumerate(log.transactions):
            stamp = one.timestamp
            assert stamp.last_committed < stamp.sequence_number
            if stamp.last_committed == 0:
                assert one.clock not in first_of_file
            first_of_file.add(one.clock)
            for earlier in log.transactions[:at]:
                if earlier.clock == one.clock and earlier.conflicts_with(one):
                    assert earlier.timestamp.sequence_number <= stamp.last_committed


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("kind", Stamps)
def test_commit_groups_are_without_conflict_and_their_numbers_never_come_back(kind):
    for log in logs_stamped(kind):
        ids = [int(one.commit_id) for one in log.transactions]
        assert ids == sorted(ids)
        for earlier, later in combinations(log.transactions, 2):
            if earlier.commit_id == later.commit_id:
                assert not earlier.conflicts_with(later)
                assert earlier.clock == later.clock


@pytest.mark.long
@pytest.mark.parametrize("rule", [MySQLCoordinator, MariaDBConservative], ids=lambda one: one.name)
def test_coordinator_of_a_server_passes_every_case_with_nothing_unknown(rule):
    conformance = Conformance(InlineLauncher(rule), schedules=10)
    assert not conformance.meet().fault
    results = conformance.run_all(suite())
    odd = {
        one.case.id: one.reason for one in results if one.result not in (Result.PASS, Result.SKIP)
    }
    assert odd == {}


class ForgetsTheSlow(LogicalClock):
    """Keeps the last four numbers under way, and forgets a transaction that takes longer."""

    name = "forgets_the_slow"

    def place(self, transaction):
        for other in self.running:
            is_remembered = transaction.sn - other.sn <= 4
            if other.file != transaction.file or (is_remembered and other.sn <= transaction.lc):
                return None
        return self.free_worker()


@pytest.mark.long
def test_ring_buffer_that_forgets_a_slow_transaction_is_caught():
    conformance = Conformance(InlineLauncher(ForgetsTheSlow), shrink_runs_max=0)
    conformance.meet()
    assert conformance.run_case(cases_named(["A-random-01"])[0]).result in Result
    results = conformance.run_all(suite())
    assert any(one.result is Result.FAIL for one in results)


class OneAtATimeByTable(WriteSet):
    """Runs transactions of one table one after another."""

    name = "one_at_a_time_by_table"

    def conflict(self, earlier, later):
        tables = {row["table"] for row in earlier.rows}
        return super().conflict(earlier, later) or any(r["table"] in tables for r in later.rows)


@pytest.mark.long
def test_needless_waiting_is_slow_and_not_wrong():
    conformance = Conformance(InlineLauncher(OneAtATimeByTable))
    conformance.meet()
    results = {one.case.id: one for one in conformance.run_all(cases_named(["N", "M-once"]))}
    assert results["N-parallel-06"].result is Result.SLOW
    assert results["N-parallel-06"].result.verdict.exit_code == 0
    assert Result.FAIL not in {one.result for one in results.values()}


class Compacts(LogicalClock):
    """Applies a DELETE and an INSERT of one key as an UPDATE, and leaves out no-op updates."""

    name = "compacts"
    features = LogicalClock.features | {"net_rows"}

    def rows_of(self, transaction):
        left = [row for row in transaction.rows if row["before"] != row["after"]]
        for at, row in enumerate(left):
            if row["op"] != "D":
                continue
            for later in left[at + 1 :]:
                same = later["op"] == "I" and later["table"] == row["table"]
                if same and later["after"][0] == row["before"][0]:
                    merged = {**row, "op": "U", "after": later["after"]}
                    return [merged if one is row else one for one in left if one is not later]
        return left


def results_on(rule, names):
    conformance = Conformance(InlineLauncher(rule), shrink_runs_max=0)
    conformance.meet()
    return {one.case.id: one.result for one in conformance.run_all(cases_named(names))}


class CompactsSilently(Compacts):
    """Leaves no-op updates out, and does not offer `net_rows`."""

    features = LogicalClock.features

    def rows_of(self, transaction):
        rows = transaction.rows
        return [at for at, row in enumerate(rows) if row["before"] != row["after"]]


@pytest.mark.long
def test_compactor_with_net_rows_passes_and_lost_rows_are_still_found():
    names = ["J", "I", "B-random"]
    assert set(results_on(Compacts, names).values()) == {Result.PASS}

    class Loses(Compacts):
        def rows_of(self, transaction):
            return super().rows_of(transaction)[:2]

    assert Result.FAIL in results_on(Loses, names).values()
    assert Result.FAIL in results_on(CompactsSilently, names).values()


class ForgetsItsPosition(LogicalClock):
    """Saves a position below the last one."""

    name = "forgets_its_position"

    def checkpoint(self, order, last_received):
        return 0 if len(self.committed) == 3 else super().checkpoint(order, last_received)


def test_checkpoint_that_falls_breaks_the_protocol():
    assert results_on(ForgetsItsPosition, ["M-position-06"]) == {"M-position-06": Result.FAIL}


def test_pairs_of_sizes_are_all_covered_and_remembered(tmp_path):
    covered = set()
    scales = list(uncovered_scales(covered, 0))
    assert all_pairs() <= covered
    assert all(one.is_affordable for one in scales)
    assert not list(uncovered_scales(covered, 1))
    file = tmp_path / "covered.json"
    file.write_text(covered_json(covered))
    assert read_covered(file) == covered
    file.write_text("[1]")
    with pytest.raises(ParaplyError) as error:
        read_covered(file)
    assert error.value.error.code == "P637"


def test_case_of_a_size_is_found_by_its_id():
    scale = DEFAULT[0]
    assert cases_named([scale.id])[0].id == scale.id
    (other,) = cases_named(["O-w2-n12-r1-f1-d6-t1-unique-ordered"])
    assert (other.workers, other.deadlocks, other.commit_order) == (2, 6, True)
    for name in ("O-w0-n12-r1-f1-d6-t1-unique-ordered", "O-w2-n12-r1-f1-d6-t1-odd-calm"):
        with pytest.raises(ParaplyError):
            cases_named([name])
