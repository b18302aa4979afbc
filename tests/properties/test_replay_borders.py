"""A log that is replayed in parts is replayed as in one piece, wherever it is cut."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.compiled import replay_state as R
from paraply.properties.logs.compiled.batches import JudgedBatch
from paraply.properties.logs.compiled.replay import CompiledReplay
from paraply.properties.logs.compiled.replay_borders import CompactRows
from paraply.properties.logs.prepared_xa import PreparedXa
from paraply.properties.logs.replay_state import ReplayState, RowState
from paraply.properties.logs.replayed_part import add_replayed, take_replayed
from paraply.properties.logs.row_replay import RowReplay
from paraply.vocabulary.keys import TableTies
from paraply.vocabulary.log import ABSENT, LoggedKind, RowChange
from paraply.vocabulary.schema import ForeignKey
from tests.builders.logged import Tables, delete, insert, transaction, update

CASCADE = ForeignKey(
    name="f", columns=(1,), parent="d.t", parent_columns=("id",), on_delete="CASCADE"
)
TABLES = (
    Tables()
    .add("d.t", "id", "email", "note", unique=(1,))
    .add("e.u", "id", "email", "note", unique=(1,))
    .add("d.c", "id", "parent", foreign=[CASCADE])
    .add("d.z", "id", "note", is_told=False)
)
DDL = ("CREATE TABLE d.t (i INT)", "TRUNCATE e.u", "DROP SCHEMA e", "ALTER TABLE d.c ADD x INT")


@st.composite
def changes(draw, *, minimal):
    table = draw(st.sampled_from(["d.t", "d.t", "e.u"]))

    def image():
        number, email = draw(st.integers(0, 3)), draw(st.sampled_from(["a", "b", None]))
        return number, email, draw(st.integers(0, 1))

    before, after = image(), image()
    match draw(st.integers(0, 4)):
        case 0:
            return insert(table, *after)
        case 1:
            return delete(table, *before)
        case 2:
            return update(table, before, (before[0], *after[1:]))
        case 3 if minimal:
            return update(table, (before[0], ABSENT, ABSENT), (ABSENT, ABSENT, after[2]))
        case _:
            return update(table, before, after)


@st.composite
def logs(draw, *, odd=True):
    """Some transactions; odd ones are cascades, XA, statements and images of some columns."""
    log = []
    for ordinal in range(1, draw(st.integers(2, 14)) + 1):
        kind = draw(st.integers(0, 11 if odd else 7))
        if kind == 7:
            statement = draw(st.sampled_from(DDL))
            log.append(transaction(ordinal, kind=LoggedKind.DDL, statements=(statement,)))
        elif kind == 8:
            parent = draw(st.integers(0, 3))
            rows = [draw(st.sampled_from([insert, delete]))("d.c", draw(st.integers(0, 2)), parent)]
            log.append(transaction(ordinal, rows=rows))
        elif kind == 9:
            rows = [draw(changes(minimal=False))] if draw(st.booleans()) else []
            text = draw(st.sampled_from(["XA COMMIT X'61'", "XA ROLLBACK X'61'"]))
            log.append(
                transaction(
                    ordinal, kind=LoggedKind.XA, xa_id="X'61'", rows=rows,
                    statements=() if rows else (text,),
                )
            )  # fmt: skip
        elif kind == 10:
            log.append(transaction(ordinal, kind=LoggedKind.STATEMENT, statements=("UPDATE t",)))
        else:
            rows = draw(st.lists(changes(minimal=odd), min_size=1, max_size=3))
            log.append(transaction(ordinal, rows=rows))
    return log


def parts_of(log, cuts):
    ends = sorted({min(cut, len(log)) for cut in cuts} | {len(log)})
    return [log[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def renumbered(part):
    """Return the part with the ordinals of somebody who knows nothing of what was before."""
    first = part[0].ordinal
    return [pickle.loads(pickle.dumps(txn)) for txn in part], first - 1


def replay_of(rows_max=1_000):
    return RowReplay(TABLES, rows_max)


def count_from(replay, part, border):
    copies, shift = renumbered(part)
    for txn in copies:
        txn.ordinal -= shift
    replay.begin_at(border, 0)
    for txn in copies:
        replay.observe(txn)
    return (take_replayed(replay), shift), replay.end_at(len(copies))


def whole(log, rows_max):
    replay = replay_of(rows_max)
    for txn in log:
        replay.observe(pickle.loads(pickle.dumps(txn)))
    return replay.result()


def replayed_in_parts(log, cuts, rows_max):
    """Replay part after part, each from what the one before left; add up what is found."""
    border = replay_of(rows_max).nothing()
    results = []
    for part in parts_of(log, cuts):
        border = pickle.loads(pickle.dumps(border))
        result, border = count_from(replay_of(rows_max), part, border)
        results.append(result)
    return results, border


def is_the_same(log, cuts, rows_max=1_000):
    parts, _ = replayed_in_parts(log, cuts, rows_max)
    together = replay_of(rows_max)
    add_replayed(together, parts)
    return together.result() == whole(log, rows_max)


cut_points = st.lists(st.integers(1, 13), min_size=1, max_size=3)


@pytest.mark.long
@given(logs(), cut_points, st.sampled_from([3, 5, 1_000]))
def test_log_replayed_in_parts_is_replayed_as_in_one_piece(log, cuts, rows_max):
    assert is_the_same(log, cuts, rows_max)


@pytest.mark.long
@given(logs(odd=False), cut_points)
def test_guess_is_right_where_images_are_whole(log, cuts):
    carried = replay_of().nothing()
    for part in parts_of(log, cuts):
        _, alone = count_from(replay_of(), part, replay_of().nothing())
        here = pickle.loads(pickle.dumps(carried))
        carried.go_on(alone, len(part))
        _, left = count_from(replay_of(), part, here)
        if any(row.others for row in left.rows._rows.values()):
            # Who holds a key that two rows have is the one thing that a guess gets wrong.
            left.rows._owners.clear()
            check = pickle.loads(pickle.dumps(carried))
            check.rows._owners.clear()
            assert check.fingerprint() == left.fingerprint()
        else:
            assert carried.fingerprint() == left.fingerprint()
        carried = pickle.loads(pickle.dumps(carried))


# --- what a border must carry ----------------------------------------------------------------


def without(name, value):
    """Return a mutant of what is carried on that puts ``value`` in the place of one memory."""

    def mutate(border):
        holder, _, attribute = name.rpartition(".")
        setattr(getattr(border, holder) if holder else border, attribute, value())

    return mutate


def without_graves(border):
    rows = border.rows._rows
    border.rows._rows = {key: row for key, row in rows.items() if row.columns is not None}


def without_doubt(border):
    for table in border.rows._tables.values():
        table.doubted_at = None


def without_birth(border):
    for table in border.rows._tables.values():
        table.born = False


def in_another_order(border):
    border.rows._rows = dict(reversed(border.rows._rows.items()))


X, Y = (1, "a", 0), (1, "a", 1)
CHILD = [insert("d.c", 1, 1), delete("d.t", *X), insert("d.c", 1, 2)]
UNTOLD = [insert("d.z", 1, 1), delete("d.t", *X), insert("d.z", 1, 2)]
PREPARE = transaction(1, kind=LoggedKind.XA, xa_id="X'61'", rows=[insert("d.t", *X)])
COMMIT = transaction(2, kind=LoggedKind.XA, xa_id="X'61'", statements=("XA COMMIT X'61'",))
MUTANTS = {
    "graves": (without_graves, [delete("d.t", *X), delete("d.t", *X)], 1_000),
    "doubt": (without_doubt, CHILD, 1_000),
    "birth": (without_birth, ["TRUNCATE d.t", delete("d.t", *X)], 1_000),
    "order": (
        in_another_order,
        [
            insert("d.t", *X),
            insert("d.t", 2, None, 0),
            insert("d.t", 3, None, 0),
            delete("d.t", *X),
        ],
        2,
    ),
    "owners": (without("rows._owners", dict), [insert("d.t", *X), insert("d.t", 2, "a", 0)], 9),
    "relations": (without("cascades._unknown", set), UNTOLD, 1_000),
    "prepared": (without("prepared", PreparedXa), [PREPARE, COMMIT], 1_000),
    "everything": (without("rows", lambda: ReplayState(9)), [insert("d.t", *X)] * 2, 9),
}


def log_of(steps):
    log = []
    for ordinal, step in enumerate(steps, start=1):
        if isinstance(step, str):
            step = transaction(ordinal, kind=LoggedKind.DDL, statements=(step,))
        elif isinstance(step, RowChange):
            step = transaction(ordinal, rows=[step])
        log.append(step)
    return log


@pytest.mark.parametrize(("mutant", "steps", "rows_max"), MUTANTS.values(), ids=MUTANTS.keys())
def test_border_that_does_not_carry_everything_is_caught(mutant, steps, rows_max, monkeypatch):
    log = log_of(steps)
    assert is_the_same(log, range(1, 9), rows_max)
    real = RowReplay.end_at

    def end_at(self, ordinal):
        border = real(self, ordinal)
        mutant(border)
        return border

    monkeypatch.setattr(RowReplay, "end_at", end_at)
    assert not is_the_same(log, range(1, 9), rows_max)


def test_fingerprint_tells_what_a_replay_depends_on_apart():
    left = replayed_in_parts([transaction(1, rows=[insert("d.t", 1, "a", 0)])], [1], 9)[1]
    same = replayed_in_parts([transaction(1, rows=[insert("d.t", 1, "a", 0)])], [1], 9)[1]
    assert left.fingerprint() == same.fingerprint()
    for mutant in ("birth", "owners", "everything"):
        other = pickle.loads(pickle.dumps(left))
        if mutant == "birth":
            other.rows.table("d.t").born = True
        else:
            MUTANTS[mutant][0](other)
        assert other.fingerprint() != left.fingerprint()
    other = pickle.loads(pickle.dumps(left))
    ((identity, row),) = other.rows._rows.items()
    other.rows._rows[identity] = RowState(row.table, row.columns, row.others, row.written_at - 1)
    assert other.fingerprint() != left.fingerprint()


# --- the compiled twin -----------------------------------------------------------------------

OPERATIONS = st.tuples(
    st.sampled_from([0, 1, 1, 2]), st.integers(0, 1), st.integers(1, 4), st.integers(1, 4),
    st.integers(0, 3), st.integers(0, 3), st.integers(1, 2), st.integers(1, 2),
)  # fmt: skip
"""Operation, table, key before and after, further key before and after, images."""
NAMES = ["d.t", "e.u"]
UNTOLD = (
    Tables()
    .add("d.t", "id", "email", "note", unique=(1,))
    .add("e.u", "id", "email", "note", unique=(1,), is_told=False)
)
"""The foreign keys of one are unknown, so that each change may cascade into it."""


def batch_of(rows):
    """Return rows as a batch of two tables, each with a primary and a further key."""
    keys = np.zeros((2 * len(rows), 2), np.uint64)
    images = np.zeros((len(rows), 2), np.uint64)
    for at, (operation, table, before, after, old, new, was, is_now) in enumerate(rows):
        sides = ([0] if operation else []) + ([1] if operation != 2 else [])
        for side in sides:
            first, further = ((before, old), (after, new))[side]
            keys[2 * at, side] = 100 * table + first
            keys[2 * at + 1, side] = 1_000 + 100 * table + further if further else 0
            images[at, side] = (was, is_now)[side]
    none = np.zeros(0, np.int64)
    return JudgedBatch(
        columns=none, keys=keys, marks=np.zeros(0, np.uint8), tables=none, table_roles=none,
        table_names=NAMES, key_names=[("PRIMARY", "uk1")] * 2, ties=[TableTies({(0,): (0,)})] * 2,
        census=np.zeros((2, 4), np.int64),
        row_ends=np.array([len(rows)]),
        row_operations=np.array([row[0] for row in rows], np.int64),
        row_tables=np.array([row[1] for row in rows], np.int64),
        row_unchecked=np.zeros(len(rows), np.int64), row_keys_start=2 * np.arange(len(rows)),
        row_images=images, row_keys=keys,
    )  # fmt: skip


def compiled_of(rows_max, tables=TABLES):
    return CompiledReplay(tables, rows_max, 0)


def feed(replay, steps):
    for ordinal, step in enumerate(steps, start=1):
        if isinstance(step, str):
            replay.observe(transaction(ordinal, kind=LoggedKind.DDL, statements=(step,)))
        else:
            replay.observe_batch(batch_of([step]), ordinal, None)
    replay.copy_counts()


compiled_steps = st.lists(OPERATIONS | st.sampled_from(DDL[:3]), min_size=2, max_size=25)


@pytest.mark.long
@given(
    compiled_steps, cut_points, st.sampled_from([2, 3, 1_000]), st.sampled_from([TABLES, UNTOLD])
)
def test_compiled_replay_in_parts_is_the_whole_one(steps, cuts, rows_max, tables):
    one = compiled_of(rows_max, tables)
    feed(one, steps)
    border = compiled_of(rows_max, tables).nothing()
    parts = []
    for part in parts_of(steps, cuts):
        replay = compiled_of(rows_max, tables)
        replay.begin_at(pickle.loads(pickle.dumps(border)), 0)
        feed(replay, part)
        parts.append((take_replayed(replay), 0))
        border = replay.end_at(len(part))
    together = RowReplay(tables, rows_max, 0)
    add_replayed(together, parts)
    assert together.result() == one.result()
    one.rows.begin()
    assert one.end_at(len(steps)).fingerprint() == border.fingerprint()


@pytest.mark.long
@given(compiled_steps, cut_points)
def test_compiled_guess_is_right_but_for_who_holds_a_key(steps, cuts):
    carried = compiled_of(1_000).nothing()
    for part in parts_of(steps, cuts):
        alone, true = compiled_of(1_000), compiled_of(1_000)
        alone.begin_at(alone.nothing(), 0)
        true.begin_at(pickle.loads(pickle.dumps(carried)), 0)
        feed(alone, part)
        feed(true, part)
        carried.go_on(alone.end_at(len(part)), len(part))
        left = true.end_at(len(part))
        guessed = pickle.loads(pickle.dumps(carried))
        for border in (left, guessed):
            border.rows.owner_keys = border.rows.owner_rows = border.rows.owner_keys[:0]
        assert guessed.fingerprint() == left.fingerprint()


def test_fingerprint_of_compact_rows_tells_tables_owners_and_order_apart():
    replay = compiled_of(9)
    feed(replay, [(0, 0, 1, 1, 1, 1, 1, 1), (0, 1, 2, 2, 2, 2, 1, 1)])
    left = replay.end_at(2)
    assert isinstance(left.rows, CompactRows)
    for name, value in (
        ("born", [True, False]),
        ("table_of", left.rows.table_of[::-1]),
        ("owner_rows", left.rows.owner_rows[::-1]),
        ("keys", left.rows.keys[::-1]),
        ("written", left.rows.written[::-1]),
        ("doubted", np.array([[0, R.UNDOUBTED]] * 2)),
        ("doubted", np.array([[R.UNDOUBTED, 0]] * 2)),
    ):
        other = pickle.loads(pickle.dumps(left))
        setattr(other.rows, name, value)
        assert other.fingerprint() != left.fingerprint(), name
