"""The examples on the pages of the theorems, as runs of their systems on plain values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import pytest

from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import theorem
from paraply.models.language.concrete import (
    Scope,
    Table,
    World,
    choosing,
    evaluate,
    is_enabled,
    step,
)
from paraply.models.language.system import System

CELL = re.compile(r"(?P<function>\w+)\((?P<arguments>[^)]*)\) = (?P<value>\S+)")


def parts(text):
    """Return what lies between semicolons."""
    return [part for part in map(str.strip, text.split(";")) if part]


def value_of(word):
    """Return a number, a truth value or a name."""
    if word in {"true", "false"}:
        return word == "true"
    return int(word) if word.lstrip("-").isdigit() else word


def cell(text):
    """Return function, arguments and value of ``name(a, b) = value``."""
    match = CELL.fullmatch(text)
    assert match, text
    arguments = tuple(value_of(word.strip()) for word in match["arguments"].split(",") if word)
    return match["function"], arguments, value_of(match["value"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A run: steps, steps that are ``not`` possible, and values on the way."""

    of: str
    """A theorem, whose first system runs, or a counterexample."""
    run: str
    start: str = ""
    scope: Scope = field(default_factory=lambda: Scope(low=-1, high=4, size=2))
    system: int = 0

    def build(self) -> System:
        """Return the system."""
        if self.of.startswith("P"):
            return theorem(self.of).systems[self.system]()
        return next(one for one in COUNTEREXAMPLES if one.id == self.of).system()

    def beginning(self) -> World:
        """Return the first state."""
        tables: dict[str, Table] = {}
        for line in parts(self.start):
            function, arguments, value = cell(line)
            tables.setdefault(function, {})[arguments] = value
        return World(self.scope, tables)

    def follow(self) -> World:
        """Return the last state. Raises ``AssertionError`` where the system differs."""
        system, world = self.build(), self.beginning()
        for statement in (*system.initially, *system.axioms):
            assert evaluate(statement.closed, world, {}), statement.name
        functions = {function.name: function for function in system.functions}
        for line in parts(self.run):
            if "(" in line:
                name, arguments, value = cell(line)
                assert world.lookup(functions[name], arguments) == value, line
                continue
            refused, words = line.startswith("not "), line.removeprefix("not ").split()
            action = system.action_named(words[0])
            given = {key: value_of(to) for key, to in (word.split("=") for word in words[1:])}
            chosen = {
                function.name: {(given.pop(function.name),): True}
                for function in action.havoc
                if function.name in given
            }
            chosen = {**{function.name: {} for function in action.havoc}, **chosen}
            ready = choosing(world, chosen)
            bound = {parameter: given[parameter.name] for parameter in action.parameters}
            assert is_enabled(action, ready, bound) != refused, line
            if not refused:
                world = step(system, action, ready, bound)
        return world


TWO_OF_THREE = "; ".join(
    [f"acks(replica{k}, ackers{a}) = true" for a in range(3) for k in range(3) if k != a]
    + [f"votes(replica{k}, voters{v}) = true" for v in range(3) for k in range(3) if k != v]
    + [f"meet(ackers{a}, voters{v}) = replica{min({0, 1, 2} - {a, v})}"
       for a in range(3) for v in range(3)]
)  # fmt: skip
"""Each two of three replicas are an acknowledging and an electing set."""

CIRCLE = (
    "holder(row0) = -1; holder(row1) = -1; size(0) = 1; size(1) = 1; size(2) = 2;"
    "row_at(0, 0) = row0; row_at(1, 0) = row1; row_at(2, 0) = row0; row_at(2, 1) = row1;"
    "place(0, row1) = -1; place(1, row0) = -1; place(2, row1) = 1"
)
"""T0 locks row0, T1 row1, T2 both."""

WRITTEN = "; ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true; ws(2, row1) = true"
"""And each writes what it locks."""

