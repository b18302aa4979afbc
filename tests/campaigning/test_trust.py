"""Campaign folders of strangers: no program runs and no file is touched that only they name."""

from __future__ import annotations

import gzip
import json

import pytest

from paraply.cli import main
from paraply.mining import campaign
from paraply.mining.campaign import read_campaign, run_campaign
from paraply.mining.commits import STATES
from paraply.mining.engines import InProcess
from paraply.mining.plan import PLAN_FILE
from paraply.mining.row_files import ROWS
from paraply.mining.store import DiskStore
from paraply.vocabulary.errors import ParaplyError
from tests.mining.campaigns import small_plan

CLOCK = "paraply.adapters.conformance.rules.correct:LogicalClock"
RULE = """\
from pathlib import Path

from paraply.adapters.conformance.rules.correct import LogicalClock

Path({trace!r}).touch()


class Mine(LogicalClock):
    pass
"""


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return words that resume a campaign whose plan names a program, and the program's trace."""
    monkeypatch.chdir(tmp_path)
    trace = tmp_path / "it-ran"
    (tmp_path / "rule.py").write_text(RULE.format(trace=str(trace)))
    words = ["mine", "--applier", CLOCK, "--case", "B-prefix-01", "--histories", "4", "--batch",
             "2", "--time-limit", "0.000001", "--out", "out"]  # fmt: skip
    assert main([*words, "--no-times"]) == 2
    text = (tmp_path / "out" / PLAN_FILE).read_text()
    assert CLOCK in text
    (tmp_path / "out" / PLAN_FILE).write_text(text.replace(CLOCK, "rule.py:Mine"))
    return ["mine", "--resume", "--out", "out"], trace


@pytest.mark.long
def test_stored_program_runs_only_with_trust(stored, capsys):
    words, trace = stored
    assert main(words) == 3
    said = capsys.readouterr().err
    assert "P325" in said
    assert "--applier rule.py:Mine" in said
    assert "--trust" in said
    assert not trace.exists()
    for reading in (["mine", "--report", "out"], ["show", "out", "--out", "pages"]):
        main(reading)
        assert not trace.exists()
    main([*words, "--trust"])
    assert "the stored campaign runs: --applier rule.py:Mine" in capsys.readouterr().err
    assert trace.exists()


@pytest.mark.long
def test_program_that_is_named_again_needs_no_trust(tmp_path, capsys):
    words = ["mine", "--applier", CLOCK, "--case", "B-prefix-01", "--histories", "2", "--no-times"]
    words += ["--out", str(tmp_path)]
    assert main(words) in (0, 2)
    assert main([*words, "--resume"]) in (0, 2)
    assert main(["mine", "--resume", "--out", str(tmp_path)]) == 3


def test_campaign_of_own_systems_needs_no_trust(tmp_path):
    words = ["mine", "--subjects=applier:logical_clock", "--histories=4", "--master=none"]
    assert main([*words, "--out", str(tmp_path)]) in (0, 2)
    assert main(["mine", "--resume", "--out", str(tmp_path)]) in (0, 2)


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Return a campaign that goes on, and a foreign file beside its folder."""
    monkeypatch.setattr(campaign, "COMMIT_S", 0.0)
    plan, folder = small_plan(histories=60, batch=20), tmp_path / "campaign"
    run_campaign(plan, str(folder), InProcess(), time_limit_s=0.0)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    return plan, folder, victim


def _edit_log(folder, before, after):
    edited = 0
    for file in (folder / ROWS / "_delta_log").glob("*.json"):
        text = file.read_text()
        edited += text.count(before)
        file.write_text(text.replace(before, after))
    assert edited


def test_state_that_leads_out_of_the_folder_is_refused(begun):
    plan, folder, victim = begun
    (state,) = (folder / STATES).iterdir()
    _edit_log(folder, f"{STATES}/{state.name}", "../victim")
    for _ in range(2):
        with pytest.raises(ParaplyError, match=r"P721.*leaves it"):
            run_campaign(plan, str(folder), InProcess(), resume=True)
    assert victim.read_text() == "precious"


def test_rows_that_lead_out_of_the_folder_are_refused(begun):
    plan, folder, victim = begun
    name = next((folder / ROWS).glob("*.parquet")).name
    _edit_log(folder, name, "../../victim")
    with pytest.raises(ParaplyError, match="P7"):
        run_campaign(plan, str(folder), InProcess(), resume=True)
    assert victim.read_text() == "precious"


@pytest.mark.long
def test_state_with_edited_counts_is_not_read(begun):
    plan, folder, _ = begun
    (file,) = (folder / STATES).iterdir()
    state = json.loads(gzip.decompress(file.read_bytes()))
    state["made"] = [plan.rounds] * len(plan.systems)
    for counts in state["counts"]:
        counts["violated"] = {}
    file.write_bytes(gzip.compress(json.dumps(state).encode()))
    read = read_campaign(str(folder))
    assert not read.is_complete
    assert "the state" in read.remarks[0]
    assert run_campaign(plan, str(folder), InProcess(), resume=True).batches_kept == 0


@pytest.mark.long
def test_stray_files_are_neither_read_nor_counted(begun):
    plan, folder, _ = begun
    before = read_campaign(str(folder)).histories
    first = next((folder / ROWS).glob("*.parquet"))
    (folder / ROWS / f"{'0' * 32}.parquet").write_bytes(first.read_bytes())
    (folder / ROWS / "batch-7.parquet").write_bytes(b"PAR1 and no more")
    (folder / STATES / "stray.json.gz").write_bytes(b"\x1f\x8b")
    assert read_campaign(str(folder)).histories == before
    whole = run_campaign(plan, str(folder), InProcess(), resume=True)
    assert whole.is_complete
    assert whole.histories == plan.histories * len(plan.systems)


@pytest.mark.parametrize("name", ["../victim", "/tmp/victim", "rows/../../victim", "a\0b", "", "."])
def test_name_that_leaves_a_store_is_refused(name, tmp_path):
    store = DiskStore(str(tmp_path / "store"))
    store.write("rows/a", b"1")
    for use in (store.read, store.delete, lambda name: store.write(name, b"2")):
        with pytest.raises(ParaplyError, match="P721"):
            use(name)


def test_link_that_leaves_a_store_is_refused(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "victim").write_text("precious")
    store = DiskStore(str(tmp_path / "store"))
    store.write("a", b"1")
    (tmp_path / "store" / "rows").symlink_to(tmp_path / "home")
    for use in (store.names, store.ages):
        with pytest.raises(ParaplyError, match="P721"):
            use("rows")
    with pytest.raises(ParaplyError, match="P721"):
        store.delete("rows/victim")
    assert (tmp_path / "home" / "victim").read_text() == "precious"
