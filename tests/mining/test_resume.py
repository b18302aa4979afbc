"""Killed at any moment, a campaign resumes and writes the table of an undisturbed one."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import deltalake
import pyarrow.parquet as pq
import pytest

from paraply.mining import campaign
from paraply.mining.campaign import read_campaign, run_campaign
from paraply.mining.commits import LOG, STATES, CommitLog
from paraply.mining.engines import InProcess
from paraply.mining.plan import PLAN_FILE
from paraply.mining.row_files import ROWS
from paraply.mining.store import store_at
from paraply.mining.systems import systems_of
from paraply.vocabulary.errors import ParaplyError
from tests.mining.campaigns import MUTANTS, rows_of, small_plan

CHILD = """
import json, sys
from paraply.mining import campaign
from paraply.mining.campaign import run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.plan import plan_from_json
campaign.COMMIT_S = 0.0
plan = plan_from_json(json.loads(sys.argv[2]))
print("ready", flush=True)
print_batch = lambda _: print("batch", flush=True)
run_campaign(plan, sys.argv[1], InProcess(), resume=True, on_batch=print_batch)
"""

# Ends the process inside the write of a file, at one step of it: table, plan, then rows, state and
# commit of each batch; each is synced, and its folder after it.
DYING = """
import os
from paraply.mining import campaign, store
campaign.COMMIT_S = 0.0
left = int(sys.argv[3])
step = sys.argv[4]
real_replace, real_fsync = os.replace, os.fsync
def fsync(handle):
    global left
    left -= 1
    if left == 0 and step == "unsynced":
        os.ftruncate(handle, 10)
        os._exit(9)
    real_fsync(handle)
def replace(part, target):
    if left <= 0 and step == "not renamed":
        os._exit(9)
    real_replace(part, target)
    if left <= 0 and step == "renamed":
        os._exit(9)
store.os.fsync, store.os.replace = fsync, replace
"""


def start(code, folder, plan, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder), json.dumps(plan.as_json()), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    plan = small_plan(histories=120, batch=15, mutants=("last_committed_off_by_one",))
    folder = tmp_path_factory.mktemp("undisturbed")
    progress = run_campaign(plan, str(folder), InProcess())
    assert progress.is_complete
    assert progress.histories == 240
    return plan, rows_of(folder, plan)


@pytest.mark.long
def test_campaign_killed_at_random_moments_resumes_to_the_same_table(tmp_path, undisturbed):
    plan, expected = undisturbed
    moments = random.Random(20261121)
    killed = 0
    for _ in range(5):
        child = start(CHILD, tmp_path, plan)
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            for _ in range(moments.randint(0, 3)):
                child.stdout.readline()
            time.sleep(moments.uniform(0.0, 0.05))
        finally:
            child.send_signal(signal.SIGKILL)
            child.communicate()
        killed += child.returncode == -signal.SIGKILL
    assert killed
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.is_complete
    assert progress.batches_kept
    assert rows_of(tmp_path, plan) == expected
    assert read_campaign(str(tmp_path)).per_system == progress.per_system


@pytest.mark.long
@pytest.mark.parametrize("step", ["unsynced", "not renamed", "renamed"])
@pytest.mark.parametrize("syncs", [5, 7, 11])
def test_process_that_dies_inside_a_write_loses_one_commit_at_most(
    tmp_path, undisturbed, step, syncs
):
    plan, expected = undisturbed
    code = CHILD.replace("plan = ", DYING + "plan = ", 1)
    child = start(code, tmp_path, plan, str(syncs), step)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 9, said
    before = read_campaign(str(tmp_path)).batches
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.batches_kept == before
    assert rows_of(tmp_path, plan) == expected


def files_of(folder):
    log = CommitLog(store_at(str(folder)))
    return [folder / ROWS / name for name in sorted(log.files())]


def corrupt(path):
    """Flip a bit of the largest column's last page: pages have checksums, the footer has none."""
    group = pq.read_metadata(path).row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    largest = max(columns, key=lambda one: one.total_compressed_size)
    begin = largest.dictionary_page_offset or largest.data_page_offset
    data = bytearray(path.read_bytes())
    data[begin + largest.total_compressed_size - 1] ^= 0x40
    path.write_bytes(bytes(data))