AS_IT_WAS = "; ".join(
    f"{name}({one}) = -1"
    for name, ones in (
        ("stored", ("row0", "row1")), ("last", ("row0", "row1")), ("row_lock", ("row0", "row1")),
        ("defined", ("tab0", "tab1")), ("last_ddl", ("tab0", "tab1")),
        ("meta_lock", ("tab0", "tab1")),
    )
    for one in ones
) + "; next_sn() = 2; lc_global() = 1; table(row0) = tab0; table(row1) = tab1"  # fmt: skip
"""A member before the first transaction."""

GROUP = "; ".join(
    [f"{name}(member{m}, row{r}) = -1" for name in ("value", "row_lock") for m in range(2)
     for r in range(2)]
    + [f"version({p}, row{r}) = -1" for p in range(-1, 4) for r in range(2)]
    + [f"in_group(member{m}) = true; first(member{m}) = -1; next_sn(member{m}) = 2;"
       f"lc_global(member{m}) = 1" for m in range(2)]
    + [f"acks(member1, ackers{a}) = true; one_of(ackers{a}) = member1" for a in range(2)]
)  # fmt: skip
"""A group of two, where member1 acknowledges."""

GROUP_AND_CERTIFIER = GROUP + "; matched() = true; ws(txn0, row0) = true; ws(txn1, row0) = true"
UNTIL_T1_IS_DELIVERED = """
    execute t=txn0 m=member1; execute t=txn1 m=member0; send t=txn0; send t=txn1; certify t=txn0;
    certifier_writer(row0) = txn0; not apply m=member0; roll_back t=txn1; apply m=member0;
    not certify t=txn1;
"""
"""Both wrote row0 at the same time, and txn0 is certified, and applied at the other member."""

GROUP_AND_APPLIER = GROUP_AND_CERTIFIER + (
    "; here() = member0; first(member0) = 0; applier_vc(0) = true; applier_ws(0, row0) = true;"
    "applier_next_sn() = 2; applier_lc_global() = 1"
)
"""The applier of member0, to which the first remote transaction comes."""

BATCHES = "; ".join(f"waits_for({p}) = -1" for p in range(-1, 5))
LOCKS_ARE_FREE = "in_log() = -1; in_ack() = -1; in_commit() = -1"

ROWS = "next_sn() = 2; lc_global() = 1; ws(0, row0) = true; ws(1, row1) = true; ws(2, row0) = true"
NUMBERS = "sn(0) = 1; sn(1) = 2; sn(2) = 3; sn(3) = 4; lc(1) = 1; lc(2) = 1; lc(3) = 2"
THREE = Scope(low=-1, high=2, size=3)

