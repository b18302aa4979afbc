"""A vocabulary needs more than an event of the right kind: its fields, too."""

from __future__ import annotations

import inspect

import pytest

from paraply.properties import vocabularies
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History, HistoryHeader
from paraply.vocabulary.transactions import Transaction

VOCABULARIES = [
    function
    for _, function in inspect.getmembers(vocabularies, inspect.isfunction)
    if function.__module__ == vocabularies.__name__
    and function.__annotations__.get("history") == "History"
]
APPLYING = {"applied", "relay_log", "replicas_only"}
OF_BARE_EVENTS = {
    EventKind.CERTIFIED: {"certification"},
    EventKind.SCHEDULED: APPLYING,
    EventKind.BEGUN: APPLYING,
    EventKind.SKIPPED: APPLYING,
    EventKind.PREPARED: {"prepared_commits", "replicas_only"},
    EventKind.STARTED: APPLYING | {"started_appliers"},
}
"""What one event without optional fields records; other kinds record that no member writes."""


def understanding(history):
    return {one.__name__ for one in VOCABULARIES if one(history)}


@pytest.mark.parametrize("kind", EventKind, ids=lambda kind: kind.value)
def test_bare_event_records_only_what_its_kind_says(kind):
    bare = Event(kind, 1, transaction=1, view=1, outcome=Outcome.POSITIVE)
    history = History(transactions=(Transaction(id=1),), events=(bare,))
    assert understanding(history) == OF_BARE_EVENTS.get(kind, {"replicas_only"})


def test_empty_history_records_no_writer_and_nothing_else():
    assert understanding(History()) == {"replicas_only"}


def test_limit_of_workers_counts_only_where_replicas_have_domains():
    header = HistoryHeader(options={"domain_workers": 2})
    begun = Event(EventKind.BEGUN, 1, transaction=1)
    plain = History(header=header, transactions=(Transaction(id=1),), events=(begun,))
    assert "stated_worker_limit" not in understanding(plain)
    domains = (Transaction(id=1, gtid="0-1-1", domain=0),)
    limited = History(header=header, transactions=domains, events=(begun,))
    assert "stated_worker_limit" in understanding(limited)
    unlimited = History(transactions=domains, events=(begun,))
    assert "stated_worker_limit" not in understanding(unlimited)


def test_log_goes_back_within_a_server_and_a_domain_only():
    def logged(*gtids):
        events = [
            Event(EventKind.FLUSHED, at, member=member, transaction=1, gtid=gtid)
            for at, (member, gtid) in enumerate(gtids)
        ]
        history = History(transactions=(Transaction(id=1),), events=tuple(events))
        return "log_goes_back" in understanding(history)

    assert logged(("r1", "0-1-2"), ("r1", "0-2-2"))
    assert not logged(("r1", "0-1-2"), ("r1", "1-1-1"), ("r2", "0-1-1"), ("r1", "0-2-3"))
    assert not logged(("r1", "g:2"), ("r1", "g:1"))


def test_workload_is_stated_by_a_number_in_a_controlled_run():
    def states(**fields):
        return "controlled_workload" in understanding(History(header=HistoryHeader(**fields)))

    assert states(options={"transactions": 3})
    assert not states(options={"transactions": True})
    assert not states(options={"transactions": 3}, recorded_by="paraply conform 0.1")
    assert not states(options={"transactions": 3}, tier=EvidenceTier.COMMIT_WINDOWS)
