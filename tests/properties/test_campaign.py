from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.campaign import Campaign, Tally, content_digest, run_campaign
from paraply.properties.moments import first_breaking_event
from paraply.properties.registry import Evidence, Expectation, Property, Violation
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.schedule import Exploration, RecordedSchedule
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True)
class CrashSeen(Violation):
    """A crash."""


def history_of(*kinds):
    return History(events=tuple(Event(kind, time) for time, kind in enumerate(kinds)))


def never_crashes(history):
    return [CrashSeen() for _ in history.events_of(EventKind.CRASHED)]


def a_start(history):
    return any(True for _ in history.events_of(EventKind.STARTED))


NEVER_CRASHES = Property(
    name="never_crashes", meaning="", source="", expectation=Expectation.ALWAYS,
    witness=a_start, check=never_crashes,
)  # fmt: skip


def campaign_of(system):
    return run_campaign(system, [NEVER_CRASHES], Exploration())


def two_runs(first, second):
    return lambda schedule: history_of(*schedule.choose([first, second]))


STARTED, CRASHED, STOPPED = EventKind.STARTED, EventKind.CRASHED, EventKind.STOPPED


def test_situation_that_occurred_once_makes_it_hold():
    campaign = campaign_of(two_runs((STARTED,), (STOPPED,)))
    assert campaign.tallies[0].verdict is Verdict.HOLDS
    assert (campaign.tallies[0].reached, campaign.runs, campaign.events) == (1, 2, 2)


def test_situation_that_never_occurred_leaves_it_unknown():
    campaign = campaign_of(two_runs((), (STOPPED,)))
    assert campaign.tallies[0].verdict is Verdict.UNKNOWN


def test_first_breach_is_kept_with_the_choices_that_replay_it():
    system = two_runs((STARTED,), (STARTED, CRASHED))
    tally = campaign_of(system).tallies[0]
    assert tally.verdict is Verdict.VIOLATED
    assert (tally.violated, tally.first.runs, tally.first.choices) == (1, 2, (1,))
    assert system(RecordedSchedule(tally.first.choices)) == tally.first.history


def test_breach_without_the_situation_counts():
    campaign = campaign_of(two_runs((CRASHED,), (STOPPED,)))
    assert campaign.tallies[0].verdict is Verdict.VIOLATED


def test_equal_histories_are_judged_once():
    campaign = campaign_of(two_runs((STARTED,), (STARTED,)))
    assert (campaign.runs, campaign.histories) == (2, 1)
    assert campaign.tallies[0].reached == 1


def test_runs_are_told_as_they_are_made():
    told = []
    run_campaign(two_runs((), ()), [], Exploration(), on_run=told.append)
    assert told == [1, 2]


def test_header_is_no_content():
    history = history_of(STARTED)
    other = History(header=HistoryHeader(seed=4), events=history.events)
    assert content_digest(history) == content_digest(other)
    assert content_digest(history) != content_digest(history_of(STOPPED))
    longer = replace(history, transactions=(Transaction(id=TransactionId(1)),))
    assert content_digest(history) != content_digest(longer)


KINDS = [(), (STARTED,), (CRASHED,), (STARTED, CRASHED), (STOPPED, CRASHED)]
RUNS = st.lists(st.sampled_from(range(len(KINDS))), max_size=8)


@given(RUNS, st.frozensets(st.sampled_from(range(len(KINDS)))))
def test_campaign_adds_up_the_verdicts_of_its_distinct_histories(runs, expected):
    histories = [history_of(*kinds) for kinds in KINDS]
    campaign = Campaign(
        tallies=[Tally(prop=NEVER_CRASHES)],
        is_expected=lambda _, history: histories.index(history) in expected,
    )
    for one in runs:
        campaign.take(histories[one], RecordedSchedule((one,)))
    distinct = list(dict.fromkeys(runs))
    reached = [one for one in distinct if {STARTED, CRASHED} & set(KINDS[one])]
    broken = [one for one in distinct if CRASHED in KINDS[one]]
    unexpected = [one for one in broken if one not in expected]
    (tally,) = campaign.tallies
    assert (campaign.runs, campaign.histories) == (len(runs), len(distinct))
    assert (tally.applied, tally.reached) == (len(distinct), len(reached))
    assert (tally.violated, tally.expected) == (len(broken), len(broken) - len(unexpected))
    assert tally.evidence == Evidence(relevant=len(reached), decided=len(reached))
    kept = next(iter([*unexpected, *broken]), None)
    if kept is None:
        assert tally.first is None
    else:
        assert tally.first.history == histories[kept]
        assert tally.first.runs == runs.index(kept) + 1


@pytest.mark.parametrize("place", range(5))
def test_breach_first_shows_at_the_event_that_makes_it(place):
    kinds = [STARTED] * 5
    kinds[place] = CRASHED
    assert first_breaking_event(history_of(*kinds), NEVER_CRASHES) == place


def test_unbroken_history_has_no_breaking_event():
    assert first_breaking_event(history_of(STARTED), NEVER_CRASHES) is None
    assert first_breaking_event(history_of(), NEVER_CRASHES) is None


def test_breach_of_the_whole_shows_at_the_last_event():
    prop = Property(
        name="ends", meaning="", source="", expectation=Expectation.ALWAYS, witness=a_start,
        check=lambda history: [CrashSeen()] if history.is_complete else [],
    )  # fmt: skip
    assert first_breaking_event(history_of(STARTED, STARTED), prop) == 1
