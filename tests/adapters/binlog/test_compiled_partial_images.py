"""Kernels judge rows of which images do not show all as the readable code does."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled import left_tables
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.properties.logs.audit import AuditOptions
from tests.adapters.binlog.test_compiled_ranges import some_selection, transactions_of
from tests.auditing.in_parts.test_left_tables import in_parts
from tests.builders.binlog_writer import BinlogWriter
from tests.builders.engines import audit_by_leaving, audit_by_readable, differences
from tests.builders.tied_tables import TiedTable, draw_tied_log

DIALECTS = ("mariadb", "mysql")
IMAGES = ("minimal", "noblob", "nodup", "mixed")


def compared(path, options=None, selection=None, **sizes):
    """Return the readable result, in what kernels differ, and what they left and compared."""
    left = LeftTables()
    readable = audit_by_readable((str(path),), None, options, selection)
    compiled = audit_by_leaving((str(path),), None, options, left, selection, **sizes)
    return readable.result, differences(readable, compiled), left


def assert_alike(folder, dialect, images, seed):
    """Compare the engines on a drawn log and on a drawn part of it."""
    rng = random.Random(seed)
    path = draw_tied_log(folder / f"{dialect}.000001", dialect, rng, images=images)
    options = AuditOptions(replay_rows_max=rng.choice((9, 10_000)))
    result, found, left = compared(path, options, transactions_max=rng.choice((3, 8192)))
    assert found == []
    assert compared(path, options, some_selection(transactions_of([path]), rng))[1] == []
    return path, result, left


@pytest.mark.parametrize("images", IMAGES)
def test_partial_images_give_the_same_result(tmp_path, images):
    drawn = [
        assert_alike(tmp_path, dialect, images, seed) for seed in range(3) for dialect in DIALECTS
    ]
    results, all_left = [each[1] for each in drawn], [each[2] for each in drawn]
    assert any(result.violations for result in results)
    assert any(result.replay.findings for result in results)
    if images == "mixed":
        # Images of one table then show now these columns, now others.
        assert any(left.reasons for left in all_left)
        return
    assert all(left.compared for left in all_left)
    left = [reason for each in all_left for reason in each.reasons]
    assert left == [] or images == "minimal"


@pytest.mark.long
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32), dialect=st.sampled_from(DIALECTS), images=st.sampled_from(IMAGES)
)
def test_any_partial_images_give_the_same_result(tmp_path_factory, seed, dialect, images):
    path, _, _ = assert_alike(tmp_path_factory.mktemp("partial"), dialect, images, seed)
    in_parts([path], AuditOptions(), random.Random(seed))


def one_table(path, dialect, changes):
    """Write changes ``(before, after)`` of rows (id, a, b, v) in minimal images."""
    table = TiedTable("t", is_text=False, primary=("id",), unique=[("a", "b")])
    is_mariadb = dialect == "mariadb"
    writer = BinlogWriter(server_version="10.11.19-MariaDB" if is_mariadb else "8.0.36")
    codes = (23, 24, 25) if is_mariadb else (30, 31, 32)
    for number, change in enumerate([None, *changes], start=1):
        if is_mariadb:
            writer.mariadb_gtid(number, flags=0x0C if change else 0x29)
        else:
            writer.gtid(number, last_committed=number - 1, sequence_number=number)
        if change is None:
            writer.query(table.statement(), schema="d")
            continue
        if not is_mariadb:
            writer.query("BEGIN", schema="d")
        old, new = change
        before, after = table.shown("minimal", old, new)
        writer.table_map(table.columns(), schema="d", table="t")
        writer.rows(
            codes[0 if old is None else 1 if new else 2], table.columns(),
            [row for row in change if row], before_present=before, after_present=after,
        )  # fmt: skip
        writer.xid(number)
    return writer.save(path)


FIRST, SECOND = (1, 5, 5, 0), (2, 5, 5, 0)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("between", "duplicates"),
    [((FIRST, (1, 5, 5, 1)), 1), ((FIRST, (1, 5, 6, 0)), 0), ((FIRST, (1, 6, 6, 0)), 0),
     ((FIRST, None), 0)],
    ids=["unchanged", "a part changed", "changed", "deleted"],
)  # fmt: skip
def test_unique_value_is_kept_by_an_update_that_does_not_show_it(
    tmp_path, dialect, between, duplicates
):
    path = one_table(tmp_path / "one.000001", dialect, [(None, FIRST), between, (None, SECOND)])
    result, found, left = compared(path)
    assert found == []
    assert left.reasons == {}
    assert left.compared == {"d.t": {0}}
    assert result.replay.duplicate_keys == duplicates


def is_told_apart(folder, images, seeds=40):
    for seed in range(seeds):
        for dialect in DIALECTS:
            path = folder / f"{dialect}.000001"
            draw_tied_log(path, dialect, random.Random(seed), images=images)
            if compared(path)[1]:
                return True
    return False


def without(*places):
    """Leave out what a change of a hidden key names, by ``layout.K_MARK`` and those after it."""

    def changed(line):
        names = tuple(n._replace(met=frozenset(), reached=frozenset()) if at in places else n
                      for at, n in enumerate(line.names))  # fmt: skip
        return replace(line, names=names)

    return changed


def of_role(role, change):
    return lambda line: change(line) if line.role == role and len(line.names) > 1 else line


NAMES = {
    "a parent that a row leaves": of_role(L.CHILD, without(1)),
    "a value of a unique key that is taken": of_role(L.UNIQUE, without(0)),
    "a value of a unique key that is set free": of_role(L.UNIQUE, without(1)),
    "a lost value of a unique key": of_role(L.UNIQUE, without(2)),
}


@pytest.mark.long
def test_parents_that_do_not_name_their_going_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(left_tables, "with_releases", lambda plan: plan)
    assert is_told_apart(tmp_path, "minimal")


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("change", NAMES.values(), ids=NAMES.keys())
def test_what_a_hidden_key_does_not_name_is_noticed(tmp_path, monkeypatch, change):
    real = left_tables.with_hidden
    monkeypatch.setattr(
        left_tables, "with_hidden", lambda *given: (change(line) for line in real(*given))
    )
    assert is_told_apart(tmp_path, "minimal")
