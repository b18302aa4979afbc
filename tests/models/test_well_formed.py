"""Ill-formed specifications are refused, and false models are not proved."""

from __future__ import annotations

from random import Random

import pytest

from paraply.models.judging.bounded import breach_of
from paraply.models.judging.certificates.maker import make
from paraply.models.judging.proving import reach
from paraply.models.judging.solver import Answer, judge_cvc5, judge_z3
from paraply.models.kernel.certificate import Certificate
from paraply.models.kernel.check import check, check_unsealed
from paraply.models.language.concrete import Scope
from paraply.models.language.refusal import IllFormedError
from paraply.models.language.system import Action, Obligation, Statement, System, obligations
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    And,
    Apply,
    Compare,
    Equal,
    Function,
    Ite,
    Literal,
    Not,
    Or,
    Plus,
    Quantified,
    Sort,
    Variable,
    conj,
    eq,
    exists,
    forall,
    substitute,
)
from paraply.models.systems.applier import Dialect, R, parallel_applier

SEED = 25
ITEM = Sort("Item")
X, Y = Variable("x", ITEM), Variable("y", ITEM)


def named(system, name):
    return next(f for f in system.functions if f.name == name)


# Systems whose statements are false, though careless obligations for them are provable.


def chosen_function_is_named():
    system = parallel_applier(Dialect(name="none", window="none"))
    purged = named(system, "purged")
    system.starts_with("nothing_purged", (R,), ~purged(R))
    system.invariant("nothing_is_purged", (R,), ~purged(R), "")
    system.safety = system.safety[:1]
    return system, Scope(high=5), 5


def small(**functions):
    system = System("small")
    made = {name: system.state(name, *sorts) for name, sorts in functions.items()}
    return system, made


def choosing(steps, body):
    """Return a system with a chosen set and a flag; ``body`` adds to it."""
    system, made = small(some=(ITEM, BOOL), flag=(BOOL,))
    some, flag = made["some"], made["flag"]
    system.starts_with("nothing", (X,), conj(~some(X), ~flag()))
    body(system, some, flag)
    system.safe("low", (), ~flag(), "")
    system.invariant("low", (), ~flag(), "")
    return system, Scope(high=1, low=0, size=2), steps


def chosen_in_a_guard():
    def body(system, some, flag):
        system.action("pick", (X,), some(X), {flag: lambda: True}, havoc=(some,))
        system.invariant("none", (X,), ~some(X), "")

    return choosing(1, body)


def chosen_in_an_update():
    def body(system, some, flag):
        system.action("pick", (X,), updates={flag: lambda: some(X)}, havoc=(some,))
        system.invariant("none", (X,), ~some(X), "")

    return choosing(1, body)


def chosen_and_read_later():
    def body(system, some, flag):
        system.action("pick", havoc=(some,))
        system.action("read", (X,), some(X), {flag: lambda: True})
        system.invariant("none", (X,), ~some(X), "")

    return choosing(2, body)


def quantifier_in_an_update():
    """`reaches(y)` becomes "some x that is marked", whatever y is called."""
    system, made = small(marked=(ITEM, BOOL), all_marked=(ITEM, BOOL))
    marked, whole = made["marked"], made["all_marked"]
    system.starts_with("nothing", (X,), conj(~marked(X), ~whole(X)))
    system.action("mark", (X,), updates={marked: lambda y: marked(y) | eq(y, X)})
    system.action("look", updates={whole: lambda y: exists(X, conj(marked(X), ~eq(X, y)))})
    system.safe("none", (Y,), ~forall(X, ~whole(X)) | ~whole(Y), "")
    system.safe("never", (X,), ~whole(X), "")
    system.invariant("never", (X,), ~whole(X), "")
    return system, Scope(high=1, low=0, size=2), 2


def parameter_is_quantified_over():
    system, made = small(marked=(ITEM, BOOL))
    marked = made["marked"]
    system.starts_with("nothing", (X,), ~marked(X))
    system.action("mark", (X,), updates={marked: lambda y: eq(y, X)})
    never = ~exists(X, marked(X))
    system.safe("never", (), never, "")
    system.invariant("never", (), never, "")
    return system, Scope(high=1, low=0, size=1), 1


FALSE_MODELS = [
    chosen_function_is_named,
    chosen_in_a_guard,
    chosen_in_an_update,
    chosen_and_read_later,
    quantifier_in_an_update,
    parameter_is_quantified_over,
]


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("build", FALSE_MODELS)
@pytest.mark.parametrize("judge", [judge_z3, judge_cvc5])
def test_false_model_is_not_proved(build, judge):
    system, _, _ = build()
    parts = obligations(system)
    assert any(judge(part, timeout_s=2.0).answer is not Answer.PROVED for part in parts)


