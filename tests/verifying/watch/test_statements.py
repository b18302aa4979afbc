"""Statements on tables (TRUNCATE, ALTER) that only one server logs."""

from __future__ import annotations

import pytest

from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch
from paraply.vocabulary.verdict import Verdict
from tests.verifying.small_logs import Txn
from tests.verifying.test_statements_and_values import EMPTY, GAP, SOURCE, log
from tests.verifying.watch.runs import judged, request_of, run_until
from tests.verifying.watch.sent_logs import SentLog

OTHERS = [Txn({("basket", number): (number, "ann", 7)}) for number in range(91, 99)]


def watched(tmp_path, monkeypatch, *logs, filtered=frozenset()):
    monkeypatch.setattr("paraply.verifying.watch.pair._ASK_AFTER_S", 0.01)
    streams = []
    for name, steps in zip(("source", "replica"), logs, strict=True):
        log(tmp_path / name, *steps)
        streams.append(SentLog(tmp_path / name, name=name))
    options = PairOptions(patience=3, filtered=filtered)
    watch = Watch(request_of(*streams, tmp_path, options=options))
    run_until(watch, judged(streams[1]))
    return watch.verdict, watch.pairs[0].unknown_because()


@pytest.mark.parametrize(
    "statement", ["TRUNCATE account", "ALTER TABLE shop.account ADD COLUMN b INT"]
)
@pytest.mark.parametrize("lacks", ["source", "target"])
@pytest.mark.parametrize("instead", [GAP, EMPTY])
def test_statement_that_only_one_log_has_is_a_doubt(
    tmp_path, monkeypatch, statement, lacks, instead
):
    logs = [[*SOURCE, one, *OTHERS] for one in (statement, instead)]
    source, target = logs if lacks == "target" else reversed(logs)
    verdict, reasons = watched(tmp_path, monkeypatch, source, target)
    assert verdict is Verdict.UNKNOWN
    assert any("its statement on a table" in one for one in reasons)


@pytest.mark.parametrize("statement", ["TRUNCATE other", "ALTER TABLE account ADD INDEX (balance)"])
def test_statement_that_changes_no_judged_row_is_no_doubt(tmp_path, monkeypatch, statement):
    source = [*SOURCE, statement, *OTHERS]
    target = [*SOURCE, GAP, *OTHERS]
    assert watched(tmp_path, monkeypatch, source, target) == (Verdict.HOLDS, [])


def test_statement_that_both_logs_have_is_no_doubt(tmp_path, monkeypatch):
    both = [*SOURCE, "TRUNCATE account", *OTHERS]
    assert watched(tmp_path, monkeypatch, both, both) == (Verdict.HOLDS, [])
