"""Live histories as steps of the models: runs of the reference, right and faulty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.models.recorded import following
from paraply.observing.model_traces import UNDECIDED_MAX, follow_live
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, subject_named

UNORDERED = "logical_clock_unordered"
ONE_FILE = {"rotations": 0, "collections": 0, "reads": 0, "barriers": False, "workers": 4}


def followed(subject, dialect, runs=12):
    workload = Workload(transactions=12, rows=3, dialect=dialect, options=ONE_FILE)
    return [follow_live(subject.run(one, workload)) for one in random_schedules(5, runs)]


def test_the_models_follow_an_applier_in_order():
    told = followed(subject_named("applier"), "logical_clock")
    assert [one.refused for one in told] == [()] * len(told)
    assert sum(one.segments for one in told) >= 24
    assert sum(one.steps for one in told) >= 240


def test_commits_out_of_order_are_refused():
    told = followed(subject_named("applier"), UNORDERED)
    refused = [why for one in told for why in one.refused]
    assert refused
    assert all("commit_order does not allow" in why for why in refused)


@pytest.mark.parametrize(
    "mutant", ["last_committed_is_one_parent", "low_water_mark_is_highest_done"]
)
def test_starts_before_last_committed_is_reached_are_refused(mutant):
    told = followed(mutant_named(mutant).subject, UNORDERED)
    assert any("last_committed does not allow" in why for one in told for why in one.refused)


def test_orders_of_domains_are_not_compared():
    workload = Workload(transactions=12, rows=3, dialect=UNORDERED, options=ONE_FILE)
    for one in random_schedules(5, 12):
        history = subject_named("applier").run(one, workload)
        of_two = replace(
            history,
            transactions=tuple(replace(one, domain=one.id % 2) for one in history.transactions),
        )
        refused = follow_live(of_two).refused
        assert not any("commit_order does not allow" in why for why in refused)


def test_segments_that_fit_too_many_worlds_are_undecided(monkeypatch):
    monkeypatch.setattr(following, "WORLDS_MAX", 1)
    told = followed(subject_named("applier"), "logical_clock", runs=2)
    assert all(one.undecided and not one.refused for one in told)
    assert all(one.undecided <= 2 * UNDECIDED_MAX for one in told)
