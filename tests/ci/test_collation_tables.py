"""Weight tables survive being stored."""

from __future__ import annotations

import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.collations.measure import level_count, split_levels
from ci.collations.tables import Table, decode_runs, encode_runs, write_compressed

LEVEL = st.binary(max_size=4)
WEIGHTS = st.dictionaries(
    st.integers(0, 400), st.tuples(LEVEL) | st.tuples(LEVEL, LEVEL, LEVEL), max_size=60
)


@pytest.mark.long
@given(WEIGHTS)
def test_runs_give_back_the_weights_they_were_made_of(weights):
    assert decode_runs(encode_runs(weights)) == weights


def test_neighbours_that_grow_by_one_share_a_run():
    weights = {code: ((0x8000 + code).to_bytes(2, "big"), b"\0\x20") for code in range(100)}
    assert encode_runs(weights) == [[0, 99, "8000.0020", 1]]


def test_run_ends_where_the_weight_would_overflow_its_bytes():
    weights = {1: (b"\xfe",), 2: (b"\xff",), 3: (b"\x00",)}
    assert encode_runs(weights) == [[1, 2, "fe", 1], [3, "00"]]


def test_levels_of_mysql_are_split_at_zero_units():
    assert split_levels([bytes.fromhex("1c470000002000000002")], True) == (
        b"\x1c\x47",
        b"\0\x20",
        b"\0\x02",
    )
    assert split_levels([b""], True) == (b"",)
    assert [level_count(f"utf8mb4_0900_{kind}") for kind in ("ai_ci", "as_ci", "as_cs")] == [
        1,
        2,
        3,
    ]


def test_stored_file_does_not_depend_on_the_day(tmp_path):
    tables = [Table(name="t", weights={65: (b"A",)}, contractions={"ch": (b"C",)})]
    sizes = {write_compressed(tmp_path / name, tables) for name in ("a.xz", "b.xz")}
    assert len(sizes) == 1
    assert (tmp_path / "a.xz").read_bytes() == (tmp_path / "b.xz").read_bytes()
    stored = json.loads(lzma.decompress((tmp_path / "a.xz").read_bytes()))
    assert stored == {"t": {"base": None, "runs": [[65, "41"]], "contractions": {"ch": "43"}}}
