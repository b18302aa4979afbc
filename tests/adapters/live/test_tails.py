"""Files whose end is lost: never more than there is, never the beginning."""

from __future__ import annotations

from random import Random

from paraply.adapters.live.tails import cut_tail


def test_what_is_left_is_a_prefix(tmp_path):
    file = tmp_path / "bin.000001"
    data = Random(0).randbytes(20_000)
    file.write_bytes(data)
    lost = cut_tail(file, Random(1))
    assert 0 < lost <= 6_000
    assert file.read_bytes() == data[: 20_000 - lost]


def test_cut_before_a_place_loses_what_stands_before_it_and_all_after_it(tmp_path):
    file = tmp_path / "bin.000001"
    for seed in range(20):
        file.write_bytes(bytes(20_000))
        assert cut_tail(file, Random(seed), end=9_000) == 20_000 - file.stat().st_size
        assert 3_000 <= file.stat().st_size < 9_000


def test_beginning_stays(tmp_path):
    file = tmp_path / "bin.000001"
    for size in (10, 1_024, 1_500):
        file.write_bytes(b"x" * size)
        assert cut_tail(file, Random(1)) == max(0, size - 1_024)
        assert file.stat().st_size == min(size, 1_024)
