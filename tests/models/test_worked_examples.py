"""The worked examples of the proof pages are runs of the models, step by step."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

import pytest

from ci.pages.proofs.pages import FOLDER
from paraply.models.claims.theorems import theorem
from paraply.models.judging.proving import claim_named
from paraply.models.language.concrete import (
    Scope,
    World,
    choosing,
    evaluate,
    is_enabled,
    step,
)

PROSE = tomllib.loads((FOLDER / "prose.toml").read_text(encoding="utf-8"))
WORDS_MAX = 60
SCOPE = Scope(low=-1, high=5, size=3)


@dataclass(frozen=True)
class Example:
    """A run, and with which steps the same workload breaks the statement of a faulty twin.

    ``not`` is before a step that the system refuses. Facts have an equals sign. What an action
    chooses follows its arguments.
    """

    start: str
    """Facts of the initial state."""
    steps: str
    faulty: dict[str, str] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    """Where the run happens; all systems of the theorem without it."""
    other_start: str = ""
    """The initial state of the faulty twins, if theirs is another one."""


CLOCK = "next_sn() = 2; lc_global() = 1; "
FREE_LOCKS = "in_log() = -1; in_ack() = -1; in_commit() = -1; opened() = true"
HISTORY = "start() = -1; mark() = -1; "
UNLOCKED = "holder(row0) = -1; holder(row1) = -1; holder(row2) = -1; "
ONE_HASH = (
    "ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true; slot(row0) = slot0; "
    "slot(row1) = slot0; noted(0, slot0) = true; noted(1, slot0) = true; "
)
WL = ("parallel_applier[wl8440]",)

EXAMPLES = {
    "P01": Example(
        CLOCK + "ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true",
        """certify(1, row0); lc(0) = 1; sn(0) = 2; certify(1, row1); lc(1) = 1; sn(1) = 3;
        certify(2, row0); lc(2) = 2; sn(2) = 4; start(0); start(1); not start(2); finish(0);
        start(2); committed(1) = false""",
        {"C03": """certify(1, row0); certify(1, row1); collect_garbage() purged row0;
        certify(1, row0); lc(2) = 1; start(0); start(1); start(2); committed(0) = false"""},
        WL,
    ),
    "P02": Example(
        CLOCK + "ws(0, row0) = true; empty(1) = true; ws(2, row1) = true",
        """certify(1, row0); sn(0) = 2; certify(2, row0); lc(1) = 2; sn(1) = 3; lc_global() = 3;
        certify(3, row1); lc(2) = 3; sn(2) = 4; start(0); not start(1); finish(0); start(1);
        not start(2); finish(1); start(2)""",
        {"C01": "certify(1, row0); certify(1, row0); lc(1) = 1; start(0); start(1)"},
    ),
    "P03": Example(
        CLOCK + "ws(0, row0) = true; vc(1) = true; ws(2, row0) = true",
        """certify(1, row0); lc(0) = 1; sn(0) = 2; join(); lc(1) = 0; sn(1) = 0; next_sn() = 2;
        certify(1, row0); lc(2) = 1; sn(2) = 2; start(0); not start(1); finish(0); start(1);
        not start(2); finish(1); start(2)""",
        {"C05": "certify(1, row0); join(); certify(1, row0); start(0); start(1); start(2)"},
        ("parallel_applier[wl8440]", "parallel_applier[mysql_8_0]"),
    ),
    "P04": Example(
        CLOCK + "ws(0, row0) = true; ws(1, row0) = true",
        """certify(1, row0); lc(0) = 1; sn(0) = 2; collect_garbage() purged row0; lc_global() = 2;
        certify(2, row0); lc(1) = 2; sn(1) = 3""",
        {"C02": """certify(1, row0); collect_garbage() purged row0; lc_global() = 3;
        certify(3, row0); lc(1) = 3; sn(1) = 3"""},
        WL,
    ),
    "P05": Example(
        "ws(txn0, row0) = true; ws(txn1, row0) = true; ws(txn2, row0) = true; "
        "snap(txn2, txn0) = true",
        """certify_positively(txn0); writer(row0) = txn0; not certify_positively(txn1);
        certify_negatively(txn1, row0, txn0); certify_positively(txn2); writer(row0) = txn2""",
        {"C09": """certify_positively(txn0); collect_garbage() purged row0; has(row0) = false;
        certify_positively(txn1)"""},
    ),
    "P06": Example(
        "ws(txn0, row1) = true; ws(txn1, row0) = true; snap(txn1, txn0) = true; "
        "ws(txn2, row0) = true; snap(txn2, txn0) = true",
        """certify_positively(txn0); certify_positively(txn1); writer(row0) = txn1;
        not certify_positively(txn2); not certify_negatively(txn2, row0, txn0);
        certify_negatively(txn2, row0, txn1); refuser(txn2) = txn1""",
        {"C10": """certify_positively(txn0); certify_positively(txn1); not certify_positively(txn2);
        certify_negatively(txn2, row0, txn0); ws(txn0, row0) = false"""},
        other_start="ws(txn0, row1) = true; ws(txn1, row0) = true; snap(txn1, txn0) = true; "
        "ws(txn2, row0) = true; snap(txn2, txn1) = true",
    ),
    "P07": Example(
        UNLOCKED + "ws(0, row0) = true; ws(1, row1) = true",
        """queue(); queue(); start(0); start(1); lock_row(1, row1); not engine_commit(1);
        lock_row(0, row0); engine_commit(0); head() = 1; engine_commit(1)""",
        {"C11": """queue(); queue(); start(0); start(1); lock_row(1, row1); engine_commit(1);
        committed(0) = false"""},
    ),
    "P08": Example(
        UNLOCKED + "ws(0, row0) = true; ws(1, row1) = true",
        """queue(); queue(); start(0); start(1); lock_row(0, row0); lock_row(1, row1);
        take_snapshot(); read(0) = false; read(1) = false; not engine_commit(1); engine_commit(0);
        take_snapshot(); read(0) = true; read(1) = false; engine_commit(1);
        take_snapshot(); read(0) = true; read(1) = true""",
        {"C12": """queue(); queue(); start(0); start(1); lock_row(0, row0); lock_row(1, row1);
        engine_commit(1); take_snapshot(); read(0) = false; read(1) = true"""},
    ),
    "P09": Example(
        UNLOCKED + "ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true",
        """queue(); queue(); queue(); start(0); start(1); not start(2); lock_row(1, row1);
        not engine_commit(1); lock_row(0, row0); engine_commit(0); engine_commit(1); start(2);
        lock_row(2, row0); engine_commit(2)""",
        {"C13": """queue(); queue(); queue(); start(0); start(1); start(2); lock_row(2, row0);
        not lock_row(0, row0); not engine_commit(2)"""},
    ),
    "P10": Example(
        FREE_LOCKS,
        """write(); sync(0); enter_ack(0); not enter_commit(0); not read(0); crash_and_recover();
        recovered(0) = true; not read(0); not release_recovered(0); receive(0);
        release_recovered(0); read(0)""",
        {"C15": """write(); sync(0); enter_ack(0); crash_and_recover(); read(0);
        received(0) = false"""},
    ),
    "P11": Example(
        FREE_LOCKS,
        """write(); sync(0); enter_ack(0); not enter_commit(0); receive(0); enter_commit(0);
        not answer_client(0); engine_commit(0); answer_client(0)""",
        {"C17": """write(); sync(0); enter_ack(0); enter_commit(0); engine_commit(0);
        answer_client(0); received(0) = false""",
         "C137": """write(); sync(0); enter_ack(0); enter_commit(0); engine_commit(0);
        answer_client(0, 0); received(0) = false"""},
        ("semi_sync[waits]", "semi_sync[barred]"),
    ),
    "P12": Example(
        FREE_LOCKS,
        """write(); sync(0); enter_ack(0); write(); sync(1); not enter_ack(1); receive(0);
        receive(1); enter_commit(0); enter_ack(1); not enter_commit(1); engine_commit(0);
        enter_commit(1); engine_commit(1)""",
        {"C18": """write(); sync(0); leave_log(0); write(); sync(1); leave_log(1); enter_ack(1);
        receive(0); receive(1); enter_commit(1); engine_commit(1); engine(0) = false"""},
    ),
    "P13": Example(
        FREE_LOCKS,
        """write(); sync(0); receive(0); enter_ack(0); write(); n() = 2; not receive(1);
        crash_and_recover(); n() = 1; synced(0) = true; received(1) = false""",
        {"C19": """write(); sync(0); receive(0); enter_ack(0); write(); receive(1);
        crash_and_recover(); n() = 1; received(1) = true"""},
    ),
    "P14": Example(
        "ws(txn0, row0) = true; ws(txn1, row0) = true; ws(txn2, row0) = true; "
        "snap(txn1, txn0) = true",
        """certify(txn0); has_a(row0) = true; has_b(row0) = true; not collect_at_b() purged row0;
        grow_stable_set() grown txn0; collect_at_b() purged row0; has_a(row0) = true;
        has_b(row0) = false; not certify(txn2); not refuse(txn2); certify(txn1)""",
        {"C20": "certify(txn0); grow_stable_set() grown txn0; collect_at_b() purged row0"},
    ),
    "P15": Example(
        HISTORY + "ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true",
        """log(-1, -1); log(-1, -1); log(0, 1); depends(0) = -1; depends(1) = -1; depends(2) = 0;
        start(0); start(1); not start(2); leave(0); advance(); mark() = 0; start(2);
        left(1) = false""",
        {"C21": """log(-1, -1); log(-1, -1); forget(); log(-1, 1); depends(2) = -1; start(0);
        start(1); start(2)"""},
    ),
    "P16": Example(
        HISTORY + "ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true; "
        "ws(2, row1) = true",
        """log(-1, -1); log(-1, -1); not log(0, 1); log(1, 1); depends(2) = 1; start(0); start(1);
        leave(1); not advance(); mark() = -1; not start(2); leave(0); advance(); advance();
        mark() = 1; start(2)""",
        {"C23": """log(-1, -1); log(-1, -1); log(1, 1); start(0); start(1); leave(1); start(2);
        left(0) = false"""},
    ),
    "P17": Example(
        "",
        """receive(); receive(); give_out(); give_out(); engine_commit(1); executed(1) = true;
        crash(0); executed(0) = false; give_out(); not give_out(); skip(); engine_commit(0);
        cursor() = 2; executed(0) = true; twice(1) = false""",
        {"C24": """receive(); receive(); give_out(); give_out(); engine_commit(1); crash(0);
        give_out(); give_out(); engine_commit(1); twice(1) = true"""},
        ("restart",),
    ),
    "P18": Example(
        "",
        """receive(); receive(); receive(); give_out(); give_out(); give_out(); engine_commit(0);
        engine_commit(2); not crash(2); not crash(3); crash(1); give_out(); running(1) = true;
        skip(); engine_commit(1); cursor() = 3""",
        {"C25": """receive(); receive(); receive(); give_out(); give_out(); give_out();
        engine_commit(0); engine_commit(2); crash(2); cursor() = 2; executed(1) = false"""},
        ("restart",),
    ),
    "P19": Example(
        "",
        """receive(); receive(); give_out(); give_out(); not engine_commit(1); engine_commit(0);
        position() = 1; crash(); cursor() = 1; give_out(); running(1) = true;
        engine_commit(1); position() = 2""",
        {"C26": """receive(); receive(); give_out(); give_out(); engine_commit(0);
        position() = 0; crash(); cursor() = 0; give_out(); engine_commit(0); twice(0) = true"""},
    ),
    "P20": Example(
        "",
        """receive(); receive(); receive(); give_out(); give_out(); give_out(); engine_commit(0);
        position() = 1; crash(); cursor() = 1; give_out(); give_out(); engine_commit(1);
        engine_commit(2); position() = 3; twice(1) = false""",
        {"C27": """receive(); receive(); receive(); give_out(); give_out(); give_out();
        engine_commit(2); position() = 3; crash(); cursor() = 3; executed(0) = false"""},
    ),
    "P45": Example(
        HISTORY + ONE_HASH + "noted(2, slot0) = true",
        """log(-1, -1); log(0, 0); depends(1) = 0; log(1, 1); depends(2) = 1; start(0);
        not start(1); not start(2); leave(0); advance(); start(1); not start(2); leave(1);
        advance(); start(2)""",
        {"C88": """log(-1, -1); log(0, 0); log(-1, 1); depends(2) = -1; start(0); start(2);
        left(0) = false"""},
        other_start=HISTORY + ONE_HASH.removesuffix("; "),
    ),
}  # fmt: skip


def value(word):
    """Return a number, a truth value or the name of an element."""
    if word in {"true", "false"}:
        return word == "true"
    return int(word) if re.fullmatch(r"-?\d+", word) else word


def lines(told):
    """Return each step or fact: its parts by name."""
    pattern = r"(not )?(\w+)\((.*?)\)(?: = (\S+)| (\w+) (\w+))?"
    parsed = [re.fullmatch(pattern, " ".join(line.split())) for line in told.split(";") if line]
    for no, name, inside, equals, chosen, element in (one.groups() for one in parsed):
        arguments = tuple(value(word) for word in inside.split(", ") if word)
        tables = {chosen: {(element,): True}} if chosen else {}
        yield no is not None, name, arguments, equals, tables


def begun(system, told):
    """Return the initial state, which is one of the system."""
    world = World(SCOPE)
    for _, name, arguments, equals, _ in lines(told):
        world.tables.setdefault(name, {})[arguments] = value(equals)
    for statement in (*system.initially, *system.axioms):
        assert evaluate(statement.closed, world, {}), f"{system.name}: {statement.name}"
    return world


def followed(system, start, told, *, is_safe):
    """Return the last state; each step and each fact must be as it is told."""
    world = begun(system, start)
    functions = {function.name: function for function in system.functions}
    actions = {action.name: action for action in system.actions}
    for refused, name, arguments, equals, chosen in lines(told):
        if equals is not None:
            assert world.lookup(functions[name], arguments) == value(equals), (name, arguments)
            continue
        action = actions[name]
        bound = dict(zip(action.parameters, arguments, strict=True))
        tables = {function.name: {} for function in action.havoc} | chosen
        ahead = choosing(world, tables)
        assert is_enabled(action, ahead, bound) is not refused, (system.name, name, arguments)
        if not refused:
            world = step(system, action, ahead, bound)
        if is_safe:
            for claim in system.safety:
                assert evaluate(claim.closed, world, {}), (claim.name, name, arguments)
    return world


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", EXAMPLES)
def test_steps_of_an_example_happen_and_keep_the_statements(name):
    example, entry = EXAMPLES[name], theorem(name)
    systems = [build() for build in entry.systems]
    chosen = [one for one in systems if not example.systems or one.name in example.systems]
    assert len(chosen) == (len(example.systems) or len(systems))
    for system in chosen:
        followed(system, example.start, example.steps, is_safe=True)


@pytest.mark.parametrize(
    ("name", "refuted"), [(name, c) for name, one in EXAMPLES.items() for c in one.faulty]
)
def test_same_workload_breaks_the_statement_without_the_guard(name, refuted):
    entry, example = theorem(refuted), EXAMPLES[name]
    assert refuted in theorem(name).delimited_by
    system = entry.system()
    start = example.other_start or example.start
    world = followed(system, start, example.faulty[refuted], is_safe=False)
    assert not evaluate(claim_named(system, entry.statement).closed, world, {})


@pytest.mark.parametrize("name", EXAMPLES)
def test_page_has_the_example_in_few_words(name):
    told = PROSE[name]["example"]
    assert len(told.split()) <= WORDS_MAX
    assert set(EXAMPLES[name].faulty) == set(re.findall(r"C\d+", told))


def test_a_step_that_the_system_refuses_is_noticed():
    entry, example = theorem("P07"), EXAMPLES["P07"]
    with pytest.raises(AssertionError, match="engine_commit"):
        followed(entry.systems[0](), example.start, example.faulty["C11"], is_safe=False)