DAMAGE = {
    "a bit flips": corrupt,
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "gone": lambda path: path.unlink(),
    "another file": lambda path: path.write_bytes(b"PAR1"),
}


@pytest.mark.long
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("is_guided", [False, True])
def test_damaged_rows_are_made_again(tmp_path, damage, is_guided, monkeypatch):
    monkeypatch.setattr(campaign, "COMMIT_S", 0.0)
    plan = small_plan(histories=40, batch=20, is_guided=is_guided)
    run_campaign(plan, str(tmp_path), InProcess())
    expected = rows_of(tmp_path, plan)
    damaged = files_of(tmp_path)[1]
    DAMAGE[damage](damaged)
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert len(progress.remarks) == 2
    assert damaged.name in progress.remarks[0]
    assert "begin anew" in progress.remarks[1]
    assert 0 < progress.batches_kept < plan.batches
    assert rows_of(tmp_path, plan) == expected
    assert read_campaign(str(tmp_path)).is_complete


@pytest.mark.long
@pytest.mark.parametrize("damage", ["gone", "cut short"])
def test_damaged_state_begins_the_campaign_anew(tmp_path, undisturbed, damage):
    plan, expected = undisturbed
    run_campaign(plan, str(tmp_path), InProcess())
    for path in (tmp_path / STATES).iterdir():
        DAMAGE[damage](path)
    read = read_campaign(str(tmp_path))
    assert not read.is_complete
    assert "the state" in read.remarks[0]
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.batches_kept == 0
    assert rows_of(tmp_path, plan) == expected


def newest_commit(folder):
    return max((folder / LOG).glob("*.json"))


@pytest.mark.long
@pytest.mark.parametrize("part", ["nothing", "half", "a whole line", "all but one byte"])
def test_commit_that_a_power_failure_cuts_runs_again(part, tmp_path, undisturbed):
    plan, expected = undisturbed
    run_campaign(plan, str(tmp_path), InProcess())
    commit = newest_commit(tmp_path)
    data = commit.read_bytes()
    kept = {"nothing": 0, "half": len(data) // 2, "a whole line": data.index(b"\n"),
            "all but one byte": len(data) - 1}  # fmt: skip
    commit.write_bytes(data[: kept[part]])
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert "cut short" in progress.remarks[0]
    assert rows_of(tmp_path, plan) == expected


def test_table_that_a_power_failure_cuts_is_made_again(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, str(tmp_path), InProcess())
    expected = rows_of(tmp_path, plan)
    for commit in sorted((tmp_path / LOG).glob("*.json"))[1:]:
        commit.unlink()
    first = newest_commit(tmp_path)
    first.write_bytes(first.read_bytes().rpartition(b"\n")[0])
    assert run_campaign(plan, str(tmp_path), InProcess(), resume=True).is_complete
    assert rows_of(tmp_path, plan) == expected


def test_checkpoint_that_a_power_failure_cuts_is_removed(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, str(tmp_path), InProcess())
    expected = rows_of(tmp_path, plan)
    deltalake.DeltaTable(str(tmp_path / ROWS)).create_checkpoint()
    (checkpoint,) = (tmp_path / LOG).glob("*.checkpoint.parquet")
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    assert run_campaign(plan, str(tmp_path), InProcess(), resume=True).is_complete
    assert not checkpoint.exists()
    assert rows_of(tmp_path, plan) == expected


@pytest.mark.long
def test_campaign_that_is_complete_runs_nothing_again(tmp_path, undisturbed):
    plan, _ = undisturbed
    run_campaign(plan, str(tmp_path), InProcess())
    files = files_of(tmp_path)
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.batches_kept == plan.batches
    assert not progress.remarks
    assert files_of(tmp_path) == files


@pytest.mark.long
def test_files_are_few_however_many_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "COMMIT_S", float("inf"))  # However slow the machine is.
    plan = small_plan(histories=30, batch=1)
    run_campaign(plan, str(tmp_path), InProcess())
    assert len(files_of(tmp_path)) == 1
    assert {path.suffix for path in (tmp_path / ROWS).iterdir()} == {".parquet", ""}
    assert len(list((tmp_path / ROWS).glob("*.parquet"))) == 1


