"""What a verdict rests on: breaches, witnesses, and neither."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

import paraply.properties.all  # noqa: F401
from paraply.properties.registry import (
    Evidence,
    Expectation,
    Property,
    Violation,
    property_named,
    registered_properties,
    verdict_of,
)
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True)
class Broken(Violation):
    """Something is wrong."""


def prop(breaches, reached):
    return Property(
        name="p",
        meaning="",
        source="",
        expectation=Expectation.ALWAYS,
        check=lambda history: breaches,
        witness=lambda history: reached,
    )


@pytest.mark.parametrize(
    ("breaches", "reached", "expected"),
    [
        ([Broken()], True, Verdict.VIOLATED),
        ([Broken()], False, Verdict.VIOLATED),
        ([], True, Verdict.HOLDS),
        ([], False, Verdict.UNKNOWN),
    ],
)
def test_verdict_needs_a_breach_or_a_witness(breaches, reached, expected):
    assert verdict_of(History(), prop(breaches, reached)) is expected


def test_breach_outside_what_the_witness_counts_is_a_decided_situation():
    broken, healthy = prop([Broken(), Broken()], 0), prop([], 0)
    assert broken.evidence(History()) == Evidence(relevant=2, decided=2)
    assert healthy.evidence(History()) == Evidence()
    assert prop([Broken()], 3).evidence(History()) == Evidence(relevant=3, decided=3)


@pytest.mark.parametrize("breaches", [[], [Broken()]])
def test_history_without_events_that_are_needed_decides_neither_way(breaches):
    lacking = replace(
        prop(breaches, 3), needs=(EventKind.BEGUN,), gaps=(lambda history: ["no row"],)
    )
    assert not lacking.violations(History())
    assert lacking.evidence(History()).reason == "0 of 4: no begun events"
    assert verdict_of(History(), lacking) is Verdict.UNKNOWN


def test_unknown_property_names_the_command_that_lists_them():
    with pytest.raises(ParaplyError, match="P520") as raised:
        property_named("nothing_ever_goes_wrong")
    assert "paraply list properties" in raised.value.remedy


def test_every_property_says_what_it_means_and_where_it_comes_from():
    for one in registered_properties():
        assert one.meaning.endswith("."), one.name
        assert one.source, one.name
        assert (one.check is None) is (one.expectation is Expectation.SOMETIMES), one.name
