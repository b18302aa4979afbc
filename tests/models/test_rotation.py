"""Where a source with chained mutexes stalls: the model and the executable reference agree.

Rotation that waits (MySQL bug 44058) is one reason; a dump thread that needs LOCK_log is enough.
"""

from __future__ import annotations

import pytest

from paraply.models.judging.bounded import breach_of
from paraply.models.judging.proving import reach, safety_statement
from paraply.models.language.concrete import Scope
from paraply.models.systems.rotation import Rules, rotation
from paraply.properties.search import random_schedules
from paraply.properties.semi_sync.promises import commits_reach_their_end
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.reference_impl.subject import Workload

CALM = {
    "source_crashes": 0, "replica_crashes": 0, "loses_source": False, "abandons": 0, "reads": 0,
}  # fmt: skip


def stalls_in_the_model(**switches):
    system = rotation(Rules(**switches))
    stuck = breach_of(safety_statement(system, "somebody_can_move"))
    return reach(system, stuck, Scope(low=-1, high=2, size=1), 5) is not None


def stalls_of_the_reference(*, waits_for_xids, dump_needs_lock_log):
    workload = Workload(transactions=3, rows=3, dialect="after_sync", options={
        **CALM, "rotation_waits": waits_for_xids, "dump_takes_lock_log": dump_needs_lock_log,
        "rotations": int(waits_for_xids),
    })  # fmt: skip
    schedules = random_schedules(0, 60)
    return sum(bool(commits_reach_their_end(SEMI_SYNC.run(one, workload))) for one in schedules)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("dump_needs_lock_log", [False, True])
@pytest.mark.parametrize("waits_for_xids", [False, True])
def test_source_stalls_exactly_where_the_dump_thread_needs_lock_log(
    waits_for_xids, dump_needs_lock_log
):
    switches = {"waits_for_xids": waits_for_xids, "dump_needs_lock_log": dump_needs_lock_log}
    assert stalls_in_the_model(**switches) is dump_needs_lock_log
    assert (stalls_of_the_reference(**switches) > 0) is dump_needs_lock_log
