"""Killed at any moment, a campaign resumes and writes the table of an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from paraply.mining.batch_files import manifest_name, rows_name
from paraply.mining.campaign import read_campaign, run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.plan import PLAN_FILE
from paraply.mining.store import PART, store_at
from paraply.mining.systems import systems_of
from paraply.vocabulary.errors import ParaplyError
from tests.mining.campaigns import MUTANTS, rows_of, small_plan

CHILD = """
import json, sys
from paraply.mining.campaign import run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.plan import plan_from_json
plan = plan_from_json(json.loads(sys.argv[2]))
print("ready", flush=True)
run_campaign(plan, sys.argv[1], InProcess(), resume=True)
"""

# Ends the process inside the write of a file, at one step of it. Files are written in the order
# plan, rows, manifest, rows, manifest, ...; each is synced, and its folder after it.
DYING = """
import os
from paraply.mining import store
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


def test_campaign_killed_at_random_moments_resumes_to_the_same_table(tmp_path, undisturbed):
    plan, expected = undisturbed
    moments = random.Random(20261121)
    killed = 0
    for _ in range(5):
        child = start(CHILD, tmp_path, plan)
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            time.sleep(moments.uniform(0.0, 0.12))
        finally:
            child.send_signal(signal.SIGKILL)
            child.communicate()
        killed += child.returncode == -signal.SIGKILL
    assert killed
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.is_complete
    assert rows_of(tmp_path, plan) == expected
    assert not list(tmp_path.rglob(f"*{PART}"))


@pytest.mark.parametrize("step", ["unsynced", "not renamed", "renamed"])
@pytest.mark.parametrize("syncs", [3, 5])
def test_process_that_dies_inside_a_write_loses_one_batch_at_most(
    tmp_path, undisturbed, step, syncs
):
    plan, expected = undisturbed
    code = CHILD.replace("plan = ", DYING + "plan = ", 1)
    child = start(code, tmp_path, plan, str(syncs), step)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 9, said
    before = len(list((tmp_path / "manifests").glob("batch-*.json")))
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.batches_kept in (before, max(0, before - 1))
    assert rows_of(tmp_path, plan) == expected


def corrupt(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda rows, manifest: corrupt(rows), "rows file is damaged"),
        (lambda rows, manifest: rows.write_bytes(rows.read_bytes()[:-7]), "bytes of"),
        (lambda rows, manifest: rows.unlink(), "rows are missing"),
        (lambda rows, manifest: manifest.unlink(), "no manifest"),
        (lambda rows, manifest: manifest.write_text('{"plan": 3'), "manifest is damaged"),
        (lambda rows, manifest: manifest.write_text("[]"), "manifest is damaged"),
        (
            lambda rows, manifest: manifest.write_text(
                manifest.read_text().replace('"plan": "', '"plan": "0')
            ),
            "another campaign",
        ),
    ],
)
def test_damaged_batch_is_redone_and_said(tmp_path, undisturbed, damage, said):
    plan, expected = undisturbed
    run_campaign(plan, str(tmp_path), InProcess())
    damage(tmp_path / rows_name(3), tmp_path / manifest_name(3))
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert len(progress.remarks) == 1
    assert "batch 3 was redone" in progress.remarks[0]
    assert said in progress.remarks[0]
    assert progress.batches_kept == plan.batches - 1
    assert rows_of(tmp_path, plan) == expected


def test_campaign_that_is_complete_runs_nothing_again(tmp_path, undisturbed):
    plan, _ = undisturbed
    run_campaign(plan, str(tmp_path), InProcess())
    times = {path: os.stat(path).st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    progress = run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert progress.batches_kept == plan.batches
    assert not progress.remarks
    assert times == {path: os.stat(path).st_mtime_ns for path in times}


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
    store_at(str(tmp_path)).write(PLAN_FILE, b'{"format": 1}')
    with pytest.raises(ParaplyError, match="P728"):
        run_campaign(plan, str(tmp_path), InProcess(), resume=True)


def test_batch_whose_rows_are_gone_is_said_by_the_report_and_made_again(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, str(tmp_path), InProcess())
    (tmp_path / rows_name(1)).unlink()
    read = read_campaign(str(tmp_path))
    assert not read.is_complete
    assert read.remarks == [
        f"the rows of 1 batch are gone (first: 1): paraply mine --resume --out {tmp_path} makes "
        "them again"
    ]
    run_campaign(plan, str(tmp_path), InProcess(), resume=True)
    assert read_campaign(str(tmp_path)).is_complete
