"""The source's metadata is judged as by ``paraply audit``, however often a watch is killed."""

from __future__ import annotations

import json
import random
import shlex
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.cli import main
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK
from paraply.reporting.verify.watch import watch_metrics, watch_summary
from paraply.verifying.watch.findings import Finding
from paraply.verifying.watch.source import SourceState, SourceWatch
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.builders.log_forger import ForgedLog
from tests.verifying.watch.sent_logs import SentLog

BINLOGS = Path(__file__).resolve().parents[2] / "fixtures" / "binlogs"
# A server sends an encrypted log decrypted.
LOADS = sorted(path for path in BINLOGS.glob("*/*") if path.is_dir() and path.name != "encrypted")


def files_of(folder: Path) -> list[Path]:
    return sorted(each for each in folder.glob("bin.0*") if each.suffix[1:].isdecimal())


def forged(path: Path, is_mariadb: bool, seed: int, to: Path) -> Path:
    """Draw other metadata: groups of any length, or any earlier last_committed."""
    log, draw = ForgedLog.read(path), random.Random(seed)
    for ordinal in range(1, len(log) + 1):
        if is_mariadb:
            log.set_commit_id(ordinal, draw.choice((None, ordinal // 3 + 1, ordinal // 5 + 1)))
        else:
            log.set_timestamp(
                ordinal,
                last_committed=max(0, ordinal - draw.randint(1, 6)),
                sequence_number=ordinal,
            )
    return log.save(to)


class Run:
    """A source that is watched, and what it finds."""

    def __init__(self, log: SentLog, slices: Path | None = None) -> None:
        self.log, self.slices = log, slices
        self.found: list[Finding] = []
        self.state: dict | None = None

    def watch(self, steps: int = 1 << 30) -> SourceWatch:
        """Judge up to ``steps`` transactions, and save the state."""
        watch = SourceWatch(
            self.log,
            on_finding=self.found.append,
            state=None if self.state is None else SourceState.of_json(self.state),
            slices=self.slices,
            changed=threading.Condition(),
        )
        idle = threading.Event()
        waited = 0
        try:
            while steps and waited < 300 and not self.is_done(watch):
                if watch.step():
                    steps -= 1
                else:
                    waited += 1
                    idle.wait(0.01)
        finally:
            watch.end()
        self.state = json.loads(json.dumps(watch.state().as_json()))
        return watch

    def is_done(self, watch: SourceWatch) -> bool:
        return all(name in watch._after for name in self.log.gtids) or "log" in watch.doubts()


def pairs(found: list[Finding]) -> Counter[tuple]:
    return Counter((f.other, f.gtid, *f.tables) for f in found if f.kind == "unsafe")


def agrees_with_audit(run: Run, watch: SourceWatch, files: list[Path], *, is_mariadb: bool) -> None:
    rule = COMMIT_GROUP if is_mariadb else LOGICAL_CLOCK
    result = audit(AuditRequest(files=tuple(map(str, files)), engine="readable", appliers=(rule,)))
    unsafe = [each for each in result.violations if each.certain]
    assert pairs(run.found) == Counter((v.earlier.gtid, v.later.gtid, v.table) for v in unsafe)
    counts = watch.snapshot().counts
    assert counts.transactions == result.transactions
    assert counts.unsafe == len(unsafe)
    assert counts.pairs_allowed == result.pairs_allowed_to_overlap
    assert counts.conflicts_ordered == result.conflicting_pairs_ordered
    malformed = [each for each in result.lint if each.severity == "violation"]
    assert counts.malformed == len(malformed) == sum(f.kind == "malformed" for f in run.found)
    assert [f.number for f in run.found] == [*range(1, len(run.found) + 1)]


def sent(files: list[Path], folder: Path, **options) -> SentLog:
    return SentLog(*files, name="db1", is_mariadb="mariadb" in str(folder), **options)


@pytest.mark.long(quick=15)
@pytest.mark.parametrize("folder", LOADS, ids=lambda f: f"{f.parent.name}/{f.name}")
def test_recorded_source_is_judged_as_by_an_audit(folder):
    files = files_of(folder)
    run = Run(sent(files, folder))
    if not run.log.gtids:
        pytest.skip("without GTIDs: a watch cannot follow it")
    watch = run.watch()
    if "log" not in watch.doubts():
        agrees_with_audit(run, watch, files, is_mariadb="mariadb" in folder.parent.name)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("flavour", ["mariadb-10.11.19", "mysql-9.7.4"])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_metadata_is_judged_as_by_an_audit_though_the_watch_is_killed(
    flavour, seed, tmp_path, monkeypatch
):
    monkeypatch.setattr("paraply.verifying.watch.reading._RETRY_S", (0.001,))
    is_mariadb = flavour.startswith("mariadb")
    files = [
        forged(path, is_mariadb, seed + 17 * at, tmp_path / path.name)
        for at, path in enumerate(files_of(BINLOGS / flavour / "rotation"))
    ]
    tables = None if seed % 2 else {}
    whole = Run(sent(files, tmp_path / flavour, tables=tables))
    watch = whole.watch()
    agrees_with_audit(whole, watch, files, is_mariadb=is_mariadb)
    chance = random.Random(seed)
    breaks = (None, 40, 150)
    parts = Run(
        sent(files, tmp_path / flavour, tables=tables, breaks_after=lambda: chance.choice(breaks))
    )
    again, kills = parts.watch(chance.randint(1, 30)), 1
    while not parts.is_done(again):
        state, findings = parts.state, len(parts.found)
        # It begins anew with the file, so that each try has to go further.
        again, kills = parts.watch(chance.randint(1, 30) * kills), kills + 1
        if chance.random() < 0.3 and not parts.is_done(again):
            # Killed before the state was saved: the file of findings is cut to what the last has.
            del parts.found[findings:]
            parts.state = state
    assert kills > 2
    assert parts.found == whole.found
    counts, cut = watch.snapshot().counts, again.snapshot().counts
    # Rows that an earlier file changed are forgotten by a restart.
    assert 0 < cut.conflicts_ordered <= counts.conflicts_ordered
    assert replace(cut, conflicts_ordered=counts.conflicts_ordered) == counts


def test_some_drawn_metadata_is_unsafe(tmp_path):
    """What the tests above compare is not empty."""
    found = []
    for flavour in ("mariadb-10.11.19", "mysql-9.7.4"):
        is_mariadb = flavour.startswith("mariadb")
        (path, *_) = files_of(BINLOGS / flavour / "load-full-metadata")
        run = Run(sent([forged(path, is_mariadb, 1, tmp_path / flavour)], tmp_path / flavour))
        watch = run.watch()
        assert watch.snapshot().verdict is Verdict.VIOLATED
        assert watch.snapshot().counts.conflicts_ordered
        found += run.found
    assert len(found) > 5


def test_finding_is_shown_again_with_the_definitions_of_the_server(tmp_path, capsys):
    flavour = "mysql-9.7.4"
    (path, *_) = files_of(BINLOGS / flavour / "load-minimal-metadata")
    log = forged(path, False, 3, tmp_path / "bin.000001")
    tables = {"shop.unused": "CREATE TABLE `shop`.`unused` (id int PRIMARY KEY)"}
    run = Run(sent([log], tmp_path, tables=tables), tmp_path / "slices")
    watch = run.watch()
    assert "definitions" not in watch.doubts()
    shown = [each for each in run.found if each.replay]
    assert shown
    for each in shown[:5]:
        _, *words = shlex.split(each.replay)
        assert "--schema" in words
        assert main(words) == Verdict.VIOLATED.exit_code
        out = capsys.readouterr().out
        assert each.gtid in out
        assert each.other in out


def test_unreadable_definitions_are_a_doubt_and_no_silence(tmp_path):
    (path, *_) = files_of(BINLOGS / "mysql-9.7.4" / "load-full-metadata")
    run = Run(sent([path], path))
    snapshot = run.watch().snapshot()
    assert "--no-audit" in snapshot.doubts["definitions"]
    assert snapshot.verdict is Verdict.UNKNOWN
    run = Run(sent([path], path, tables={}))
    assert "sees no table" in run.watch().snapshot().doubts["definitions"]


def test_views_show_the_source(tmp_path):
    (path, *_) = files_of(BINLOGS / "mysql-9.7.4" / "load-full-metadata")
    run = Run(sent([forged(path, False, 1, tmp_path / "bin.000001")], path))
    snapshot = run.watch().snapshot()
    summary = watch_summary([], {}, Verdict.VIOLATED, snapshot)
    assert "metadata of db1: violated" in summary
    assert f"unsafe       {snapshot.counts.unsafe:,}" in summary
    metrics = watch_metrics([], snapshot)
    assert 'paraply_watch_source_verdict{source="db1"} 1' in metrics
    unsafe = f'state="unsafe"}} {snapshot.counts.unsafe:g}'
    assert unsafe in metrics


def test_log_of_another_server_goes_on_where_the_old_one_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("paraply.verifying.watch.reading._RETRY_S", (0.001,))
    (path, *_) = files_of(BINLOGS / "mysql-9.7.4" / "load-full-metadata")
    chance = random.Random(5)
    log = sent(
        [forged(path, False, 2, tmp_path / "bin.000001")],
        path,
        breaks_after=lambda: chance.choice((60, 200)),
    )
    run = Run(log)
    watch = SourceWatch(
        log,
        on_finding=run.found.append,
        state=None,
        slices=None,
        changed=threading.Condition(),
    )
    idle = threading.Event()
    seen = 0
    try:
        while not run.is_done(watch):
            if watch.step():
                seen += 1
                log._identity = f"server {seen // 40}"
            else:
                idle.wait(0.002)
    finally:
        watch.end()
    assert watch.snapshot().counts.transactions == len(log.gtids) == seen
    uncut = Run(sent([tmp_path / "bin.000001"], path))
    uncut.watch()
    # A pair on both sides of a change of the server is not judged; all others are.
    assert pairs(run.found) <= pairs(uncut.found)
    assert len(run.found) > len(uncut.found) / 2


def test_purged_log_is_a_doubt(tmp_path, monkeypatch):
    (path, *_) = files_of(BINLOGS / "mysql-9.7.4" / "load-full-metadata")
    log = sent([path], path)

    def purged(after):
        from paraply.adapters.servers.errors import LOG_PURGED

        raise ParaplyError(LOG_PURGED, where="db1", reason="purged")
        yield

    monkeypatch.setattr(log, "events", purged)
    snapshot = Run(log).watch().snapshot()
    assert "log" in snapshot.doubts
    assert snapshot.verdict is Verdict.UNKNOWN
