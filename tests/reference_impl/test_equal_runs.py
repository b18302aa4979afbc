"""Enumerations leave out runs that nobody can tell from others: the verdicts stay the same."""

from __future__ import annotations

import pytest

import paraply.properties.all
import paraply.reference_impl.subjects  # noqa: F401 - registers
from paraply.counterexamples.hunt import properties_of, system_of
from paraply.properties.campaign import run_campaign
from paraply.reference_impl.group.commuting import SleepSet
from paraply.reference_impl.group.subject import GROUP
from paraply.reference_impl.mutants import mutant_named
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.schedule import Exploration

SMALL = {"broadcasts": 0, "joins": 0, "departures": 0, "barriers": False}
JUDGES = properties_of(GROUP)


def campaign_of(subject, *, transactions=2, **options):
    workload = Workload(transactions=transactions, rows=2, members=2, options={**SMALL, **options})
    exploration = Exploration()
    campaign = run_campaign(system_of(subject, workload), JUDGES, exploration)
    assert exploration.is_complete
    return campaign


def verdicts(campaign):
    return {tally.prop.name: tally.verdict for tally in campaign.tallies}


def both(monkeypatch, subject, **options):
    """Return the campaign with runs left out, and the one with all of them."""
    fewer = campaign_of(subject, **options)
    monkeypatch.setattr(SleepSet, "awake", lambda self, names: range(len(names)))
    return fewer, campaign_of(subject, **options)


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"transactions": 1, "broadcasts": 1}], ids=str)
def test_leaving_out_equal_runs_changes_no_verdict(monkeypatch, options):
    fewer, every = both(monkeypatch, GROUP, **options)
    assert verdicts(fewer) == verdicts(every)
    assert fewer.histories < every.histories


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "snapshot_is_what_was_certified",
        "snapshot_is_taken_early",
        "member_reports_what_it_certified",
    ],
)
def test_leaving_out_equal_runs_finds_the_same_breaches(monkeypatch, name):
    mutant = mutant_named(name)
    options = {"transactions": 1, "broadcasts": 1} if "report" in name else {}
    fewer, every = both(monkeypatch, mutant.subject, **options)
    assert verdicts(fewer) == verdicts(every)


def test_number_of_runs_that_differ_is_pinned():
    campaign = campaign_of(GROUP)
    assert (campaign.runs, campaign.histories) == (54, 54)
