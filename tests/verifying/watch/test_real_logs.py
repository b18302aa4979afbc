"""A watch over recorded logs says what ``paraply verify`` says, however often it is killed."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from paraply.cli import main
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch
from paraply.vocabulary.verdict import Verdict
from tests.builders.log_forger import ForgedLog
from tests.verifying.watch.runs import findings_of, judged, request_of, run_until
from tests.verifying.watch.sent_logs import SentLog

BINLOGS = Path(__file__).resolve().parents[2] / "fixtures" / "binlogs"
REPLICAS = sorted(path.parent for path in BINLOGS.glob("*/*/replica-bin.000001"))
FAULTS = ("none", "swapped", "lost", "twice", "cut", "errant")


def forged(folder: Path, fault: str, path: Path) -> Path:
    """Write the replica's log with a fault in the middle."""
    log = ForgedLog.read(folder / "replica-bin.000001")
    starts = [*log.starts(), len(log.events)]
    blocks = [log.events[a:b] for a, b in pairwise(starts)]
    at = len(blocks) // 2
    if fault == "swapped":
        blocks[at], blocks[at + 1] = blocks[at + 1], blocks[at]
    elif fault == "lost":
        del blocks[at]
    elif fault == "twice":
        blocks[at + 5 : at + 5] = blocks[at : at + 5]
    elif fault == "cut":
        del blocks[at:]
    log.events = [*log.events[: starts[0]], *(event for block in blocks for event in block)]
    return log.save(path)


def streams(folder: Path, fault: str, tmp_path: Path, **options) -> tuple[SentLog, SentLog]:
    is_mariadb = "mariadb" in folder.parent.name
    source = folder / "bin.000001"
    if fault == "errant":
        # What the source lacks, the replica has on its own.
        log = ForgedLog.read(source)
        starts = [*log.starts(), len(log.events)]
        at = len(starts) // 2
        del log.events[starts[at] : starts[at + 1]]
        source = log.save(tmp_path / "source.000001")
    target = forged(folder, fault, tmp_path / "target.000001")
    return (
        SentLog(source, name="source", is_mariadb=is_mariadb, **options),
        SentLog(target, name="replica", is_mariadb=is_mariadb, **options),
    )


def options_of(folder: Path) -> PairOptions:
    return PairOptions(patience=None if "mariadb" in folder.parent.name else 4)


def watched(folder: Path, fault: str, tmp_path: Path) -> Watch:
    source, target = streams(folder, fault, tmp_path)
    watch = Watch(request_of(source, target, tmp_path, options=options_of(folder)))
    return run_until(watch, judged(target))


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", FAULTS)
def test_watch_agrees_with_verify(folder, fault, tmp_path):
    watch = watched(folder, fault, tmp_path)
    counts = watch.snapshots()[0].counts
    source = "source.000001" if fault == "errant" else None
    result = verify(
        VerifyRequest(
            source=(str(tmp_path / source if source else folder / "bin.000001"),),
            target=(str(tmp_path / "target.000001"),),
        )
    )
    names = result.names
    assert names is not None
    assert counts.matched == names.matched > 20
    assert (counts.missing, counts.errant, counts.twice, counts.changed) == (
        names.missing, names.errant_with_rows, names.twice, names.changed
    )  # fmt: skip
    assert (counts.descents, counts.inverted) == (names.descents, names.conflicting_inversions)
    if fault == "swapped":
        assert counts.not_prefix == names.not_prefix
    expected = Verdict.HOLDS if fault in ("none", "cut") else Verdict.VIOLATED
    assert watch.verdict is expected, watch.pairs[0].unknown_because()
    assert result.verdict is expected
    assert bool(findings_of(tmp_path)) == (expected is Verdict.VIOLATED)


def one_at_a_time(watch: Watch, count: int) -> Watch:
    """Let a watch take ``count`` transactions; its state is saved half-way.

    A kill can so fall between any two, and what is found after the half is forgotten.
    """
    step, taken = watch.pairs[0].step, 0

    def work() -> bool:
        nonlocal taken
        worked = step()
        taken += worked
        if worked and taken == count // 2:
            watch.save()
        watch.is_killed = taken >= count  # type: ignore[attr-defined]
        return worked

    watch.work = work  # type: ignore[method-assign]
    return watch


def judged_or_killed(target: SentLog) -> Callable[[Watch], bool]:
    return lambda watch: getattr(watch, "is_killed", False) or judged(target)(watch)


@pytest.mark.long
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "twice"])
def test_killed_watch_says_the_same(folder, fault, tmp_path, monkeypatch):
    monkeypatch.setattr("paraply.verifying.watch.reading._RETRY_S", (0.001,))
    monkeypatch.setattr("paraply.verifying.watch.pair._ASK_AFTER_S", 0.01)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for each in (whole, parts):
        each.mkdir()
    uninterrupted = watched(folder, fault, whole)
    chance = random.Random(7)
    source, target = streams(
        folder, fault, parts, breaks_after=lambda: chance.choice((None, 30, 90))
    )
    killed = 0
    while True:
        watch = Watch(request_of(source, target, parts, options=options_of(folder)))
        run_until(one_at_a_time(watch, chance.randint(1, 60)), judged_or_killed(target))
        killed += 1
        if judged(target)(watch):
            break
    assert killed > 1
    assert source.connections > killed
    assert findings_of(parts) == findings_of(whole)
    assert watch.verdict is uninterrupted.verdict
    assert watch.snapshots()[0].counts == uninterrupted.snapshots()[0].counts


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", ["lost", "errant"])
def test_pieces_of_both_logs_show_the_finding_again(folder, fault, tmp_path, capsys):
    source, target = streams(folder, fault, tmp_path)
    options = PairOptions(patience=options_of(folder).patience, slices=tmp_path / "slices")
    run_until(Watch(request_of(source, target, tmp_path, options=options)), judged(target))
    found = [json.loads(line) for line in findings_of(tmp_path)]
    shown = [each for each in found if each["replay"]]
    assert shown, found
    for each in shown:
        program, *words = shlex.split(each["replay"])
        assert program == "paraply"
        assert main(words) == Verdict.VIOLATED.exit_code
        assert each["gtid"] in capsys.readouterr().out


def test_state_of_other_targets_is_refused(tmp_path):
    folder = REPLICAS[0]
    source, target = streams(folder, "none", tmp_path)
    watch = Watch(request_of(source, target, tmp_path))
    watch.save()
    watch.end()
    target.name = "another"
    with pytest.raises(Exception, match="P376"):
        Watch(request_of(source, target, tmp_path))
    (tmp_path / "state.json").write_text('{"paraply": "watch-state"}')
    with pytest.raises(Exception, match="P375"):
        Watch(request_of(source, target, tmp_path))