@pytest.mark.parametrize(
    "build",
    [
        # A solver looks in vain for two seconds.
        pytest.param(chosen_function_is_named, marks=pytest.mark.long(each=1)),
        *FALSE_MODELS[1:],
    ],
)
def test_kernel_is_given_no_certificate_of_a_false_model(build):
    system, _, _ = build()
    false = [p for p in obligations(system) if judge_z3(p, timeout_s=60.0).answer is Answer.REFUTED]
    assert false
    assert all(make(part, timeout_s=2.0) is None for part in false)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("build", FALSE_MODELS)
def test_bounded_search_finds_the_run_of_a_false_model(build):
    system, scope, steps = build()
    run = reach(system, breach_of(system.safety[-1]), scope, steps_max=steps)
    assert run is not None
    assert len(run.steps) == steps


# Terms.


def random_term(chance, depth):
    """Return a random well-sorted term."""
    sort = chance.choice((INT, BOOL, ITEM))
    return of_sort(sort, chance, depth)


def of_sort(sort, chance, depth):
    if depth == 0 or (sort == ITEM and chance.random() < 0.5):
        if sort == ITEM:
            return chance.choice((X, Y))
        return Literal(chance.randint(0, 3)) if sort == INT else Literal(chance.random() < 0.5)

    def part(wanted):
        return of_sort(wanted, chance, depth - 1)

    if sort == ITEM:
        return Ite(part(BOOL), part(ITEM), part(ITEM))
    if sort == INT:
        return chance.choice((
            lambda: Plus(part(INT), chance.randint(-2, 2)),
            lambda: Function("size", (ITEM,), INT)(part(ITEM)),
        ))()  # fmt: skip
    return chance.choice((
        lambda: Not(part(BOOL)),
        lambda: And((part(BOOL), part(BOOL))),
        lambda: Or((part(BOOL), part(BOOL))),
        lambda: Equal(part(ITEM), part(ITEM)),
        lambda: Compare("<", part(INT), part(INT)),
        lambda: Quantified(chance.random() < 0.5, X, part(BOOL)),
    ))()  # fmt: skip


PLACES = {
    "not": (BOOL, Not),
    "and": (BOOL, lambda bad: And((TRUE, bad))),
    "or": (BOOL, lambda bad: Or((bad, FALSE))),
    "condition": (BOOL, lambda bad: Ite(bad, Literal(1), Literal(2))),
    "branch": (INT, lambda bad: Ite(TRUE, Literal(1), bad)),
    "equal": (ITEM, lambda bad: Equal(X, bad)),
    "less": (INT, lambda bad: Compare("<", Literal(1), bad)),
    "plus": (INT, lambda bad: Plus(bad, 1)),
    "body": (BOOL, lambda bad: Quantified(True, X, bad)),
    "argument": (ITEM, lambda bad: Apply(Function("f", (ITEM,), BOOL), (bad,))),
}


@pytest.mark.parametrize("place", PLACES)
def test_random_term_of_another_sort_is_refused_at_every_place(place):
    chance, tried = Random(SEED), 0
    wanted, make_term = PLACES[place]
    for _ in range(60):
        term = random_term(chance, 3)
        if term.sort == wanted:
            assert make_term(term).free <= {X, Y}
        else:
            tried += 1
            with pytest.raises(IllFormedError):
                make_term(term)
    assert tried > 20


def test_arities_and_literals_are_checked():
    f = Function("f", (ITEM, ITEM), BOOL)
    for bad in (lambda: f(X), lambda: f(X, Y, X), lambda: Literal("x"), lambda: Literal(1.5),
                lambda: Plus(Literal(1), True), lambda: Compare("=", Literal(1), Literal(2)),
                lambda: forall(Variable("x", INT), f(X, X))):  # fmt: skip
        with pytest.raises(IllFormedError):
            bad()


def test_substitution_renames_what_would_capture():
    f = Function("f", (ITEM, ITEM), BOOL)
    found = substitute(forall(X, f(X, Y)), {Y: X})
    assert found.free == {X}
    assert found == forall(Variable("x~", ITEM), f(Variable("x~", ITEM), X))
    assert substitute(forall(X, f(X, Y)), {X: Y}) == forall(X, f(X, Y))


# Systems.


def ill(body):
    """Return what refuses a body that is written into a small system."""
    system, made = small(some=(ITEM, BOOL), count=(INT,))
    system.rigid("fixed", ITEM, BOOL)
    with pytest.raises(IllFormedError) as refused:
        body(system, made["some"], made["count"])
    return refused.value


