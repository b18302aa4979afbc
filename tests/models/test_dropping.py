"""What is left out of a specification is missed by a proof, or for a stated reason by none."""

from __future__ import annotations

from random import Random

import pytest

from ci.pages.proofs.dropping import (
    REASONS,
    is_proved,
    measure,
    noticed_by,
    page,
    reason_for,
    share_noticed,
    stored,
)
from paraply.models.judging.certificates.__main__ import renew
from paraply.models.judging.certificates.store import Store, path_of, write
from paraply.models.judging.dropping import (
    Piece,
    follows,
    forbidden,
    is_idle,
    pieces,
    users,
    without,
)
from paraply.models.judging.traces import replay
from paraply.models.language.concrete import choosing, is_enabled
from paraply.models.language.system import System, obligations
from paraply.models.language.terms import BOOL, INT, Variable, eq, implies
from tests.models.built import SYSTEMS

RECORD = stored()
P = Variable("p", INT)


def test_record_speaks_of_every_piece_of_every_system():
    assert {name: [str(piece) for piece in pieces(system)] for name, system in SYSTEMS.items()} == {
        name: [row["piece"] for row in rows] for name, rows in RECORD.items()
    }


def rows_of(record, **wanted):
    rows = [row for rows in record.values() for row in rows]
    return [row for row in rows if all(bool(row.get(k)) is v for k, v in wanted.items())]


def test_nearly_everything_that_a_proof_uses_is_missed_without_it():
    noticed, telling = share_noticed(rows_of(RECORD, proofs=True))
    assert telling > 200
    assert noticed >= 0.95 * telling


def test_loss_of_nearly_everything_that_changes_what_can_happen_is_noticed():
    noticed, telling = share_noticed(r for r in rows_of(RECORD) if r["kind"] != "invariant")
    assert telling > 150
    assert noticed >= 0.95 * telling


def test_what_no_proof_misses_has_a_reason():
    for row in rows_of(RECORD, noticed=False):
        assert row["reason"] in REASONS
        assert ("run" in row) is (row["reason"] == "run")
    assert all(row["proofs"] for row in rows_of(RECORD, noticed=True))


def runs():
    return [
        pytest.param(SYSTEMS[name], piece, row["run"], id=f"{name} {piece}")
        for name, rows in RECORD.items()
        for piece, row in zip(pieces(SYSTEMS[name]), rows, strict=False)
        if "run" in row
    ]


@pytest.mark.parametrize(("system", "piece", "data"), runs())
def test_stored_run_ends_where_only_this_piece_forbids_what_comes_next(system, piece, data):
    where, situation = forbidden(system, piece)
    run = replay(where, situation, data)
    if piece.kind != "guard":
        assert where is not system  # the run starts where only a system without the piece starts
        with pytest.raises(ValueError, match="does not hold at the start"):
            replay(system, situation, data)
        return
    world = run.steps[-1].world if run.steps else run.start
    # The step chooses what the functions are by now.
    world = choosing(world, world.tables)
    allowed = {
        name: is_enabled(action, world, {p: run.witness[p.name] for p in action.parameters})
        for name, built in (("whole", system), ("without", without(system, piece)))
        for action in built.actions
        if action.name == piece.place
    }
    assert allowed == {"whole": False, "without": True}


def some_rows(count, **wanted):
    rows = [
        (SYSTEMS[name], piece, row)
        for name, rows in RECORD.items()
        for piece, row in zip(pieces(SYSTEMS[name]), rows, strict=True)
        if all(bool(row.get(key)) is value for key, value in wanted.items())
    ]
    return Random(3).sample(rows, count)


@pytest.mark.long
def test_proof_that_misses_a_piece_fails_without_it_and_holds_with_it():
    for system, piece, row in some_rows(15, noticed=True):
        name = tuple(row["noticed"].split("/"))
        whole = {(part.statement, part.step): part for part in obligations(system)}
        assert is_proved(whole[name])
        assert noticed_by(system, piece, [name]) == row["noticed"]


@pytest.mark.long
def test_reason_why_nothing_misses_a_piece_is_found_again():
    for system, piece, row in some_rows(6, noticed=False):
        assert reason_for(system, piece)["reason"] == row["reason"]


def test_use_of_a_piece_is_read_from_the_certificates():
    system = SYSTEMS["members"]
    counted = [len(proofs) for proofs in users(system, Store()).values()]
    assert counted == [row["proofs"] for row in RECORD["members"]]


