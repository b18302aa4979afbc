"""Recorded semi-synchronous sources are runs of the model of their settings, and forged ones not.

``python -m ci.record_semi_sync`` makes new records. Engine commits and mutexes are not recorded,
and are tried. A model that forbids what a server does is refused by what the server did.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from paraply.models.judging.mutants import mutants
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.recorded import sources
from paraply.models.recorded.following import follow
from paraply.models.recorded.monitors import proved, why_broken
from paraply.models.systems.semi_sync import semi_sync
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history_jsonl import read_histories

FOLDER = Path(__file__).parent.parent / "data" / "semi_sync"
RUNS = sorted(file.name for file in FOLDER.glob("*.jsonl.gz"))
WAITING = [name for name in RUNS if "-after-sync-plain-" in name]
"""Those of what the theorems assume: the wait precedes the commit and stands; no crash."""
ANSWERED = [name for name in RUNS if "-after-commit-" in name and "time-out" not in name]
"""Those of AFTER_COMMIT, for which the wait stands and a crash is recovered from."""
BESIDE = [name for name in RUNS if name not in WAITING]
GROUPS = [name for name in WAITING if name.startswith("mariadb-")]
APART = [f"mariadb-after-commit-{one}.jsonl.gz" for one in ("plain-15", "restart-17", "apart-19")]
"""Those in which a client is answered before the rest of its group is acknowledged."""


@cache
def recorded(name):
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return next(read_histories(lines))


def refusal(history, reading=None):
    """Return why a system refuses a run; by default the one that P10 to P13 are proved of."""
    reading = reading or proved("P10")[0]
    by_transaction = "receive_one" in {action.name for action in reading.system.actions}
    recorded_run = sources.seen_outside(history, by_transaction=by_transaction)
    return why_broken(reading, follow(reading, recorded_run))


def settings(history):
    return CompiledReading(semi_sync(sources.settings(history)))


def test_records_are_of_both_servers_and_all_settings():
    kinds = Counter(name.rpartition("-")[0] for name in RUNS)
    for flavour in ("mariadb", "mysql"):
        for mode in ("after-sync", "after-commit"):
            for scenario in ("plain", "restart", "time-out"):
                assert kinds[f"{flavour}-{mode}-{scenario}"], (flavour, mode, scenario)
    assert sum(len(sources.seen_outside(recorded(name)).steps) for name in RUNS) >= 1_000
    for name in GROUPS:
        written = [e.group for e in recorded(name).events_of(EventKind.FLUSHED)]
        assert max(Counter(written).values()) >= 2, "nothing was committed together"


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    ("name", "theorem", "system"),
    [*((name, "P10", 0) for name in WAITING), *((name, "P11", 2) for name in ANSWERED)],
)
def test_source_whose_waits_stand_is_a_run_of_the_proved_system(name, theorem, system):
    reading, statements = proved(theorem, system)
    recorded_run = sources.seen_outside(recorded(name), by_transaction=theorem == "P11")
    followed = follow(reading, recorded_run, *statements)
    assert why_broken(reading, followed) == ""
    assert followed.steps >= 80


@pytest.mark.long(quick=8)
@pytest.mark.parametrize("name", RUNS)
def test_source_is_a_run_of_the_model_of_its_settings(name):
    assert refusal(recorded(name), settings(recorded(name))) == ""


@pytest.mark.parametrize("name", BESIDE)
def test_source_beside_the_theorems_assumptions_is_no_run_of_the_proved_system(name):
    assert "does not allow" in refusal(recorded(name))


@pytest.mark.parametrize("name", [name for name in RUNS if "time-out" in name])
def test_time_out_is_what_the_model_with_standing_waits_lacks(name):
    rules = replace(sources.settings(recorded(name)), wait_stands=True)
    assert "requires" in refusal(recorded(name), CompiledReading(semi_sync(rules)))


@pytest.mark.parametrize("name", [name for name in RUNS if "after-sync-restart" in name])
@pytest.mark.parametrize("recovery", ["waits", "barred"])
def test_neither_remedy_is_what_the_servers_have(name, recovery):
    rules = replace(sources.settings(recorded(name)), recovery=recovery)
    assert "does not allow" in refusal(recorded(name), CompiledReading(semi_sync(rules)))


# A model that forbids what a server does


ALWAYS = ("write", "sync", "enter_ack", "enter_commit", "engine_commit", "receive", "read",
          "answer_client")  # fmt: skip
"""Actions without which no transaction reaches its client."""


def is_refused(mutant, name):
    return "does not allow" in refusal(recorded(name), CompiledReading(mutant.system))


@pytest.mark.long
def test_over_restricted_models_are_refused_by_a_record():
    chosen = [one for one in mutants(semi_sync()) if one.kind in ("guard added", "action dropped")]
    refused = {one.place for one in chosen if one.kind == "action dropped"
               and is_refused(one, GROUPS[0])}  # fmt: skip
    assert refused == set(ALWAYS)
    guards = [one for one in chosen if one.kind == "guard added" and one.place in ALWAYS][::4]
    # Other guards follow from those that are there.
    assert sum(is_refused(one, GROUPS[0]) for one in guards) >= len(guards) // 2


@pytest.mark.parametrize(
    "what",
    ["write: guard added: (= in_ack (- 1))#1", "receive: guard added: (= in_log (- 1))#1"],
)
def test_model_whose_stages_do_not_overlap_is_refused(what):
    mutant = next(one for one in mutants(semi_sync()) if one.name == what)
    assert any(is_refused(mutant, name) for name in GROUPS)


def answers_after_later_acknowledgements(history):
    """Return how many clients get no answer before a later transaction is acknowledged."""
    acknowledged = [e.transaction for e in history.events_of(EventKind.ACKNOWLEDGED)]
    seen, count = 0, 0
    for event in history.events:
        seen += event.kind is EventKind.ACKNOWLEDGED
        if event.kind is EventKind.CLIENT_ACKNOWLEDGED:
            count += acknowledged[seen - 1] > event.transaction
    return count


def test_mariadb_answers_each_transaction_after_the_commit_and_mysql_whole_groups():
    # The pauses between acknowledgements are longer than an answer needs.
    mariadb, mysql = (
        recorded(f"{name}.jsonl.gz")
        for name in ("mariadb-after-commit-apart-19", "mysql-after-commit-apart-20")
    )
    assert len(mariadb.transactions) == len(mysql.transactions) == 40
    assert answers_after_later_acknowledgements(mariadb) == 0
    assert answers_after_later_acknowledgements(mysql) >= 25


@pytest.mark.parametrize("name", APART)
def test_model_that_answers_whole_groups_after_the_commit_is_refused(name):
    system = semi_sync(sources.settings(recorded(name)))
    mutant = next(
        one for one in mutants(system) if one.name == "answer_client: guard added: (received g)#1"
    )
    assert is_refused(mutant, name)


# A server that does what the model forbids


def forged(history, events):
    return replace(history, events=tuple(events))


def moved_to_the_end(history, chosen):
    """Return the history with the chosen events last."""
    rest = [event for event in history.events if not chosen(event)]
    return forged(history, [*rest, *(event for event in history.events if chosen(event))])


@pytest.mark.parametrize("name", WAITING)
def test_acknowledgement_that_comes_after_what_waits_for_it_is_refused(name):
    history = recorded(name)
    for one in [event.transaction for event in history.events_of(EventKind.ACKNOWLEDGED)][:10]:

        def chosen(event, one=one):
            return event.kind is EventKind.ACKNOWLEDGED and event.transaction == one

        assert "does not allow" in refusal(moved_to_the_end(history, chosen))


@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize("kind", [EventKind.READ, EventKind.CLIENT_ACKNOWLEDGED])
def test_transaction_that_is_shown_before_its_acknowledgement_is_refused(name, kind):
    history = recorded(name)
    shown = next(e for e in history.events if e.kind is kind)
    first = shown.transaction or min(seen.writer for seen in shown.observed)
    place = next(
        n for n, event in enumerate(history.events)
        if event.kind is EventKind.ACKNOWLEDGED and event.transaction == first
    )  # fmt: skip
    events = [event for event in history.events if event is not shown]
    events.insert(place, shown)
    assert "requires (engine g)" in refusal(forged(history, events))


@pytest.mark.parametrize("name", WAITING)
def test_replica_that_receives_out_of_order_is_refused(name):
    history = recorded(name)
    groups = {e.transaction: e.group for e in history.events_of(EventKind.FLUSHED)}
    places = [n for n, e in enumerate(history.events) if e.kind is EventKind.ACKNOWLEDGED]
    first = places[0]
    other = next(
        n for n in places
        if groups[history.events[n].transaction] != groups[history.events[first].transaction]
    )  # fmt: skip
    events = list(history.events)
    events[first], events[other] = events[other], events[first]
    assert "does not allow" in refusal(forged(history, events))


def answers_apart(history):
    """Yield places of answers that precede an acknowledgement of their group."""
    groups = {e.transaction: e.group for e in history.events_of(EventKind.FLUSHED)}
    lacking = Counter(groups.values())
    for place, event in enumerate(history.events):
        if event.kind is EventKind.ACKNOWLEDGED:
            lacking[groups[event.transaction]] -= 1
        elif event.kind is EventKind.CLIENT_ACKNOWLEDGED and lacking[groups[event.transaction]]:
            yield place


@pytest.mark.parametrize("name", APART)
def test_answer_before_its_own_acknowledgement_is_refused_under_after_commit(name):
    history = recorded(name)
    places = list(answers_apart(history))
    assert places
    for place in places:
        answer = history.events[place]
        acknowledged = next(
            n for n, event in enumerate(history.events)
            if event.kind is EventKind.ACKNOWLEDGED and event.transaction == answer.transaction
        )  # fmt: skip
        events = [*history.events[:place], *history.events[place + 1 :]]
        events.insert(acknowledged, answer)
        told = refusal(forged(history, events), settings(history))
        assert f"answer_client(g={group_number(history, answer)}, p=" in told


def group_number(history, event):
    """Return the place in the log of a transaction's group."""
    written = {e.transaction: e.group for e in history.events_of(EventKind.FLUSHED)}
    return list(dict.fromkeys(written.values())).index(written[event.transaction])


@pytest.mark.parametrize("name", APART)
def test_acknowledgements_of_a_group_in_another_order_are_refused_under_after_commit(name):
    history = recorded(name)
    answer = next(answers_apart(history))
    first = history.events[answer].transaction
    events = list(history.events)
    one, other = (
        next(n for n, e in enumerate(events)
             if e.kind is EventKind.ACKNOWLEDGED and e.transaction == transaction)
        for transaction in (first, first + 1)
    )  # fmt: skip
    events[one], events[other] = events[other], events[one]
    assert "does not allow" in refusal(forged(history, events), settings(history))


def test_sync_that_follows_the_acknowledgement_is_refused():
    history = recorded(WAITING[0])

    def chosen(event):
        return event.kind is EventKind.SYNCED and event.transaction == history.transactions[-1].id

    assert "requires" in refusal(moved_to_the_end(history, chosen))
