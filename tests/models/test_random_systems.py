"""What is proved of random systems is true wherever the explicit search comes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.models.language import system as language
from paraply.models.language import terms
from paraply.models.language.system import Action, System
from paraply.models.language.terms import BOOL, TRUE, eq, forall, negate
from tests.models.random_systems import ITEM, A, broken, fuzz, proved

POST = Action.post
SYSTEMS = 100


@pytest.mark.long
def test_what_is_proved_of_random_systems_is_true_in_every_state_reached():
    tally = fuzz(1, SYSTEMS)
    assert tally.proved > SYSTEMS
    assert tally.searched_to_the_end > SYSTEMS // 2
    assert not tally.wrong


def keeps_chosen(self, node):
    kept = {f: value for f, value in self.updates.items() if f not in self.havoc}
    return POST(replace(self, updates=kept), node)


def keeps_everything(self, node):
    return node


@pytest.mark.long
@pytest.mark.parametrize("post", [keeps_chosen, keeps_everything])
def test_wrong_weakest_precondition_is_noticed(monkeypatch, post):
    monkeypatch.setattr(Action, "post", post)
    assert fuzz(1, 40).wrong


def marking():
    """Return a system whose parameter has the name of the bound variable of its statement."""
    system = System("marking")
    marked = system.state("marked", ITEM, BOOL)
    system.starts_with("none", (A,), negate(marked(A)))
    system.action("mark_others", (A,), TRUE, {marked: lambda item: negate(eq(item, A))}, ())
    system.invariant("none_is_marked", (), forall(A, negate(marked(A))), "")
    return system


def test_capture_is_noticed(monkeypatch):
    system = marking()
    assert broken(system, {}, system.invariants)[0] == "none_is_marked"
    assert not proved(system)
    for module in (terms, language):
        monkeypatch.setattr(module, "without_capture", lambda node, free: node)
    assert proved(marking())


DOUBLED = (346, 398, 958, 1961, 2213, 2854, 2896, 2921, 3883, 4774, 4923, 5240, 5656, 6013, 6585,
           6773, 6956, 8595)  # fmt: skip
"""Seeds of 10,000 that had a false proof while a new value that is a negation was put in twice."""


@pytest.mark.long
def test_negated_new_value_is_put_in_once():
    assert not any(fuzz(seed, 1).wrong for seed in DOUBLED)
