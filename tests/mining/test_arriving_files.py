"""Which files of a folder are complete, in order, and which wait."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from paraply.mining.arriving_files import Arrived, arrived, is_closed
from paraply.vocabulary.errors import ParaplyError
from tests.builders.hot_logs import hot_log
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    log = hot_log(folder / "log", size_bytes=30_000, seed=3, block_transactions=20)
    return [str(file) for file in rotated(ForgedLog.read(log), folder / "rotated", 5, 3)]


@pytest.fixture
def put(files, tmp_path):
    """Return a function that copies files by number, cut where asked."""

    def copy(*numbers, cut=0):
        for number in numbers:
            data = Path(files[number - 1]).read_bytes()
            (tmp_path / f"binlog.{number:06}").write_bytes(data[: len(data) - cut])
        return str(tmp_path)

    return copy


def names(found, folder):
    return [file.removeprefix(f"{folder}/") for file in found.complete]


def test_no_folder_yet(tmp_path):
    assert arrived(str(tmp_path)) == Arrived()
    assert arrived(str(tmp_path / "none")) == Arrived()


def test_closed_file_is_complete_and_a_growing_one_waits_for_the_next(put):
    folder = put(1, 2)
    assert names(arrived(folder), folder) == ["binlog.000001", "binlog.000002"]
    put(3, cut=1)
    found = arrived(folder)
    assert names(found, folder) == ["binlog.000001", "binlog.000002"]
    assert found.growing == f"{folder}/binlog.000003"
    put(4)
    assert len(arrived(folder).complete) == 4


def test_file_is_growing_wherever_it_is_cut(put, files):
    size = len(Path(files[0]).read_bytes())
    rng = random.Random(0)
    for cut in [1, 4, 19, *(rng.randrange(1, size) for _ in range(60))]:
        assert not is_closed(f"{put(1, cut=cut)}/binlog.000001")
    assert is_closed(files[0])


def test_files_behind_a_missing_one_wait(put):
    folder = put(1, 3, 4)
    found = arrived(folder)
    assert names(found, folder) == ["binlog.000001"]
    assert (found.missing, found.waiting) == (f"{folder}/binlog.000002", 2)
    put(2)
    found = arrived(folder, found.complete[0], found.complete[0])
    assert names(found, folder) == ["binlog.000002", "binlog.000003", "binlog.000004"]


def test_audited_files_may_be_purged(put, tmp_path):
    folder = put(1, 2, 3)
    first, last = f"{folder}/binlog.000001", f"{folder}/binlog.000003"
    for name in ("binlog.000001", "binlog.000003"):
        (tmp_path / name).unlink()
    assert arrived(folder, first, last) == Arrived()
    put(4)
    assert names(arrived(folder, first, last), folder) == ["binlog.000004"]


def test_file_before_the_first_is_refused(put):
    folder = put(2, 3)
    first, last = arrived(folder).complete
    put(1)
    with pytest.raises(ParaplyError, match=r"P745 .*binlog.000001 came after .*binlog.000002"):
        arrived(folder, first, last)


@pytest.mark.parametrize("other", ["relay.000001", "binlog.backup", "binlog.000001.gz"])
def test_files_that_are_not_one_log_are_refused(put, tmp_path, other):
    folder = put(1)
    (tmp_path / other).write_bytes(b"x")
    with pytest.raises(ParaplyError, match="P744"):
        arrived(folder)