ILL_FORMED = {
    "assumption about state": lambda s, some, n: s.assume("a", (X,), some(X), ""),
    "open statement": lambda s, some, n: s.invariant("i", (), some(X), ""),
    "open guard": lambda s, some, n: s.action("a", (), some(X)),
    "open update": lambda s, some, n: s.action("a", (), updates={some: lambda y: eq(X, y)}),
    "guard is a number": lambda s, some, n: s.action("a", (), n()),
    "statement is a number": lambda s, some, n: s.safe("i", (), n(), ""),
    "update of another sort": lambda s, some, n: s.action("a", (), updates={n: lambda: True}),
    "rigid update": lambda s, some, n: s.action(
        "a", (), updates={named(s, "fixed"): lambda y: some(y)}
    ),
    "rigid choice": lambda s, some, n: s.action("a", havoc=(named(s, "fixed"),)),
    "choice and update": lambda s, some, n: s.action("a", (), updates={n: lambda: 1}, havoc=(n,)),
    "stranger": lambda s, some, n: s.safe("i", (), Function("other", (), BOOL)(), ""),
    "same name, other sorts": lambda s, some, n: s.safe("i", (), Function("some", (), BOOL)(), ""),
    "same name, rigid": lambda s, some, n: s.assume(
        "i", (X,), Function("some", (ITEM,), BOOL, rigid=True)(X), ""
    ),
    "declared twice": lambda s, some, n: s.state("some", BOOL),
    "word of SMT-LIB": lambda s, some, n: s.state("true", BOOL),
    "not a name": lambda s, some, n: s.state("a b", BOOL),
    "operator": lambda s, some, n: s.state("+", INT, INT),
    "skolem": lambda s, some, n: s.state("sk_p", INT),
    "mark of chosen functions": lambda s, some, n: s.state("some~", ITEM, BOOL),
    "truth value as argument": lambda s, some, n: s.state("f", BOOL, BOOL),
    "variable named like a function": lambda s, some, n: s.safe(
        "i", (Variable("count", INT),), Variable("count", INT) <= n(), ""
    ),
    "bound variable named like a function": lambda s, some, n: s.safe(
        "i", (), forall(Variable("count", INT), Variable("count", INT) <= n()), ""
    ),
    "parameter named like a function": lambda s, some, n: s.action("a", (Variable("some", INT),)),
    "two variables of one name": lambda s, some, n: s.safe(
        "i", (X, Variable("x", INT)), some(X), ""
    ),
    "skolem variable": lambda s, some, n: s.safe("i", (Variable("sk_x", INT),), TRUE, ""),
    "action named as a step": lambda s, some, n: s.action("safety"),
    "statement twice": lambda s, some, n: [s.safe("i", (), TRUE, "") for _ in "12"],
    "action twice": lambda s, some, n: [s.action("a") for _ in "12"],
}


@pytest.mark.parametrize("name", ILL_FORMED)
def test_ill_formed_system_is_refused_with_file_and_line(name):
    refused = ill(ILL_FORMED[name])
    assert refused.error.code == "P712"
    file, line = refused.where.rsplit(":", 1)
    assert file == __file__
    assert int(line) > 0


@pytest.mark.parametrize("name", ["open statement", "statement is a number", "stranger"])
def test_part_that_was_added_behind_the_back_is_refused_when_obligations_are_made(name):
    system, made = small(some=(ITEM, BOOL), count=(INT,))
    body = {"open statement": made["some"](X), "statement is a number": made["count"](),
            "stranger": Function("other", (), BOOL)()}[name]  # fmt: skip
    system.safety.append(Statement("i", (), body))
    with pytest.raises(IllFormedError):
        obligations(system)


def test_havoc_without_its_symbol_is_refused():
    system, made = small(some=(ITEM, BOOL))
    system.actions.append(Action("a", (), TRUE, {}, (made["some"],)))
    with pytest.raises(IllFormedError, match="chooses"):
        obligations(system)


def test_kernel_refuses_what_the_front_end_refuses():
    some, other = Function("f", (), BOOL), Function("f", (), INT)
    stranger = Obligation("s", "i", "a", (some(), eq(other(), 1)), FALSE, ())
    bound = Obligation("s", "i", "a", (forall(Variable("f", INT), some()),), FALSE, ())
    for obligation in (stranger, bound):
        for judged in (check_unsealed(obligation, Certificate("", ())),
                       check(obligation, Certificate("", ()))):  # fmt: skip
            assert not judged.is_proved
            assert "not supported" in judged.reason
