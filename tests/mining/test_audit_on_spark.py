"""Parts judged by Spark's workers are those judged in this process."""

from __future__ import annotations

from dataclasses import fields

import pytest

from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.engines import OnSpark
from paraply.vocabulary.verdict import Verdict
from tests.builders.hot_logs import hot_log
from tests.builders.log_forger import ForgedLog


@pytest.mark.long
def test_spark_judges_parts_as_this_process_does_without_a_context(tmp_path, spark, without_rdd):
    sound = hot_log(tmp_path / "sound.000001", size_bytes=150_000, seed=5, block_transactions=40)
    log = ForgedLog.read(sound)
    log.set_timestamp(len(log) - 1, last_committed=1)
    path = log.save(tmp_path / "forged.000001")
    request = AuditRequest(files=(str(path),), engine="readable")
    sizes = PartSizes(block_bytes=20_000, part_blocks=2, approach_blocks=1)
    here = audit_in_parts(request, sizes=sizes)
    there = audit_in_parts(request, OnSpark("local[2]", spark).map, sizes=sizes)
    assert here.parts > 2
    assert here.result.verdict is Verdict.VIOLATED
    for each in fields(here.result):
        assert getattr(here.result, each.name) == getattr(there.result, each.name)
    assert there.judged_again == here.judged_again
    assert there.rounds == here.rounds > 0
