"""Short logs run on every schedule, except for the order of independent steps."""

import itertools

import pytest

from paraply.adapters.conformance.cases import cases_named, suite
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.interleavings import Interleavings
from paraply.adapters.conformance.rules.correct import LogicalClock, WriteSet
from paraply.adapters.conformance.rules.faulty import WaitsForOneNumber
from paraply.cli import main
from paraply.conforming.suite import EXPLORED_MAX, SCHEDULES, SHORT_LOG, Conformance, Result
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import Exploration

SHORT = [case for case in suite() if len(log_for(case, 0).transactions) <= SHORT_LOG]
RULES = (LogicalClock, WriteSet, WaitsForOneNumber)
CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"


class ForgetsOneCompletion(LogicalClock):
    """Notes one early completion, which the transaction behind it overwrites.

    It stops once the transaction before that one has committed.
    """

    name = "forgets_one_completion"

    def __init__(self, init):
        super().__init__(init)
        self.noted = self.overwritten = None
        self.has_lost_count = False

    def on_received(self, transaction):
        if self.noted is not None and transaction.id == self.noted + 1:
            self.overwritten, self.noted = self.noted, None

    def on_committed(self, transaction):
        if transaction.id + 1 == self.overwritten:
            self.has_lost_count = True
        if transaction.id == 2 and 1 not in self.committed:
            self.noted = transaction.id

    def place(self, transaction):
        return None if self.has_lost_count else super().place(transaction)


def conformance_of(rule, **options):
    found = Conformance(InlineLauncher(rule), shrink_runs_max=0, **options)
    assert not found.meet().fault
    return found


@pytest.mark.long
def test_fault_that_40_uniform_and_adversarial_schedules_miss_is_found():
    (case,) = cases_named(["C-sparse-02"])
    drawn = conformance_of(ForgetsOneCompletion, schedules=2 * SCHEDULES, explored_max=0)
    assert drawn.run_case(case).result is Result.PASS
    found = conformance_of(ForgetsOneCompletion, explored_max=None).run_case(case)
    assert found.result is Result.FAIL
    assert "nothing can move" in found.reason
    right = conformance_of(LogicalClock, explored_max=None).run_case(case)
    assert right.result is Result.PASS
    assert right.explored.is_exhaustive


@pytest.mark.long(quick=8)
@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.id)
def test_short_case_is_explored_within_the_default_budget_or_says_what_is_left(case):
    explored = conformance_of(LogicalClock).run_case(case).explored
    assert explored.is_exhaustive or case.id == "C-sparse-02"
    assert explored.is_exhaustive == (explored.runs + explored.repeated < EXPLORED_MAX)
    assert explored.is_repeatable


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize(
    "case", cases_named(["N-parallel-01", "D-collation-06"]), ids=lambda case: case.id
)
def test_left_out_schedules_show_nothing_new(case, rule):
    """Compare with all schedules of the same log, independent steps in both orders."""
    conformance = conformance_of(rule)
    reduced, whole = [], []
    interleavings = Interleavings(log_for(case, 0), None)
    for schedule in interleavings:
        run = conformance.run_once(case, schedule, 0)
        if not schedule.is_repetition:
            reduced.append(run)
    assert interleavings.explored.is_exhaustive
    exploration = Exploration()
    for schedule in itertools.islice(exploration, 60_000):
        whole.append(conformance.run_once(case, schedule, 0))
    assert exploration.is_complete
    assert len(reduced) < len(whole) / 5
    orders = {EventKind.DELIVERED, EventKind.ENGINE_COMMITTED}

    def outcomes(runs):
        return {
            (
                tuple((e.kind, e.transaction) for e in run.history.events if e.kind in orders),
                frozenset(
                    prop.name
                    for prop in conformance.properties_of(case)
                    if prop.violations(run.history)
                ),
            )
            for run in runs
        }

    assert outcomes(reduced) == outcomes(whole)


@pytest.mark.long
def test_report_says_what_was_enumerated(capsys):
    assert main(["conform", "--case", "N-parallel-01", "C-sparse-02", "--applier", CLOCK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("1 short cases: all 28 schedules") for line in lines)
    assert any(line.startswith("C-sparse-02: ") and "or more" in line for line in lines)


class Wavering(LogicalClock):
    """Chooses by a number that runs count up, as a program with threads does."""

    name = "wavering"
    runs = itertools.count()

    def __init__(self, init):
        super().__init__(init)
        self.is_slow = next(self.runs) % 2

    def place(self, transaction):
        if self.is_slow and self.running:
            return None
        return super().place(transaction)


def test_applier_that_does_not_repeat_itself_is_never_called_exhausted():
    (case,) = cases_named(["N-parallel-01"])
    explored = conformance_of(Wavering).run_case(case).explored
    assert not explored.is_repeatable
    assert not explored.is_exhaustive
