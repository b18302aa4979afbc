"""Why no property catches the surviving mutants of the reference, found by reading the code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

IDLE_START = "a replica starts once more although nothing is left to apply"
FIRST_NUMBER = "numbers begin at another one and keep their order"

REASONS: Mapping[str, str] = {
    "applier.replica:Replica.victim_of": "open: without commit order another worker of a circle "
    "rolls back, and no property names which",
    "applier.sleeping:SleepingReplica.must_wait_for_mark": "a coordinator that does not sleep asks "
    "at each step, and dispatches in the same order",
    "applier.source_log:Source.on_receiver_stopped": "the transaction arrives whole twice, as one "
    "before a stop may, and is applied once",
    "certification.certifier:Certifier.is_barrier": "a needless barrier: slower, and not wrong",
    "certification.certifier:Certifier.on_stable_set": "a collection for an unchanged stable set "
    "purges nothing, and is left out",
    "certification.lc_sn:ParallelizationIndexes.__init__": FIRST_NUMBER,
    "certification.retries:_Channel.happenings": "every run is empty, and an empty history breaks "
    "nothing",
    "certification.trackers:CommitOrderTracker.__init__": FIRST_NUMBER,
    "certification.write_set_items:ItemComposer.write_set": "no transaction has items, as in "
    "histories that do not record them, and properties of items do not apply",
    "composed.group:ComposedGroup.deliver": "refused transactions are acknowledged, too, and no "
    "client waits for them",
    "composed.member:ComposedMember.commit_session": "the answer comes in a step of its own, as "
    "with AFTER_COMMIT",
    "mariadb.driver:Driver.__init__": "the replica begins with a stop, as by STOP SLAVE",
    "mariadb_gtid.position_store:RelayLogInfo.load": IDLE_START,
    "mariadb_gtid.replica:PositionReplica.progress_steps": IDLE_START,
    "semi_sync.waiting:Waiting.begin_wait": "with AFTER_COMMIT a wait is given up one stage early",
    "source_subject:SourceRun.steps": "a log is rotated before its first transaction",
    "wl4648.merging:merged_job": "open: a merged job goes by its last transaction",
    "wl4648.parts:TableReplica.coordinator_steps": "queues hold more parts than their limit, which "
    "bounds memory and no order",
    "wl4648.recovery:WatermarkAsWritten.counter": "`watermark=as_written` is known to save wrong "
    "positions, so no breach was unexpected",
}
"""By the start of the name, without the package of the reference."""


def reason_of(one: Mapping[str, Any]) -> str:
    """Return the reason for a survivor.

    Raises:
        LookupError: no reason is stored.
    """
    name = start_of(one)
    found = next((text for start, text in REASONS.items() if name.startswith(start)), None)
    if found is None:
        raise LookupError(f"{name} has no reason in {__name__}")
    return found


def start_of(one: Mapping[str, Any]) -> str:
    """Return the name that a key must begin: without the package of the reference."""
    return str(one["name"]).removeprefix("paraply.reference_impl.")
