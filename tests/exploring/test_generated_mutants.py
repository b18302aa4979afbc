"""Generated mutants of the reference: fates, and the published ones are still caught."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from ci.pages.mutation_score import records
from paraply.counterexamples.hunt import system_of
from paraply.exploring.generated.fates import Fate, Store, judged
from paraply.exploring.generated.forking import TimeOutError
from paraply.exploring.generated.possible import Possible, is_possible
from paraply.exploring.generated.reference import ReferenceCampaign, _Trial
from paraply.exploring.generated.runs import USUAL_MIN, left_unknown
from paraply.mining.drawing import drawn_schedule
from paraply.properties.campaign import content_digest
from paraply.properties.registry import Evidence
from paraply.properties.search import random_schedules, search
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, property_named, subject_named
from paraply.vocabulary.schedule import SeededSchedule
from tests.builders.seeds import SEEDS

WHERE = "certifier mysql_8_0"
MODULE = "paraply.reference_impl.certification.lc_sn"
SAMPLE = 4


@pytest.fixture(scope="module")
def campaign():
    return ReferenceCampaign(each=8, seed=1, where=WHERE)


@pytest.fixture(scope="module")
def mutants(campaign):
    return campaign.mutants([MODULE])


class Told:
    """A run that raises an exception, or whose history differs and breaks a property or none."""

    digest = 0
    where = "applier"
    subject = subject_named("applier")

    def __init__(self, end):
        self.end = end

    def again(self):
        if isinstance(self.end, BaseException):
            raise self.end
        return self.subject.run(SeededSchedule(0), Workload(transactions=1)), []

    def breach(self, history, judges):
        return self.end


def fate_of(campaign, mutants, what):
    chosen = [one for one in mutants if what in one.mutation.what]
    (found,) = campaign.judged(chosen[:1])
    return found


def test_wrong_number_is_caught_by_a_property_in_a_fork(campaign, mutants):
    found = fate_of(campaign, mutants, "`stored > last_committed` → `stored <= last_committed`")
    assert found.fate is Fate.CAUGHT
    assert found.where == WHERE
    assert found.by
    assert all(content_digest(run.again()[0]) == run.digest for run in campaign.runs)


def test_exception_is_no_catch(campaign, mutants):
    found = fate_of(
        campaign, mutants, "`last_committed = self.window.last_committed_global` → `pass`"
    )
    assert found.fate is Fate.CRASHED
    assert found.by == "UnboundLocalError"


def test_runs_without_a_history_hide_no_other_run(campaign):
    """Every order of runs that crash, differ and break a property has the same fate."""
    crash, differ, breach = ZeroDivisionError("no history"), "", "a_property"
    for seen, fate in [
        ((crash, differ), Fate.SURVIVED),
        ((crash, differ, breach), Fate.CAUGHT),
        ((crash, TimeOutError()), Fate.CRASHED),
    ]:
        for order in permutations(seen):
            trial = _Trial([Told(one) for one in order], {"applier": []})
            trial.run()
            assert trial.fate is fate


def test_mutants_of_functions_that_no_run_reaches_are_left_out(campaign):
    assert campaign.mutants(["paraply.reference_impl.applier.commit_order"]) == []


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_sample_of_published_mutants_is_still_caught(seed):
    print(f"seed {seed}")
    note, published = records()
    caught = [one for one in published if one["fate"] == "caught"]
    where = Random(seed).choice(sorted({one["where"] for one in caught}))
    names = {one["name"] for one in caught if one["where"] == where}
    modules = {name.partition(":")[0] for name in names}
    campaign = ReferenceCampaign(each=note["each"], seed=note["seed"], where=where)
    again = [one for one in campaign.mutants(sorted(modules)) if one.name in names]
    chosen = Random(seed).sample(again, min(SAMPLE, len(again)))
    missed = [one.name for one in campaign.judged(chosen) if one.fate is not Fate.CAUGHT]
    assert missed == [], f"{where}: caught when they were published, now not"


def test_history_is_possible_for_its_own_subject_and_not_when_changed():
    subject, workload = subject_named("applier"), Workload(transactions=3)
    history = subject.run(SeededSchedule(4), workload)
    assert is_possible(subject, workload, history) is Possible.YES
    shorter = replace(history, events=history.events[:-2])
    assert is_possible(subject, workload, shorter, tries_max=5_000) is Possible.NO
    assert is_possible(subject, workload, history, tries_max=1) is Possible.UNKNOWN


DRAWN = [
    ("applier", 3),
    ("certifier", 4),
    ("group", 3),
    ("gtid_positions", 3),
    ("mariadb_parallel", 3),
    ("semi_sync", 3),
    ("source", 3),
]


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(("name", "transactions"), DRAWN)
@pytest.mark.parametrize("seed", [1, 2])
def test_history_of_a_drawn_schedule_is_found_again_in_as_many_runs(
    name, transactions, seed, monkeypatch
):
    subject, workload = subject_named(name), Workload(transactions=transactions)
    history = subject.run(drawn_schedule(seed), workload)
    simulate, runs = subject.simulate, []

    def counted(*arguments):
        runs[-1] += 1
        return simulate(*arguments)

    monkeypatch.setattr(subject, "simulate", counted, raising=False)
    for _ in range(2):
        runs.append(0)
        assert is_possible(subject, workload, history) is Possible.YES
    assert runs[0] == runs[1]


@pytest.mark.long
def test_choice_that_shows_long_after_it_was_made_is_found():
    """Without its extra locks, which are drawn before the run, a group waits less."""
    module = "paraply.reference_impl.mariadb.replica"
    campaign = ReferenceCampaign(each=8, seed=1, where="mariadb_parallel optimistic")
    what = "`if not self.lock_beside(group):     return` → `if False"
    assert fate_of(campaign, campaign.mutants([module]), what).fate is Fate.LEGAL


def test_history_of_a_fault_is_impossible_for_the_subject_without_it():
    mutant = mutant_named("commit_order_is_not_asked")
    original = subject_named(mutant.subject.name)
    system = system_of(mutant.subject, mutant.workload)
    found = search(system, property_named(mutant.caught_by), random_schedules(0, 2_000))
    assert found is not None
    assert is_possible(original, mutant.workload, found.history) is not Possible.YES


def test_store_continues_after_a_half_written_line(tmp_path, campaign, mutants):
    store = Store(tmp_path / "new" / "fates.jsonl")
    one = judged(mutants[0], Fate.SURVIVED, runs=3)
    store.add(one)
    with store.path.open("a", encoding="utf-8") as file:
        file.write('{"name": "ha')
    assert store.read() == {one.name: one}
    other = judged(mutants[1], Fate.CAUGHT, runs=1)
    store.add(other)
    assert store.read() == {one.name: one, other.name: other}


def test_store_makes_its_folder_and_gives_back_what_was_drawn(tmp_path):
    store = Store(tmp_path / "new" / "reference.jsonl")
    store.note(total=3, sample=2)
    assert store.noted() == {"total": 3, "sample": 2}
    assert store.read() == {}


DECIDED = {"is_rare": Evidence(relevant=1, decided=1)}
ABSENT = {"is_rare": Evidence()}
MISSING = {"is_rare": Evidence(relevant=2, decided=1, missing="no gtid")}
OFTEN = [DECIDED] * USUAL_MIN


@pytest.mark.parametrize(
    ("before", "after", "is_left"),
    [
        (OFTEN, [ABSENT], True),
        (OFTEN, [ABSENT, DECIDED], False),
        (OFTEN, [MISSING, DECIDED], True),
        (OFTEN, [{}], False),
        (OFTEN[1:], [ABSENT], False),
        ([*OFTEN, MISSING], [ABSENT], False),
    ],
)
def test_property_is_left_unknown_that_usual_runs_decide(before, after, is_left):
    assert left_unknown(before, after) == (["is_rare"] if is_left else [])


@pytest.mark.long
def test_fault_after_which_a_situation_never_occurs_is_noticed():
    where = "composed mysql_8_3"
    module = "paraply.reference_impl.composed.run"
    campaign = ReferenceCampaign(each=24, seed=1, where=where)
    what = "`member.read(READER)` → `pass`"
    found = fate_of(campaign, campaign.mutants([module]), what)
    assert (found.fate, found.where) == (Fate.NOTICED, where)
    assert found.by
