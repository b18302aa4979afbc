"""The machine of one certifier, in every safe dialect, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.properties.machines.certifier import CertifierMachine
from paraply.reference_impl.certification.subject import CERTIFIER
from paraply.registries import mutant_named, property_named
from tests.machines.hunting import Hunt, assert_breaks, bound, judged_at_the_end, promises_of
from tests.machines.systems import ReferenceCertifier

HUNT = Hunt(steps=12)


def machine_of(dialect, *, certifier=ReferenceCertifier, judged=None):
    """Return a machine class bound to the reference certifier."""
    judges = judged or promises_of(CERTIFIER, dialect)
    return bound(CertifierMachine, lambda: certifier(dialect), judges)


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["wl8440", "mysql_8_0", "mysql_8_3", "mysql_8_4", "mysql_9_7"])
def test_no_order_of_events_breaks_the_certifier(dialect):
    # Twenty steps hold every minimal counterexample known, several times over.
    machine = judged_at_the_end(machine_of(dialect))
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=20))


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "barrier_waits_for_the_window_only",
        "collection_opens_no_window",
        "collection_opens_the_window_at_next",
        "create_select_is_plain",
        "oldest_writer_wins",
        "refused_transaction_is_stored",
        "version_lacks_the_writers_gtid",
        "existing_member_restarts_its_counters",
    ],
)
def test_machine_finds_the_fault_of_a_mutant(name):
    mutant = mutant_named(name)
    faulty = mutant.module("tests.machines.systems").ReferenceCertifier
    judged = [property_named(mutant.caught_by)]
    machine = machine_of("wl8440", certifier=faulty, judged=judged)
    assert_breaks(machine, mutant.caught_by, HUNT)


def test_literal_reading_is_found_to_be_unsafe():
    machine = machine_of("wl8440_literal", judged=[property_named("barriers_are_ordered_with_all")])
    assert_breaks(machine, "barriers_are_ordered_with_all", HUNT)


def test_story_ends_at_its_first_bad_step():
    judged = [property_named("barriers_are_ordered_with_all")]
    story = machine_of("wl8440_literal", judged=judged)()
    story.remote_transaction_is_delivered(("a",), 0)
    story.nothing_is_broken_so_far()
    story.remote_transaction_is_delivered((), 0)
    with pytest.raises(AssertionError, match="not barriers_are_ordered_with_all"):
        story.nothing_is_broken_so_far()