EXAMPLES = [
    Example(
        of="P21",
        start=ROWS,
        run="""
            certify new_lc=1 witness=row0; sn(0) = 2; certify new_lc=1 witness=row1; sn(1) = 3;
            not certify new_lc=3 witness=row0; not certify new_lc=1 witness=row0;
            certify new_lc=2 witness=row0; sn(2) = 4; start q=0; start q=1; not start q=2;
            finish p=0; start q=2; committed(1) = false
        """,
    ),
    Example(
        of="P22",
        start=NUMBERS,
        run="""
            open_group; finish p=0; advance; give_out; give_out; finish p=2; not advance;
            not give_out; finish p=1; advance; give_out; given() = 4
        """,
    ),
    Example(
        of="P23",
        start=BATCHES + "; ws(1, row0) = true; ws(2, row0) = true; first(2) = 2; first(3) = 3;"
        "first(4) = 4",
        run="""
            start p=0; start p=1; apply p=1 r=row0; start_commit p=1; wait w=0 p=1;
            killed(1) = true; not roll_back p=1; revoke_commit_start p=1; roll_back p=1;
            start_commit p=0; not start p=2; engine_commit p=0; retry p=1; apply p=1 r=row0;
            start_commit p=1; start p=2; not apply p=2 r=row0; engine_commit p=1; apply p=2 r=row0
        """,
    ),
    Example(
        of="P24",
        start=BATCHES + "; ws(0, row0) = true; ws(1, row1) = true; first(2) = 2; first(3) = 3;"
        "first(4) = 4",
        run="""
            start p=0; start p=1; apply p=1 r=row1; start_commit p=1; not engine_commit p=1;
            wait w=0 p=1; killed(1) = true; revoke_commit_start p=1; roll_back p=1;
            waits_for(0) = -1; apply p=0 r=row0; start_commit p=0; not retry p=1;
            engine_commit p=0; retry p=1; apply p=1 r=row1; start_commit p=1; engine_commit p=1
        """,
    ),
    Example(
        of="P25",
        start=LOCKS_ARE_FREE,
        run="""
            write; sync; enter_ack; begin_rotation; not write; end_rotation; file_start() = 1;
            receive; enter_commit; engine_commit; engine(0) = true
        """,
    ),
    Example(
        of="P25",
        system=1,
        start=LOCKS_ARE_FREE,
        run="""
            write; sync; enter_ack; begin_rotation; not end_rotation; receive; enter_commit;
            engine_commit; end_rotation
        """,
    ),
    Example(
        of="P26",
        start=LOCKS_ARE_FREE,
        run="""
            write; sync; enter_ack; steps(0) = 3; write; steps(1) = 1; receive; enter_commit;
            engine_commit; steps(0) = 6; sync; enter_ack; receive; enter_commit; engine_commit;
            steps(1) = 6
        """,
    ),
    Example(
        of="P27",
        scope=THREE,
        start=TWO_OF_THREE,
        run="""
            write; write; receive k=replica0; receive k=replica0; receive k=replica1;
            acknowledge k=replica0; acknowledge k=replica1; make_visible a=ackers2;
            not make_visible a=ackers0; not make_visible a=ackers1; not make_visible a=ackers2;
            crash_replica k=replica1; received(replica1) = 1
        """,
    ),
    Example(
        of="P28",
        scope=THREE,
        start=TWO_OF_THREE,
        run="""
            write; receive k=replica0; receive k=replica1; acknowledge k=replica0;
            acknowledge k=replica1; make_visible a=ackers2; read g=0; lose_source;
            not promote k=replica2 v=voters0; promote k=replica1 v=voters0; received(replica1) = 1
        """,
    ),
    Example(
        of="P29",
        run="""
            begin; prepare_data p=0; prepare_position p=0; log p=0; commit_data p=0;
            saved(0) = false; crash_and_recover begin=1; saved(0) = true; data(0) = true; begin;
            prepare_data p=1; crash_and_recover begin=1; data(1) = false; begin; running(1) = true
        """,
    ),
    Example(
        of="P30",
        start=LOCKS_ARE_FREE + "; opened() = true",
        run="""
            write; sync g=0; crash_and_recover; engine(0) = true; not read g=0; not write;
            not open_server; receive g=0; open_server; read g=0
        """,
    ),
    Example(
        of="P31",
        start=AS_IT_WAS + "; ws(0, row0) = true; ws(1, row0) = true; ws(2, row0) = true;"
        "local(1) = true",
        run="""
            certify new_lc=1; sn(0) = 2; not certify_local; start q=0; change_row q=0 r=row0;
            found(0, row0) = -1; not certify_local; engine_commit p=0; certify_local;
            found(1, row0) = 0; certify new_lc=1; sn(2) = 3; start q=2; not change_row q=2 r=row0;
            engine_commit p=1; change_row q=2 r=row0; found(2, row0) = 1; before(2, row0) = 1
        """,
    ),
    Example(
        of="P32",
        start=AS_IT_WAS + "; alters(0, tab0) = true; empty(0) = true; local(0) = true;"
        "ws(1, row0) = true",
        run="""
            certify_local; meta_lock(tab0) = 0; certify new_lc=1; start q=1;
            not change_row q=1 r=row0; engine_commit p=0; change_row q=1 r=row0;
            found_ddl(1, tab0) = 0
        """,
    ),
    Example(
        of="P33",
        start=AS_IT_WAS + "; ws(0, row0) = true; ws(1, row0) = true",
        run="""
            certify new_lc=1; certify new_lc=2; sn(0) = 2; sn(1) = 3; start q=0; not start q=1;
            change_row q=0 r=row0; engine_commit p=0; start q=1; change_row q=1 r=row0;
            engine_commit p=1; stored(row0) = 1
        """,
    ),
    Example(
        of="P33",
        start=AS_IT_WAS + "; ws(0, row0) = true; ws(1, row0) = true; local(1) = true",
        run="""
            certify new_lc=1; start q=0; change_row q=0 r=row0; engine_commit p=0; certify_local;
            engine_commit p=1; stored(row0) = 1
        """,
    ),
    Example(
        of="P34",
        start=AS_IT_WAS + "; applier_next_sn() = 2; applier_lc_global() = 1; matched() = true;"
        "ws(0, row0) = true; ws(1, row0) = true; ws(2, row0) = true; local(1) = true;"
        "applier_ws(0, row0) = true; applier_ws(1, row0) = true",
        run="""
            certify new_lc=1 witness=row0; start q=0; change_row here=0 row=row0; finish worker=0;
            certify_local here=1; committed(1) = true; certify new_lc=1 witness=row0;
            place(1) = 2; applier_sn(1) = 3; sn(2) = 3; lc(2) = 1; start q=1; started(2) = true;
            change_row here=2 row=row0; finish worker=1; applier_committed(1) = true;
            committed(2) = true; matched() = true
        """,
    ),
    Example(
        of="P35",
        start=AS_IT_WAS + "; applier_next_sn() = 2; applier_lc_global() = 1; matched() = true;"
        "ws(0, row0) = true; ws(1, row0) = true; local(1) = true; applier_ws(0, row0) = true",
        run="""
            certify new_lc=1 witness=row0; not certify_local; start q=0;
            change_row worker=0 row=row0; not certify_local; finish worker=0;
            applier_committed(0) = true; certify_local; row_lock(row0) = 1;
            applier_item_sn(row0) = 0; commit_session worker=1; applier_n() = 1; matched() = true
        """,
    ),
    Example(
        of="P36",
        start=CIRCLE + WRITTEN,
        run="""
            queue; queue; queue; start p=0; start p=1; not start p=2; lock_row p=1;
            not engine_commit p=1; lock_row p=0; engine_commit p=0; engine_commit p=1; start p=2;
            lock_row p=2; lock_row p=2; engine_commit p=2; head() = 3
        """,
    ),
    Example(
        of="P37",
        start=CIRCLE,
        run="""
            queue; queue; queue; start p=0; start p=1; start p=2; lock_row p=1; lock_row p=2;
            not lock_row p=0; not lock_row p=2; not engine_commit p=1; call_back p=2 q=0;
            holder(row0) = 0; engine_commit p=0; engine_commit p=1; lock_row p=2; lock_row p=2;
            engine_commit p=2; head() = 3
        """,
    ),
    Example(
        of="P56",
        scope=Scope(low=-1, high=3, size=2),
        start=GROUP + "; ws(txn0, row0) = true; after_sync(member0) = true",
        run="""
            execute t=txn0 m=member0; send t=txn0; certify t=txn0; pass_over m=member0;
            not apply m=member0; not hear p=0 a=ackers0; receive m=member1 new_lc=1;
            sn(member1, 0) = 2; hear p=0 a=ackers0; apply m=member0; visible(0) = true;
            answer p=0; crash m=member0; received(member1) = 1
        """,
    ),
    Example(
        of="P58",
        scope=Scope(low=-1, high=3, size=2),
        start=GROUP_AND_CERTIFIER,
        run=UNTIL_T1_IS_DELIVERED
        + """
            refuse t=txn1 row=row0; certifier_delivered(txn1) = true;
            certifier_certified(txn1) = false; certifier_refuser(txn1) = txn0;
            certifier_snap(txn1, txn0) = false; matched() = true
        """,
    ),
    Example(
        of="P59",
        scope=Scope(low=-1, high=3, size=2),
        start=GROUP_AND_APPLIER,
        run="""
            execute t=txn0 m=member1; send t=txn0; certify t=txn0; receive_first new_lc=0;
            sn(member0, 0) = 0; applier_n() = 1; start q=0; change_row m=member0 q=0 r=row0;
            not execute t=txn1 m=member0; finish m=member0; applier_committed(0) = true;
            execute t=txn1 m=member0; send t=txn1; certify t=txn1; pass_over_session;
            applier_item_sn(row0) = 0; apply m=member0; applier_n() = 1; matched() = true
        """,
    ),
    Example(
        of="P11",
        system=2,
        start=LOCKS_ARE_FREE + "; opened() = true",
        run="""
            write; sync g=0; enter_ack g=0; enter_commit g=0; engine_commit g=0; read g=0;
            not answer_client g=0 p=0; receive_one g=0; answer_client g=0 p=0;
            not answer_client g=0 p=1; receive g=0; answer_client g=0 p=1
        """,
    ),
]
"""What the pages of these theorems show."""

