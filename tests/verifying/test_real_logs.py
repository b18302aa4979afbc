"""Recorded logs of servers: against themselves, against their replicas, and against forged ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from paraply.adapters.binlog.transactions import read_transactions
from paraply.properties.two_logs.judgement import End, Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.builders.log_forger import ForgedLog

BINLOGS = Path(__file__).resolve().parents[1] / "fixtures" / "binlogs"
RECORDED = sorted(path.parent for path in BINLOGS.glob("*/*/bin.000001"))
REPLICAS = sorted(path.parent for path in BINLOGS.glob("*/*/replica-bin.000001"))


def verified(source: list[str], target: list[str], **options) -> VerifyResult:
    return verify(VerifyRequest(source=tuple(source), target=tuple(target), **options))


def verified_or_none(files: list[str], **options) -> VerifyResult | None:
    """The result of a log against itself; None for a log without readable rows."""
    try:
        return verified(files, files, **options)
    except ParaplyError as nothing:
        if nothing.error.code in ("P307", "P373"):
            return None
        raise


def files_of(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.glob("bin.0*"))]


@pytest.mark.long(each=3)
@pytest.mark.parametrize("folder", RECORDED, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("by_content", [False, True], ids=["by name", "by content"])
def test_log_is_never_worse_than_itself(folder, by_content):
    files = files_of(folder)
    result = verified_or_none(files, by_content=by_content)
    if result is None:
        assert folder.name in ("encrypted", "statements", "minimal"), "this log has rows"
        return
    assert result.verdict is (Verdict.UNKNOWN if result.unknown else Verdict.HOLDS)
    assert result.level in (Level.PREFIX, Level.BATCHES), result.witnesses
    assert result.end is End.EQUAL
    assert result.delivery.nothing_seen_twice
    assert not result.drifted
    if result.names is not None:
        assert result.names.is_faultless
        assert not result.names.descents


@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_recorded_replica_is_a_prefix_of_its_source(folder):
    for by_content in (False, True):
        result = verified(
            files_of(folder), [str(folder / "replica-bin.000001")],
            by_content=by_content, required="prefix",
        )  # fmt: skip
        assert result.verdict is Verdict.HOLDS, result.unknown
        assert result.states.prefixes == result.states.commits > 50


def forged_replica(folder: Path, fault: str, tmp_path: Path) -> Path:
    """The replica's log with a fault in its middle."""
    forged = ForgedLog.read(folder / "replica-bin.000001")
    starts = [*forged.starts(), len(forged.events)]
    blocks = [forged.events[a:b] for a, b in pairwise(starts)]
    # The recorded load begins after the set-up; the middle of the log is inside of it.
    at = len(blocks) // 2
    head = forged.events[: starts[0]]
    if fault == "swapped":
        blocks[at], blocks[at + 1] = blocks[at + 1], blocks[at]
    elif fault == "lost":
        del blocks[at]
    elif fault == "twice":
        blocks[at + 5 : at + 5] = blocks[at : at + 5]
    elif fault == "cut":
        del blocks[at:]
    forged.events = [*head, *(event for block in blocks for event in block)]
    return forged.save(tmp_path / "target.000001")


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("folder", REPLICAS, ids=lambda f: f"{f.parent.name}/{f.name}")
@pytest.mark.parametrize("fault", ["swapped", "lost", "twice", "cut"])
def test_forged_replica_is_detected(folder, fault, tmp_path):
    target = str(forged_replica(folder, fault, tmp_path))
    result = verified(files_of(folder), [target])
    names = result.names
    assert names is not None
    if fault == "cut":
        assert result.verdict is Verdict.HOLDS
        assert result.end is End.BEHIND
        assert names.lag > 0
        assert not names.missing
        return
    assert result.verdict is Verdict.VIOLATED
    assert (names.missing, names.twice) == {
        "swapped": (0, 0), "lost": (1, 0), "twice": (0, 5)
    }[fault]  # fmt: skip
    assert names.descents == (fault == "swapped")
    # Without the names, the rows alone show the fault, too.
    by_content = verified(files_of(folder), [target], by_content=True, required="prefix")
    assert by_content.verdict is Verdict.VIOLATED
    assert by_content.states.prefixes < by_content.states.commits or (
        by_content.states.batch_count or by_content.delivery.state_went_back
    )


def test_recorded_sessions_are_judged(tmp_path):
    """MySQL logs the thread id of each transaction; the replica's order of a session is judged."""
    folder = next(f for f in REPLICAS if "mysql" in f.parent.name)
    names: dict[int, list[str]] = {}
    for txn in read_transactions(files_of(folder)):
        if txn.rows:
            assert txn.session
            names.setdefault(txn.session, []).append(txn.gtid)
    forged = ForgedLog.read(folder / "replica-bin.000001")
    starts = [*forged.starts(), len(forged.events)]
    blocks = [forged.events[a:b] for a, b in pairwise(starts)]
    at = len(blocks) - 4
    blocks[at:] = reversed(blocks[at:])
    forged.events = [*forged.events[: starts[0]], *(e for block in blocks for e in block)]
    last = [txn.session for txn in read_transactions(files_of(folder)) if txn.rows][-4:]
    result = verified(files_of(folder), [str(forged.save(tmp_path / "target.000001"))])
    assert result.names is not None
    assert result.names.session_descents == len(last) - len(set(last))


def test_foreign_logs_are_never_worse_than_themselves(corpus):
    judged = 0
    for path in sorted(corpus.rglob("*")):
        if not path.is_file() or path.suffix in (".md", ".index") or path.name == "LICENSE":
            continue
        result = verified_or_none([str(path)])
        if result is not None:
            judged += 1
            assert result.verdict is not Verdict.VIOLATED, (path, result.witnesses)
            assert result.level >= Level.BATCHES, path
    assert judged >= 8, "the corpus has more logs with rows than that"
