"""Weakly fair runs that never finish."""

from __future__ import annotations

from paraply.models.claims.claim import Counterexample
from paraply.models.language.concrete import Scope
from paraply.models.systems.lock_queue import workloads
from paraply.models.systems.variants import variant_of_lock_queue

REFUTED_OF_PROGRESS = (
    Counterexample(
        id="C68", title="wider lock sets: three workers wait in a circle of rows and a turn",
        kind="progress",
        system=variant_of_lock_queue(name="lock_queue[wide]", calls_back="waiting_for_turn"),
        statement="the_log_is_finished", scope=Scope(low=-1, high=4, size=2), steps=8,
        workloads=workloads,
        source="MySQL 9.7; Commit_order_manager::check_and_report_deadlock, which a worker notices "
        "only at its turn",
    ),
    Counterexample(
        id="C69", title="a freed row goes to the first to ask: called back again and again",
        kind="progress",
        system=variant_of_lock_queue(name="lock_queue[rows to any]", hands_over=False),
        statement="the_log_is_finished", scope=Scope(low=-1, high=3, size=1), steps=6, loop=2,
        workloads=workloads,
        source="weak fairness of locks does not suffice; MariaDB retries until "
        "slave_transaction_retries",
    ),
)  # fmt: skip