WITHOUT_THE_GUARD = [
    Example(
        of="C136",
        scope=Scope(low=-1, high=3, size=2),
        start=GROUP_AND_CERTIFIER,
        run=UNTIL_T1_IS_DELIVERED
        + """
            refuse t=txn1 row=row0; certifier_snap(txn1, txn0) = true; matched() = false
        """,
    ),
    Example(
        of="C28",
        start=ROWS,
        run="""
            certify new_lc=1 witness=row0; not certify new_lc=1 witness=row1;
            certify new_lc=2 witness=row1; start q=0; not start q=1
        """,
    ),
    Example(
        of="C29",
        start=NUMBERS,
        run="""
            open_group; finish p=0; give_out j=0; give_out j=0; finish p=2; give_out j=2;
            given() = 4; done(1) = false
        """,
    ),
    Example(
        of="C38",
        start=LOCKS_ARE_FREE,
        run="""
            write; sync; enter_ack; begin_rotation; not end_rotation; not receive;
            not enter_commit; not engine_commit; not sync; not write
        """,
    ),
    Example(
        of="C41",
        scope=THREE,
        start=TWO_OF_THREE,
        run="""
            write; write; receive k=replica0; receive k=replica0; receive k=replica1;
            acknowledge k=replica0; acknowledge k=replica1; make_visible a=ackers2;
            make_visible a=ackers2; visible() = 2; received(replica1) = 1
        """,
    ),
    Example(
        of="C44",
        scope=THREE,
        start=TWO_OF_THREE,
        run="""
            write; receive k=replica0; receive k=replica1; acknowledge k=replica0;
            acknowledge k=replica1; make_visible a=ackers2; read g=0; lose_source;
            promote k=replica2 v=voters0; received(replica2) = 0
        """,
    ),
    Example(
        of="C46",
        run="""
            begin; prepare_data p=0; prepare_position p=0; log p=0; commit_position p=0;
            crash_and_recover begin=1; saved(0) = true; data(0) = false
        """,
    ),
    Example(
        of="C68",
        start=CIRCLE,
        run="""
            queue; queue; queue; start p=0; start p=1; start p=2; lock_row p=1; lock_row p=2;
            not lock_row p=0; not lock_row p=2; not engine_commit p=1; not call_back p=2 q=0
        """,
    ),
]
"""What they say of counterexamples where the stored run is another one."""


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    "example", EXAMPLES + WITHOUT_THE_GUARD, ids=lambda one: f"{one.of}.{one.system}"
)
def test_example_is_a_run_of_the_system(example):
    example.follow()


def test_step_that_the_system_refuses_is_no_example():
    example = next(one for one in EXAMPLES if one.of == "P21")
    with pytest.raises(AssertionError, match="start q=2"):
        replace(example, run=example.run.replace("not start q=2", "start q=2")).follow()


def test_wrong_number_is_no_example():
    example = next(one for one in EXAMPLES if one.of == "P21")
    with pytest.raises(AssertionError, match=r"sn\(2\) = 5"):
        replace(example, run=example.run.replace("sn(2) = 4", "sn(2) = 5")).follow()
