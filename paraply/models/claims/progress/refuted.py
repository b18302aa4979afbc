"""Weakly fair runs that never finish."""

from __future__ import annotations

from paraply.models.claims.claim import Counterexample
from paraply.models.language.concrete import Scope
from paraply.models.systems import commit_pipeline, stable_rounds
from paraply.models.systems.lock_queue import workloads
from paraply.models.systems.variants import (
    variant_of_commit_pipeline,
    variant_of_lock_queue,
    variant_of_stable_rounds,
)

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
    Counterexample(
        id="C75", title="optimistic workers, and nobody is killed for an earlier one's turn",
        kind="progress",
        system=variant_of_lock_queue(
            name="lock_queue[unreported]", starts_after="nothing", calls_back="nobody"
        ),
        statement="the_log_is_finished", scope=Scope(low=-1, high=3, size=1), steps=5,
        workloads=workloads,
        source="MDEV-5914, MDEV-31655: a wait for a row that a waiter for its turn holds",
        elsewhere="The nearest run of the reference is that of C13, whose LOGICAL_CLOCK workers "
        "stand still in the same way.",
    ),
    Counterexample(
        id="C76", title="a session keeps a row that the oldest uncommitted transaction wants",
        kind="progress",
        system=variant_of_lock_queue(name="lock_queue[sessions stay]", sessions="stay"),
        statement="the_log_is_finished", scope=Scope(low=-2, high=2, size=1), steps=3,
        workloads=workloads,
        source="an idle session with an open transaction; replicas do not kill it, "
        "group replication and Galera do",
        elsewhere="Any replica with a client's open transaction; the reference's sessions end.",
    ),
    Counterexample(
        id="C77", title="no time-out and no replica: every later commit waits",
        kind="progress",
        system=variant_of_commit_pipeline(name="commit_pipeline[stands]", times_out=False),
        statement="every_written_group_commits", scope=Scope(low=0, high=2, size=1), steps=3,
        workloads=commit_pipeline.workloads,
        source="rpl_semi_sync_source_timeout at its maximum; wait_no_replica=ON",
        elsewhere="It is what users ask for who prefer a stop to a loss (P10).",
    ),
    Counterexample(
        id="C78", title="a silent member is not expelled: nothing becomes stable",
        kind="progress",
        system=variant_of_stable_rounds(name="stable_rounds[waits]", expels=False),
        statement="everybody_executes_or_leaves", scope=Scope(low=0, high=2, size=1), steps=6,
        loop=3,
        workloads=stable_rounds.workloads,
        source="group_replication_member_expel_timeout=3600; certification info that grows",
        elsewhere="The mutant `member_reports_a_frozen_set` of the reference has a member whose "
        "reports stand still.",
    ),
)  # fmt: skip