def counter():
    """A counter up to 3 with a mark; one condition is said twice, and one step may be idle."""
    system = System("counter")
    n = system.state("n", INT)
    marked = system.state("marked", INT, BOOL)
    system.starts_with("zero", (), eq(n(), 0))
    system.starts_with("unmarked", (P,), ~marked(P))
    system.action("up", guard=(n() < 3) & (n() < 4), updates={n: lambda: n() + 1})
    system.action("mark", (P,), guard=(P < n()) & ~marked(P),
                  updates={marked: lambda p: marked(p) | eq(p, P)})  # fmt: skip
    system.safe("small", (), n() <= 3, "")
    system.invariant("small", (), n() <= 3, "")
    system.invariant("behind", (P,), implies(marked(P), P < n()), "")
    return system


def piece_of(system, name):
    return next(piece for piece in pieces(system) if str(piece) == name)


@pytest.fixture
def kept(tmp_path):
    certificates, missing, _ = renew(counter(), {})
    assert not missing
    write(path_of("counter", tmp_path), certificates)
    return Store(tmp_path)


def test_pieces_of_a_system_are_its_conditions_and_statements():
    assert [str(piece) for piece in pieces(counter())] == [
        "up: (< n 3)", "up: (< n 4)", "mark: (< p n)", "mark: (not (marked p))",
        "start zero", "start unmarked", "invariant small", "invariant behind",
    ]  # fmt: skip


def test_system_without_a_piece_has_all_the_others():
    for piece in pieces(counter()):
        left = [str(other) for other in pieces(without(counter(), piece))]
        assert left == [str(other) for other in pieces(counter()) if str(other) != str(piece)]


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("name", "noticed"),
    [
        ("up: (< n 3)", "small/up"),
        ("up: (< n 4)", ""),
        ("mark: (< p n)", "behind/mark"),
        ("mark: (not (marked p))", ""),
        ("start zero", "small/initially"),
        ("start unmarked", "behind/initially"),
        ("invariant small", "small/safety"),
        ("invariant behind", ""),
    ],
)
def test_piece_is_missed_by_the_proof_that_rests_on_it(kept, name, noticed):
    system = counter()
    piece = piece_of(system, name)
    assert noticed_by(system, piece, users(system, kept)[piece]) == noticed


def test_reasons_tell_what_follows_what_is_idle_and_what_is_forbidden():
    system = counter()
    assert reason_for(system, piece_of(system, "up: (< n 4)")) == {"reason": "follows"}
    assert reason_for(system, piece_of(system, "mark: (not (marked p))")) == {"reason": "idle"}
    assert reason_for(system, piece_of(system, "invariant behind")) == {"reason": "none"}
    assert not is_proved(follows(system, piece_of(system, "up: (< n 3)")))
    assert not is_proved(is_idle(system, piece_of(system, "mark: (< p n)")))
    assert len(reason_for(system, piece_of(system, "mark: (< p n)"))["run"]["steps"]) == 0
    assert len(reason_for(system, piece_of(system, "up: (< n 3)"))["run"]["steps"]) == 3
    assert reason_for(system, piece_of(system, "start zero"))["reason"] == "run"


def test_invariant_forbids_nothing():
    with pytest.raises(ValueError, match="forbids nothing"):
        forbidden(counter(), piece_of(counter(), "invariant behind"))


def test_system_without_certificates_uses_nothing(tmp_path):
    assert set(map(len, users(counter(), Store(tmp_path)).values())) == {0}


def test_page_counts_what_the_record_holds():
    text = page()
    noticed, telling = share_noticed(rows_of(RECORD, proofs=True))
    assert f"Proofs use {telling} independent pieces" in text
    assert f"The loss of {noticed} of them is detected" in text
    left = {name: sum(not row["noticed"] for row in rows) for name, rows in RECORD.items()}
    assert sum(map(bool, left.values())) > len(left) / 2
    assert {name for name in left if f"## {name}\n" in text} == {
        n for n, one in left.items() if one
    }


@pytest.mark.long
def test_measuring_a_system_gives_what_is_stored():
    assert measure(SYSTEMS["low_water_mark"]) == RECORD["low_water_mark"]


def test_piece_tells_its_kind_and_place():
    assert str(Piece("assumption", "A1", eq(P, 0))) == "assumption A1"
