"""Each safety property has twins, or a reason to have none."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from paraply.cli import main
from paraply.counterexamples.hunt import properties_of
from paraply.mining.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.mutating.copies import Change
from paraply.properties.campaign import run_campaign
from paraply.properties.registry import Expectation, Property
from paraply.properties.search import random_schedules
from paraply.properties.two_sides import (
    ALONE,
    TWINS,
    Alone,
    other_side,
    placings,
    reason_alone,
    twins_of,
)
from paraply.reference_impl.mutants import Mutant
from paraply.reference_impl.subject import Workload
from paraply.registries import (
    property_named,
    registered_properties,
    registered_subjects,
    subject_named,
)
from tests.properties.histories import history_of
from tests.properties.test_galera import history as write_sets_of
from tests.properties.test_galera import write_set

IN_THE_MAP = {*TWINS, *(name for names in ALONE.values() for name in names.split())}


def is_safety(prop: Property) -> bool:
    return prop.expectation is Expectation.ALWAYS and prop.is_safety


def misplaced(properties: tuple[Property, ...]) -> list[str]:
    """Return the names that are not in the map as often as they must be."""
    return [one.name for one in properties if len([*placings(one.name)]) != is_safety(one)]


def test_map_has_each_safety_property_once_and_no_other_name():
    assert misplaced(registered_properties()) == []
    assert IN_THE_MAP <= {prop.name for prop in registered_properties()}


def test_new_safety_property_without_place_is_noticed():
    known = property_named("first_certified_wins")
    new = replace(known, name="nothing_is_ever_late")
    assert misplaced((known, new)) == ["nothing_is_ever_late"]
    assert misplaced((replace(new, is_safety=False),)) == []
    assert misplaced((replace(known, is_safety=False),)) == ["first_certified_wins"]


def test_twins_forbid_to_hold_back():
    for name in TWINS:
        assert twins_of(name), name
        for twin in map(property_named, twins_of(name)):
            is_other_side = not is_safety(twin) or reason_alone(twin.name) in (
                Alone.EXACT,
                Alone.ITSELF,
            )
            assert is_other_side, (name, twin.name)


RECORDED = (
    write_sets_of(write_set(1, "a"), write_set(2, "a", depends=10, seen=1, origin="m2")),
    history_of(
        "T1{x} session=s1 | submitted T1@r1 session=s1 ; client_acknowledged T1@r1 session=s1 "
        "; read @r2 session=s1 [x=T1]"
    ),
)
"""Of a cluster, and of clients that read where they write: no subject records these."""


def applying() -> list[frozenset[str]]:
    """Return the properties that apply to some drawn run of each subject and dialect."""
    found = []
    for subject in registered_subjects():
        for dialect in subject.dialects:
            choices = random.Random(f"{subject.name} {dialect}")
            names = set()
            for _ in range(8):
                workload = drawn_workload(subject, dialect, choices)
                history = subject.run(drawn_schedule(choices.randrange(SEEDS)), workload)
                names |= {one.name for one in properties_of(subject) if one.applies_to(history)}
            found.append(frozenset(names))
    for history in RECORDED:
        found.append(
            frozenset(one.name for one in registered_properties() if one.applies_to(history))
        )
    return found


@pytest.mark.long
def test_each_twin_judges_a_dialect_that_its_property_judges():
    apart = {(name, twin) for name in TWINS for twin in twins_of(name)}
    for names in applying():
        apart -= {pair for pair in apart if names.issuperset(pair)}
    assert apart == set()


def test_list_shows_twins_and_reasons(capsys):
    assert main(["list", "properties"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "Twins: small_neighbours_are_merged Source" in words
    assert f"No twin: {Alone.CHOICE.value} Source" in words
    assert main(["list", "properties", "--json", "-"]) == 0
    records = {one["name"]: one for one in json.loads(capsys.readouterr().out)["properties"]}
    assert records["equal_keys_share_an_item"]["twins"] == ["items_are_shared_for_a_reason"]
    assert records["members_agree_on_views"]["other_side"] == f"No twin: {Alone.RECORD.value}"
    assert records["a_transaction_waits_for_a_row"]["other_side"] == ""


def test_precision_and_situations_have_no_other_side():
    for prop in registered_properties():
        assert bool(other_side(prop)) is is_safety(prop), prop.name


HOLDING_BACK = {
    "a_coordinator_runs_ahead_of_its_workers": (
        "wl4648", Workload(dialect="p2"),
        Change("wl4648.parts:TableReplica.may_distribute", "self.coordinator.limit", "1"),
    ),
    "a_source_logs_beside_an_uncommitted_one": (
        "source", Workload(),
        Change("source_subject:SourceRun.steps", "if one.depends_on:",
               "if one.depends_on and not flushed:"),
    ),
    "a_source_begins_a_file": (
        "source", Workload(),
        Change("source_subject:SourceRun.steps", "if self.rotations_left and",
               "if not self.transactions_left and"),
    ),
}  # fmt: skip
"""A situation -> the subject, and what is held back so that no run reaches it."""


@pytest.mark.parametrize("name", HOLDING_BACK)
def test_no_run_of_a_subject_that_holds_back_reaches_the_situation(name):
    of, workload, change = HOLDING_BACK[name]
    late = Mutant(
        name=f"late_for_{name}", family="holding back", of=of, source="", fault="",
        workload=workload, changes=(change,),
    )  # fmt: skip

    def reached(subject):
        campaign = run_campaign(
            lambda schedule: subject.run(schedule, workload), [property_named(name)],
            random_schedules(0, 100),
        )  # fmt: skip
        return campaign.tallies[0].reached

    assert reached(subject_named(of))
    assert not reached(late.subject)
