"""Generated mutants of the models: what changes, when they are equal, and who notices them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from ci.mutation import models as campaign
from ci.pages.mutation_score_models import page, records
from ci.pages.proofs import dropping
from ci.pages.proofs import surroundings as recorded
from paraply.exploring.generated.fates import Fate
from paraply.models.judging.differing import difference, is_same
from paraply.models.judging.mutants import KINDS, mutants
from paraply.models.judging.proving import reach
from paraply.models.judging.surroundings import INITIALLY, surroundings
from paraply.models.judging.traces import to_data
from paraply.models.language.concrete import Scope
from paraply.models.language.system import Statement, System
from paraply.models.language.terms import BOOL, INT, Variable, conj, disj, eq, implies
from tests.models.built import SYSTEMS

P = Variable("p", INT)
SMALL = Scope(low=-1, high=2)
STEPS = 10_000_000


def counter(*, most=3, marked_once=False, starts=0):
    """A counter up to ``most``; positions before it can be marked, and marks be chosen anew."""
    system = System("counter")
    n = system.state("n", INT)
    marked = system.state("marked", INT, BOOL)
    old = system.state("old", INT, BOOL)
    system.starts_with("zero", (), eq(n(), starts))
    system.starts_with("unmarked", (P,), conj(~marked(P), ~old(P)))
    system.action("up", guard=conj(n() < most, n() >= 0), updates={n: lambda: n() + 1})
    guard = conj(P >= 0, P < n(), ~marked(P)) if marked_once else conj(P >= 0, P < n())
    system.action("mark", (P,), guard=guard,
                  updates={marked: lambda p: disj(marked(p), eq(p, P)),
                           old: lambda p: marked(p)})  # fmt: skip
    system.action("forget", updates={marked: lambda p: conj(marked(p), old(p))}, havoc=(old,))
    system.safe("small", (), n() <= 3, "")
    system.invariant("small", (), conj(n() >= 0, n() <= 3), "")
    system.invariant("behind", (P,), implies(marked(P), conj(P >= 0, P < n())), "")
    system.cover("three", (), eq(n(), 3))
    return system


def mutant(name):
    found = {f"{one.place}: {one.kind}: {one.what}": one for one in mutants(counter())}
    return found[name]


def test_every_kind_but_one_of_a_counter_is_generated_and_well_formed():
    made = list(mutants(counter()))
    assert {one.kind for one in made} == set(KINDS) - {"assumption dropped"}
    assert len({one.name for one in made}) == len(made) >= 80
    for one in made:
        one.system.require_well_formed()


@pytest.mark.long(quick=7)
@pytest.mark.parametrize("name", SYSTEMS)
def test_mutants_of_theorems_have_one_change_each(name):
    system, made = SYSTEMS[name], list(mutants(SYSTEMS[name]))
    assert len(made) > 100
    for one in made[:: len(made) // 20]:
        one.system.require_well_formed()
        changed = [a.name for a, b in zip(system.actions, one.system.actions, strict=True)
                   if a != b]  # fmt: skip
        changed += [s.name for s in (*system.initially, *system.axioms)
                    if s not in (*one.system.initially, *one.system.axioms)]  # fmt: skip
        assert changed == [one.place]


def test_dropped_condition_that_follows_is_the_same_and_another_is_not():
    system = counter()
    assert is_same(system, mutant("up: guard dropped: (<= 0 n)"), steps_max=STEPS)
    assert not is_same(system, mutant("up: guard dropped: (< n 3)"), steps_max=STEPS)
    assert not is_same(system, mutant("forget: choice dropped: old"), steps_max=STEPS)


def test_dropped_initial_condition_and_its_repetition():
    system = counter()
    dropped = mutant("zero: start dropped: zero")
    assert not is_same(system, dropped, steps_max=STEPS)
    assert difference(system, dropped, [SMALL], steps_max=0, timeout_s=20) is not None


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("up: guard dropped: (< n 3)", 3),
        ("mark: guard added: (= p 0)", 2),
        ("mark: update dropped: marked", 1),
        ("mark: updates swapped: marked, old", 1),
        ("forget: choice dropped: old", 0),
    ],
)
def test_difference_is_reached_by_a_shortest_run(name, steps):
    scope = Scope(low=0, high=3)
    run = difference(counter(), mutant(name), [scope], steps_max=5, timeout_s=20)
    assert len(run.steps) == steps


def test_equal_mutant_has_no_difference():
    one = mutant("up: guard dropped: (<= 0 n)")
    assert difference(counter(), one, [SMALL], steps_max=3, timeout_s=20) is None


def stored_run():
    three = Statement("three", (), eq(counter().functions[0](), 3))
    return to_data(reach(counter(), three, Scope(low=0, high=4), 3))


def test_surroundings_count_what_is_possible_and_what_one_condition_forbids():
    seen = surroundings(counter(), [stored_run()])
    assert seen["up"]["alone"][0] > 0
    assert seen["up"]["alone"][1] == 0  # The counter is never negative.
    assert all(one["enabled"] for name, one in seen.items() if name != INITIALLY)
    assert surroundings(counter(), [stored_run()]) == seen


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("change", [{"most": 4}, {"marked_once": True}])
def test_surroundings_of_another_system_are_other_ones(change):
    runs = [stored_run()]
    assert surroundings(counter(**change), runs) != surroundings(counter(), runs)


def test_weaker_initial_condition_allows_another_start():
    weaker = mutant("unmarked: start dropped: (not (old p))").system
    runs = [stored_run()]
    mine, others = surroundings(counter(), runs), surroundings(weaker, runs)
    assert mine[INITIALLY]["alone"][0] > others[INITIALLY]["alone"][0]


def test_run_of_another_system_has_no_surroundings():
    with pytest.raises(ValueError, match="zero does not hold at the start"):
        surroundings(counter(starts=1), [stored_run()])


RECORD = recorded.stored()


def test_record_of_surroundings_speaks_of_every_system():
    assert list(RECORD) == list(SYSTEMS)


@pytest.mark.long
@pytest.mark.parametrize("name", SYSTEMS)
def test_surroundings_of_the_stored_runs_are_as_recorded(name):
    assert recorded.measure(SYSTEMS[name]) == RECORD[name]


@pytest.mark.long
def test_every_action_happens_and_nearly_every_condition_alone_forbids_it():
    seen, unseen = 0, 0
    for name, actions in RECORD.items():
        rows = [row for row in dropping.stored()[name] if row["kind"] == "guard"]
        starts, *seen_of = actions.values()
        assert starts["alone"][0] > 0
        alone = [count for one in seen_of for count in one["alone"]]
        assert all(one["enabled"] for one in seen_of)
        for row, count in zip(rows, alone, strict=True):
            seen += bool(count)
            # What follows from the rest, or forbids nothing but idle steps, need not be seen.
            unseen += not count and row.get("reason") not in ("follows", "idle")
    assert seen > 400
    assert seen >= 0.85 * (seen + unseen)


@pytest.mark.long
def test_published_mutants_are_noticed():
    note, fates = records()
    assert len({one["name"] for one in fates}) == len(fates) >= 25 * len(SYSTEMS)
    assert note["total"] == sum(1 for system in SYSTEMS.values() for _ in mutants(system))
    counts = Counter(one["fate"] for one in fates)
    assert counts["caught"] >= 0.98 * (counts["caught"] + counts["survived"])
    assert {one["what"].partition(":")[0] for one in fates} == set(KINDS)


def test_page_gives_the_command_of_its_data():
    note, fates = records()
    assert f"--each {note['each']} --seed {note['seed']}`" in page(note, fates)
    told = page({**note, "each": 7, "seed": 3}, fates)
    assert re.findall(r"ci\.mutation\.models --each \d+ --seed \d+", told) == [
        "ci.mutation.models --each 7 --seed 3"
    ]


def test_page_lists_each_survivor():
    _, fates = records()
    text = (campaign.RECORDS.parent / "mutation-score-models.md").read_text(encoding="utf-8")
    left = [one for one in fates if one["fate"] == "survived"]
    shown = text.partition("## Survivors")[2]
    assert shown.count("\n| `") == len(left)


def test_campaign_continues_where_it_ended(tmp_path, monkeypatch, capsys):
    order = SYSTEMS["low_water_mark"]
    monkeypatch.setattr(campaign, "systems", lambda: [order])
    given = ["--seed", "3", "--store", str(tmp_path)]
    assert campaign.main([*given, "--each", "2"]) == 0
    first = (tmp_path / "models.jsonl").read_text(encoding="utf-8")
    assert campaign.main([*given, "--each", "3"]) == 0
    whole = (tmp_path / "models.jsonl").read_text(encoding="utf-8")
    assert whole.startswith(first)
    assert len(whole.splitlines()) == 3
    assert "3 of 219 mutants, seed 3" in capsys.readouterr().out


def fate_of(system, what):
    evidence = campaign.Evidence(SYSTEMS[system])
    one = next(one for one in mutants(SYSTEMS[system]) if f"{one.kind}: {one.what}" == what)
    return evidence.fate(one)


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "what", "by"),
    [
        ("restart", "action dropped: skip", "stored run"),
        ("restart", "update dropped: executed", "stored run"),
        ("low_water_mark", "guard dropped: (<= (lc given) (sn (+ prefix (- 1))))", "proof"),
        ("low_water_mark", "guard added: (not (done p))", "surroundings"),
    ],
)
def test_mutants_are_noticed_by_each_kind_of_evidence(system, what, by):
    fate, found, _ = fate_of(system, what)
    assert (fate, found) == (Fate.CAUGHT, by)


def test_fates_of_the_record_are_those_of_mutants():
    _, fates = records()
    names = {f"{name}: {one.name}" for name in ("restart", "quorum") for one in
             mutants(SYSTEMS[name])}  # fmt: skip
    of_two = [one for one in fates if one["module"] in ("restart", "quorum")]
    assert of_two
    assert {one["name"] for one in of_two} <= names
    assert Counter(one["fate"] for one in fates).keys() <= {"caught", "same", "survived"}