@pytest.mark.long
def test_second_driver_is_refused_and_nothing_is_there_twice(tmp_path, undisturbed):
    plan, expected = undisturbed
    run_campaign(plan, str(tmp_path), InProcess(), time_limit_s=0.0)
    kept = []

    def interfere(_):
        if not kept:
            other = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
            kept.append(other.is_complete)

    with pytest.raises(ParaplyError, match="P729"):
        run_campaign(plan, str(tmp_path), InProcess(), resume=True, on_batch=interfere)
    assert kept == [True]
    assert rows_of(tmp_path, plan) == expected


def kill_two_drivers(place, plan, moments):
    """Run two drivers of one campaign at once, and kill both at a random moment."""
    pair = [start(CHILD, place, plan) for _ in range(2)]
    try:
        for child in pair:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
        for _ in range(moments.randint(0, 3)):
            pair[0].stdout.readline()
        time.sleep(moments.uniform(0.0, 0.1))
    finally:
        for child in pair:
            child.send_signal(signal.SIGKILL)
        said = "".join(child.communicate()[1] for child in pair)
    for line in said.splitlines():
        if "ParaplyError: P" in line:
            assert any(code in line for code in ("P729", "P723")), line
        else:
            assert "Error: " not in line, said


@pytest.mark.long
def test_two_processes_killed_and_started_at_random_write_each_run_once(tmp_path, undisturbed):
    plan, expected = undisturbed
    moments = random.Random(21)
    for _ in range(3):
        kill_two_drivers(tmp_path, plan, moments)
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.is_complete
    assert rows_of(tmp_path, plan) == expected


def test_folder_of_an_earlier_version_is_named_as_such(tmp_path):
    (tmp_path / PLAN_FILE).write_text(json.dumps({"format": 2}))
    for action in (
        lambda: read_campaign(str(tmp_path)),
        lambda: run_campaign(small_plan(), str(tmp_path), InProcess(), resume=True),
    ):
        with pytest.raises(ParaplyError, match=r"P734.*format 2"):
            action()


def test_folder_in_use_is_refused_without_resume(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, str(tmp_path), InProcess())
    with pytest.raises(ParaplyError, match="P722"):
        run_campaign(plan, str(tmp_path), InProcess())


def test_other_campaign_is_refused_and_what_differs_is_named(tmp_path):
    run_campaign(small_plan(histories=4, batch=2), str(tmp_path), InProcess())
    larger = replace(
        small_plan(histories=4, batch=2),
        systems=systems_of(["write_sets"], MUTANTS, {"transactions": "5"}),
    )
    for other, named in (
        (small_plan(histories=4, batch=2, seed=1), "--seed was 0 and is 1"),
        (small_plan(histories=6, batch=2), "--histories was 4 and is 6"),
        (small_plan(histories=6, batch=3), "--histories was 4 and is 6; --batch was 2 and is 3"),
        (small_plan(histories=4, batch=2, source="x"), "the source of paraply was  and is x"),
        (small_plan(histories=4, batch=2, mutants=()), "and 1 more: not named now"),
        (small_plan(histories=4, batch=2, subjects=("applier",)), "not part of it"),
        (larger, "looked_up: transactions was 6 and is 5"),
    ):
        with pytest.raises(ParaplyError, match=named):
            run_campaign(other, str(tmp_path), InProcess(), resume=True)


def test_plan_that_is_damaged_is_refused(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, str(tmp_path), InProcess())
    store_at(str(tmp_path)).write(PLAN_FILE, b'{"format": 3}')
    with pytest.raises(ParaplyError, match="P728"):
        run_campaign(plan, str(tmp_path), InProcess(), resume=True)


def test_rows_that_are_gone_are_reported(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, str(tmp_path), InProcess())
    files_of(tmp_path)[0].unlink()
    read = read_campaign(str(tmp_path))
    assert not read.is_complete
    assert read.remarks == [
        f"1 file of rows of the campaign cannot be found: paraply mine --resume --out {tmp_path} "
        "makes it again"
    ]
    run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert read_campaign(str(tmp_path)).is_complete
