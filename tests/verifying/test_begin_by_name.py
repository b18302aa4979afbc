"""Replicas whose logs begin elsewhere: the header of a log names what came before it."""

from __future__ import annotations

from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.properties.two_logs.judgement import Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.previous_gtids import had_before
from paraply.vocabulary.verdict import Verdict
from tests.verifying.small_logs import Server
from tests.verifying.workloads import START, transfers

SOURCE = transfers(30, 4)
UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"


def log(path, first: int, last: int) -> str:
    """Transactions first to last, in a log whose header lists those before."""
    rows = dict(START)
    for txn in SOURCE[: first - 1]:
        rows |= txn.writes
    server = Server(rows)
    server.writer.mariadb_gtid_list([(0, 1, first - 1)] if first > 1 else [])
    for txn in SOURCE[first - 1 : last]:
        server.commit(txn, txn.name)
    return server.save(path)


def test_later_begin_of_either_log_is_known_from_its_header(tmp_path):
    whole, late = log(tmp_path / "whole", 1, 30), log(tmp_path / "late", 11, 30)
    for source, target, judged in ((whole, late, 20), (late, whole, 20)):
        result = verify(VerifyRequest(source=(source,), target=(target,)))
        assert result.verdict is Verdict.HOLDS, result.unknown
        assert result.level is Level.PREFIX
        assert result.names is not None
        assert (result.names.matched, result.names.missing, result.names.errant) == (judged, 0, 0)
        assert result.states.commits == judged


def test_header_of_either_family_lists_what_was_before():
    def report(**fields) -> LogReport:
        file = FileReport(file="bin.000001", **fields)
        file.count_event(2)
        return LogReport(files=[file])

    had = had_before(report(previous_gtids=f"{UUID}:1-5:7"))
    assert [had(f"{UUID}:{n}") for n in (1, 5, 6, 7, 8)] == [True, True, False, True, False]
    assert not had("bin.000001:4")
    had = had_before(report(gtid_list=("0-1-9", "0-2-12", "3-1-4")))
    assert [had(name) for name in ("0-1-12", "0-1-13", "3-7-4", "3-1-5", "9-1-1")] == [
        True, False, True, False, False,
    ]  # fmt: skip
    assert not had_before(report())(f"{UUID}:1")
    assert not had_before(LogReport())(f"{UUID}:1")
