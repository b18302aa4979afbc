"""Generated faulty appliers: each is another program, and the suite tells right from wrong."""

import ast

import pytest

from ci.pages.suite_mutants import page
from paraply.adapters.conformance.cases import cases_named
from paraply.conforming.mutation.campaign import Fate, Judged, judge, mutants
from paraply.mutating.operators import mutations

SOURCE = '''"""Module."""
class A:
    """Class."""

    def f(self, x: tuple[int, str]) -> bool:
        """Function."""
        assert x
        if x[0] <= 1 and x[1] == "a":
            return True
        return None not in x


class B:
    def g(self):
        return 1
'''


def test_mutations_are_distinct_programs_that_compile():
    found = list(mutations(SOURCE, frozenset({"A"})))
    texts = [ast.unparse(one.tree) for one in found]
    assert len(set(texts)) == len(texts) > 12
    for one in found:
        compile(one.tree, "mutant", "exec")
        assert one.place == "A.f"
    changes = {one.what for one in found}
    assert "`x[0] <= 1` → `x[0] < 1`" in changes
    assert "`None not in x` → `None in x`" in changes
    assert not any("assert" in text or "tuple" in text for text in changes)


def test_there_are_more_than_five_hundred_mutants():
    assert len(mutants()) > 500


def mutant(place, what):
    found, *_ = [
        one for one in mutants() if one.mutation.place == place and what in one.mutation.what
    ]
    return found


@pytest.mark.parametrize(
    ("place", "what", "cases", "fate"),
    [
        ("LogicalClock.place", "`other.sn <= transaction.lc` → `other.sn < ", "B", Fate.CAUGHT),
        ("LogicalClock.checkpoint", "`order[0] - 1` → `order[0] + 1`", "M-pos", Fate.CAUGHT),
        ("MySQLCoordinator.on_rotated", "`del file` → `pass`", "A", Fate.SAME),
    ],
)
def test_fate_of_a_mutant(place, what, cases, fate):
    found = judge(mutant(place, what), cases_named([cases]), schedules=6, seed=0)
    assert found.fate is fate


@pytest.mark.long
def test_mutant_that_hangs_is_caught():
    hanging = mutant("RuleApplier._place_next", "`return False` → `return True`")
    found = judge(hanging, cases_named(["B-prefix-01"]), schedules=2, seed=0)
    assert found.fate is Fate.CAUGHT


def test_page_lists_survivors_and_states_the_share():
    judged = [
        Judged("R", "R.place", 1, "`a` → `b`", Fate.CAUGHT, "B-prefix-01"),
        Judged("R", "R.place", 2, "`a | b` → `a`", Fate.SURVIVED),
        Judged("R", "R.place", 3, "`c` → `d`", Fate.SAME),
        Judged("R", "R.place", 3, "`c` → `(`", Fate.INVALID),
    ]
    text = page(judged, 9)
    assert "3 of 9 mutants were run" in text
    assert "1 of the 2 that behave differently" in text
    assert "(50.0 %)" in text
    assert "| R | `R.place` | `a \\| b` → `a` |" in text
