"""Files in a campaign folder that are endless, huge, pipes or links out of it."""

from __future__ import annotations

import gzip
import io
import os
import resource
import shutil
import signal
import sys

import pytest

from paraply.campaigning.files import FOLDER, INDEX
from paraply.cli import main
from paraply.mining import commits, store
from paraply.mining.commits import STATES, name_of_state, read_rows, state_from_bytes
from paraply.mining.plan import PLAN_FILE
from paraply.mining.row_files import ROWS
from paraply.mining.store import PART, ArrowStore, DiskStore
from paraply.vocabulary.errors import ParaplyError

SECONDS_MAX = 120
MORE_BYTES_MAX = 1 << 30
HUGE = 3 << 30


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mined") / "out"
    words = ["mine", "--subjects=write_sets", "--mutants", "last_committed_off_by_one",
             "--histories=40", "--master=none", "--no-times", "--out", str(folder)]  # fmt: skip
    assert main(words) == 0
    return folder


@pytest.fixture
def campaign(mined, tmp_path, monkeypatch):
    """Return a copy of a campaign; other files than its own are beside it."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(mined, tmp_path / "e")
    (tmp_path / "outside").mkdir()
    return tmp_path / "e"


@pytest.fixture(autouse=True)
def limits():
    """Bound memory and time, so that a reader without a bound fails here and nowhere else."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MORE_BYTES_MAX, before[1]))
    signal.alarm(SECONDS_MAX)
    yield
    signal.alarm(0)
    resource.setrlimit(resource.RLIMIT_AS, before)


def readers(campaign):
    """Return the commands that read a campaign, by a short name."""
    name = next((campaign / FOLDER).glob("*.md")).stem
    return {
        "report": ["mine", "--report", "e"],
        "show": ["show", "e", "--out", "pages"],
        "promote": ["mine", "--promote", "e", name, "--regressions", "kept"],
        "resume": ["mine", "--resume", "--master=none", "--out", "e"],
    }


def files_of(campaign):
    """Return a file of each sort that a campaign has."""
    return {
        "plan": campaign / PLAN_FILE,
        "index": campaign / INDEX,
        "history": next((campaign / FOLDER).glob("*.jsonl")),
        "state": next((campaign / STATES).iterdir()),
        "rows": next((campaign / ROWS).glob("*.parquet")),
        "log": campaign / ROWS / "_delta_log" / f"{1:020}.json",
    }


def linked_to_zeros(file):
    file.unlink()
    file.symlink_to("/dev/zero")


def sparse(file):
    os.truncate(file, HUGE)


def pipe(file):
    file.unlink()
    os.mkfifo(file)


def linked_outside(file):
    outside = file.parents[len(file.parts) - file.parts.index("e") - 1] / "outside" / file.name
    file.rename(outside)
    file.symlink_to(outside)


def folder(file):
    file.unlink()
    file.mkdir()


READ_BY = {
    "plan": ["report", "show", "resume"],
    "index": ["report", "show", "promote"],
    "history": ["show", "promote"],
    "state": ["report", "show", "resume"],
    "rows": ["report", "show", "resume"],
    "log": ["report", "show", "resume"],
}


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("harm", [linked_to_zeros, sparse, pipe, linked_outside])
@pytest.mark.parametrize("name", sorted(READ_BY))
def test_file_that_cannot_be_read_safely_is_refused(campaign, capsys, name, harm):
    commands = readers(campaign)
    harm(files_of(campaign)[name])
    for reader in READ_BY[name]:
        assert main(commands[reader]) == 3, reader
        said = capsys.readouterr().err
        assert "paraply: P721 " in said
        assert "\n  remedy: " in said
    assert not (campaign.parent / "pages").exists()
    assert not (campaign.parent / "kept").exists()


@pytest.mark.parametrize("name", ["plan", "index"])
def test_folder_in_place_of_a_file_is_refused(campaign, capsys, name):
    commands = readers(campaign)
    folder(files_of(campaign)[name])
    for reader in READ_BY[name]:
        assert main(commands[reader]) == 3
        assert "paraply: P721 " in capsys.readouterr().err


@pytest.mark.parametrize("reader", ["report", "show", "promote"])
def test_files_that_are_linked_within_the_folder_are_read(campaign, capsys, reader):
    (campaign / "moved").mkdir()
    for file in files_of(campaign).values():
        file.rename(campaign / "moved" / file.name)
        file.symlink_to(os.path.relpath(campaign / "moved" / file.name, file.parent))
    assert main(readers(campaign)[reader]) == 0, capsys.readouterr().err


def test_rows_that_are_linked_outside_are_read_by_no_table_reader(campaign):
    linked_outside(files_of(campaign)["rows"])
    with pytest.raises(ParaplyError, match=r"P721.*leaves it"):
        read_rows(str(campaign))


@pytest.mark.parametrize("inside", [False, True])
def test_linked_folder_below_the_tables_is_refused(campaign, inside):
    target = campaign / "sidecars" if inside else campaign.parent / "outside"
    target.mkdir(exist_ok=True)
    (campaign / ROWS / "_delta_log" / "_sidecars").symlink_to(target)
    with pytest.raises(ParaplyError, match="P721"):
        read_rows(str(campaign))


def test_state_that_unpacks_to_too_much_is_not_read(campaign):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        for _ in range(commits.STATE_BYTES_MAX // (1 << 20) + 1):
            file.write(bytes(1 << 20))
    data = packed.getvalue()
    assert len(data) < 1 << 20
    with pytest.raises(ValueError, match="too large"):
        state_from_bytes(data)
    state = files_of(campaign)["state"]
    state.unlink()
    (campaign / name_of_state(data)).write_bytes(data)
    log = files_of(campaign)["log"]
    before = f"{STATES}/{state.name}"
    assert before in log.read_text()
    log.write_text(log.read_text().replace(before, name_of_state(data)))
    assert main(["mine", "--report", str(campaign)]) == 2


def test_leftovers_that_are_links_or_folders_are_no_internal_error(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "STALE_S", -1.0)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    disk = DiskStore(str(tmp_path / "store"))
    disk.write("a", b"1")
    (disk.root / f".b{PART}").symlink_to(tmp_path / "nowhere")
    (disk.root / f".c{PART}").symlink_to(victim)
    (disk.root / f".d{PART}").mkdir()
    assert disk.sweep() == 2
    assert victim.read_text() == "precious"
    with pytest.raises(ParaplyError, match="P721"):
        disk.delete(f".d{PART}")


def test_object_that_is_too_large_is_refused(tmp_path):
    pafs = pytest.importorskip("pyarrow.fs")
    local = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())
    bucket = ArrowStore("", local)
    bucket.write("a/b", b"123")
    assert bucket.read("a/b", 3) == b"123"
    assert bucket.read("a/c") is None
    with pytest.raises(ParaplyError, match=r"P721 .*it has more than 2 bytes"):
        bucket.read("a/b", 2)
