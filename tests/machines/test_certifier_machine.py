"""The machine of one certifier, in every safe dialect, and what it finds in faulty ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from paraply.registries import mutant_named, property_named, registered_properties
from properties.machines.certifier import CertifierMachine
from properties.registry import Expectation
from reference_impl.certifier_subject import CERTIFIER
from tests.machines.systems import ReferenceCertifier

AREAS = {"certification", "timestamps", "garbage_collection", "view_change"}
HUNT = settings(
    max_examples=400,
    stateful_step_count=12,
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=False,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Deep enough for every fault below; not shrunk, since all that is asked is whether it is found."""


def machine_of(dialect, *, parts=None, judged=None):
    """Return a machine class bound to the reference certifier."""
    known = CERTIFIER.breaks.get(dialect, frozenset())
    properties = judged or [
        prop
        for prop in registered_properties()
        if prop.expectation is Expectation.ALWAYS and prop.area in AREAS and prop.name not in known
    ]

    assert properties

    class Bound(CertifierMachine):
        def make(self):
            return ReferenceCertifier(dialect, **({"parts": parts} if parts else {}))

    Bound.judged = properties
    return Bound


@pytest.mark.parametrize("dialect", ["wl8440", "mysql_8_0", "mysql_8_3", "mysql_8_4"])
def test_no_order_of_events_breaks_the_certifier(dialect):
    # Twenty steps hold every minimal counterexample known, several times over.
    run_state_machine_as_test(machine_of(dialect), settings=settings(stateful_step_count=20))


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
    machine = machine_of(
        "wl8440", parts=mutant.subject.parts, judged=[property_named(mutant.caught_by)]
    )
    with pytest.raises(AssertionError, match=f"not {mutant.caught_by}"):
        run_state_machine_as_test(machine, settings=HUNT)


def test_literal_reading_is_found_to_be_unsafe():
    machine = machine_of("wl8440_literal", judged=[property_named("barriers_are_ordered_with_all")])
    with pytest.raises(AssertionError, match="not barriers_are_ordered_with_all"):
        run_state_machine_as_test(machine, settings=HUNT)
