"""Faults that no list of mutants has are found by the default exploration of their subject."""

from __future__ import annotations

import pytest

from paraply.counterexamples.hunt import properties_of
from paraply.exploring import explore as exploring
from paraply.exploring.healthy import false_alarms, main
from paraply.mining.drawing import drawn_value
from paraply.mining.judges import is_explained
from paraply.properties.registry import property_named
from paraply.properties.search import random_schedules
from paraply.reference_impl.applier.replica import Replica
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.parts import LOCAL_READER, SerializableRowsReplica
from paraply.registries import mutant_named, registered_subjects, subject_named
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.verdict import Verdict

DIALECTS = [(one, dialect) for one in registered_subjects() for dialect in one.dialects]


@pytest.fixture(autouse=True)
def without_shrinking(monkeypatch):
    """Find breaches and leave them as they are."""
    monkeypatch.setattr(exploring, "make_small", lambda *_, **__: None)


def findings(name, runs=200, **sizes):
    """Return what the default exploration finds, by property."""
    subject = subject_named(name)
    workload = Workload(**sizes)
    schedules = random_schedules(0, runs)
    result = exploring.explore(subject, workload, properties_of(subject), schedules)
    return {finding.prop.name: finding for finding in result.findings}


def unexpected(found):
    return {
        name
        for name, finding in found.items()
        if finding.verdict is Verdict.VIOLATED and not finding.is_expected
    }


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("name", ["applier", "group"])
def test_sound_subject_breaks_nothing(name):
    assert unexpected(findings(name, runs=60)) == set()


def test_group_member_that_applies_a_relay_log_entry_twice_is_found(monkeypatch):
    apply = Member.apply

    def twice(self, entry):
        apply(self, entry)
        if entry.gtid in self.executed:
            self.commit(entry.transaction, entry.gtid)

    monkeypatch.setattr(Member, "apply", twice)
    assert "no_event_is_applied_twice" in unexpected(findings("group", runs=30))


def test_applier_that_gives_up_on_a_sound_log_is_found(monkeypatch):
    def give_up(self, worker):
        self.on_error(worker)

    monkeypatch.setattr(Replica, "on_begin", give_up)
    found = unexpected(findings("applier", runs=30))
    assert {"sound_log_never_fails", "applier_does_not_give_up"} <= found


@pytest.mark.long
def test_serializable_reader_that_unlocks_early_is_not_excused_by_crashes(monkeypatch):
    read_row = SerializableRowsReplica.on_read_row

    def unlock(self):
        read_row(self)
        self.store.unlock(LOCAL_READER)

    assert "readers_see_prefixes" not in unexpected(
        findings("wl4648", dialect="p3_serializable", options={"crashes": 1})
    )
    monkeypatch.setattr(SerializableRowsReplica, "on_read_row", unlock)
    found = findings("wl4648", dialect="p3_serializable")
    assert "readers_see_prefixes" in unexpected(found)


def test_lost_transactions_are_not_excused_by_a_relay_log_that_no_crash_discarded():
    subject = mutant_named("engine_commit_does_not_wait").subject
    lost = property_named("what_was_confirmed_survives")
    options = {"keeps_relay_log": False, "replica_crashes": 1}
    workload = Workload(members=3, options=options)
    explained = []
    for seed in range(300, 1_000):
        history = subject.run(SeededSchedule(seed), workload)
        if lost.violations(history):
            crashed = {event.member for event in history.events_of(EventKind.CRASHED)}
            assert is_explained(subject, lost, history) is bool(crashed - {SOURCE})
            explained.append(is_explained(subject, lost, history))
    assert set(explained) == {True, False}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        (
            "group",
            {
                "dialect": "mysql_8_4",
                "members": 1,
                "transactions": 2,
                "options": {"single_primary": True, "preemptive_rows_threshold": 2},
            },
        ),
        (
            "mariadb_parallel",
            {"dialect": "optimistic", "options": {"retries_max": 1, "timeouts": 3}},
        ),
    ],
)
def test_once_reported_false_alarm_is_none(name, sizes):
    assert unexpected(findings(name, runs=150, **sizes)) == set()


@pytest.mark.long
@pytest.mark.parametrize(
    ("subject", "dialect"), [pytest.param(*one, id=f"{one[0].name}-{one[1]}") for one in DIALECTS]
)
def test_healthy_runs_over_drawn_options_raise_no_alarm(subject, dialect):
    alarms = [one for one in false_alarms(subject, dialect, histories=15, seed=1) if one]
    assert [(one.prop.name, one.command) for one in alarms] == []


class Largest:
    """Draws the greatest of everything."""

    def random(self):
        return 0.0

    def randint(self, least, most):
        return most

    def choice(self, options):
        return options[-1]


def test_every_drawn_value_is_one_that_its_option_allows():
    for subject in registered_subjects():
        assert all(one.allows(drawn_value(one, Largest())) for one in subject.options)


def test_healthy_command_counts_histories(capsys):
    assert main(["--histories", "3", "--subject", "write_sets", "--seed", "7"]) == 0
    out = capsys.readouterr().out
    assert out == "3 healthy histories of 1 dialects, seed 7: 0 false alarms\n"
