"""The parallelism profile in parts: that of one auditor, or of the parts one after the other."""

from __future__ import annotations

import shutil

import pytest

from paraply.adapters.binlog.transactions import read_transactions
from paraply.auditing.at_scale import PartSizes
from tests.auditing.in_parts.auditing import audit_both

BY_FILE = PartSizes(block_bytes=1 << 30, part_blocks=1, approach_blocks=0)
CUT = PartSizes(block_bytes=60_000, part_blocks=1, approach_blocks=1)
ENGINES = ("readable", "compiled")


def profile(result):
    return result.width_over_time, result.blockers, result.critical_path


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_one_part_has_the_profile_of_one_auditor(logs, dialect, engine):
    whole, scaled = audit_both(logs[dialect], engine=engine, sizes=BY_FILE)
    assert scaled.parts == 1
    assert profile(scaled.result) == profile(whole)
    assert whole.critical_path
    assert len(whole.width_over_time) > 10


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_workers_drain_between_files_so_width_is_that_of_one_auditor(logs, tmp_path, engine):
    again = shutil.copy(logs["mysql"], tmp_path / "mysql.000002")
    whole, scaled = audit_both(logs["mysql"], again, engine=engine, sizes=BY_FILE)
    assert scaled.parts == 2
    assert scaled.result.width_over_time == whole.width_over_time


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
def test_engines_tell_one_profile_of_parts_and_name_the_logs_own_transactions(logs, dialect):
    readable, compiled = (
        audit_both(logs[dialect], engine=engine, sizes=CUT)[1] for engine in ENGINES
    )
    assert compiled.parts > 3
    assert profile(readable.result) == profile(compiled.result)
    names = [one.gtid for one in read_transactions([str(logs[dialect])])]
    path = compiled.result.critical_path
    ordinals = [link.transaction.ordinal for link in path]
    assert [link.transaction.gtid for link in path] == [names[one - 1] for one in ordinals]
    assert ordinals == sorted(set(ordinals))
    assert all(link.waits_for < link.transaction.ordinal for link in path)
    assert compiled.result.blockers
