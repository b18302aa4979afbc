"""Live histories as steps of the models: runs of the reference, right and faulty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.models.recorded import following
from paraply.observing.model_traces import NAMES, follow_live
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import mutant_named, subject_named

UNORDERED = "logical_clock_unordered"
ONE_FILE = {"rotations": 0, "collections": 0, "reads": 0, "barriers": False, "workers": 4}


def followed(subject, dialect, runs=12):
    workload = Workload(transactions=12, rows=3, dialect=dialect, options=ONE_FILE)
    return [follow_live(subject.run(one, workload)) for one in random_schedules(5, runs)]


def refused(told, model):
    return [why for one in told for why in one[model].refused]


def test_the_models_follow_an_applier_in_order():
    told = followed(subject_named("applier"), "logical_clock")
    for model in NAMES:
        assert not refused(told, model)
        assert sum(one[model].segments for one in told) >= 12
        assert sum(one[model].steps for one in told) >= 60
        assert not any(one[model].undecided for one in told)


@pytest.mark.long
def test_commits_out_of_order_are_refused_by_the_model_of_commit_order_alone():
    told = followed(subject_named("applier"), UNORDERED)
    found = refused(told, "commit_order")
    assert found
    assert all("commit_order does not allow" in why for why in found)
    assert not refused(told, "last_committed")


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    "mutant", ["last_committed_is_one_parent", "low_water_mark_is_highest_done"]
)
def test_starts_before_last_committed_is_reached_are_refused(mutant):
    assert refused(followed(mutant_named(mutant).subject, UNORDERED), "last_committed")


def test_orders_of_domains_are_not_compared():
    workload = Workload(transactions=12, rows=3, dialect=UNORDERED, options=ONE_FILE)
    for one in random_schedules(5, 12):
        history = subject_named("applier").run(one, workload)
        of_two = replace(
            history,
            transactions=tuple(replace(one, domain=one.id % 2) for one in history.transactions),
        )
        assert not follow_live(of_two)["commit_order"].segments


def test_segments_that_fit_too_many_worlds_are_undecided(monkeypatch):
    whole = followed(subject_named("applier"), "logical_clock", runs=2)
    monkeypatch.setattr(following, "WORLDS_MAX", 1)
    told = followed(subject_named("applier"), "logical_clock", runs=2)
    for model in NAMES:
        assert not refused(told, model)
        for decided, one in zip(whole, told, strict=True):
            assert one[model].undecided
            assert one[model].undecided + one[model].segments == decided[model].segments
