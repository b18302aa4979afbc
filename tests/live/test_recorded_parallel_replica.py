"""New runs of a MariaDB replica are runs of the models of batches and of the lock queue."""

from __future__ import annotations

import pytest

from paraply.adapters.live.pair.mariadb.recording import REPLICA, record_replica
from paraply.adapters.servers import find_mariadb
from paraply.models.recorded import queued, touched
from tests.conformance import test_recorded_lock_queue as queues
from tests.conformance.test_recorded_parallel_replica import PART, refusal
from tests.live.runs import installed

pytestmark = [pytest.mark.live, pytest.mark.long(each=1, by_row=True)]


@pytest.mark.parametrize("workload", ["rows", "scans"])
def test_conservative_replica_follows_the_model_of_batches(workload):
    installed(find_mariadb)
    history = record_replica(mode="conservative", workload=workload, seed=91)
    found = [refusal(part) for part in touched.parts(history, REPLICA, PART)]
    steps = sum(steps for _, steps in found)
    print(f"live: {history.header.subject} {workload}: {steps} steps in {len(found)} parts")
    assert [why for why, _ in found if why] == []
    assert steps >= 250


@pytest.mark.parametrize(("mode", "starts_after"), [("conservative", "batches"),
                                                    ("optimistic", "nothing")])  # fmt: skip
def test_replica_follows_the_model_of_the_lock_queue(mode, starts_after):
    installed(find_mariadb)
    history = record_replica(mode=mode, workload="hot", seed=92)
    why, steps = queues.refusal(
        queued.beginning(history, REPLICA, queues.SIZE), starts_after
    )  # fmt: skip
    print(f"live: {history.header.subject} {mode}: {steps} steps")
    assert why == ""
    assert steps >= 100
