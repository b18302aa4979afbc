"""Indexes and codes of the kernels' arrays."""

from __future__ import annotations

from paraply.vocabulary.events import EventKind, Outcome

TRANSACTIONS_MAX = 32
ROWS_MAX = 6
WORKERS_MAX = 8
CHOICES_MAX = 2048
EVENTS_MAX = 2048
OPTIONS_MAX = 1 << ROWS_MAX
ENTRIES_MAX = TRANSACTIONS_MAX + 16
NONE = -1

# Settings of a run.
(
    P_TRANSACTIONS, P_ROWS, P_WORKERS, P_ORDERED, P_BARRIERS, P_ROTATIONS, P_COLLECTIONS,
    P_SESSIONS, P_READS, P_COLLECTION_RULE, P_BARRIER_RULE, P_MARKS_FIRST, P_FAULT,
    P_JUDGED, P_SIZE,
) = range(15)  # fmt: skip

# Choices: asked, given (NONE: all random), generator state, and whether given ones are fractions
# of 2^53.
D_ASKED, D_GIVEN, D_FIRST, D_SECOND, D_FRACTIONS, D_SIZE = range(6)
FRACTION_BITS = 53

# A choice: option taken, and number of options; negative if all but the last are alike.
G_TAKEN, G_OPTIONS, G_SIZE = range(3)

# A transaction; L_ITEMS packs changed rows, three bits each.
L_KIND, L_COUNT, L_ITEMS, L_LC, L_SN, L_CLOCK, L_SESSION, L_SIZE = range(8)
KIND_ROWS, KIND_NO_WRITE_SET, KIND_CTAS = range(3)

# A worker.
W_STAGE, W_JOB, W_ATTEMPT, W_ROW, W_WAITS, W_SIZE = range(6)
IDLE, ASSIGNED, APPLYING, FINISHED, RETRYING = range(5)

# The coordinator and the rest of the replica.
(
    R_NEXT,
    R_LAST_SN,
    R_JOBS,
    R_GIVEN,
    R_TURN,
    R_READS,
    R_EXECUTED,
    R_FAILED,
    R_EVENTS,
    R_NOW,
    R_SIZE,
) = range(11)

# A job in the coordinator's queue.
J_TRANSACTION, J_SN, J_DONE, J_SIZE = range(4)

# An event; E_OTHER of READ packs observed writers, six bits per row.
E_TIME, E_KIND, E_WORKER, E_TRANSACTION, E_ATTEMPT, E_OUTCOME, E_OTHER, E_ROW, E_SIZE = range(9)
SEEN_BITS = 6

EVENT_CODES = {
    kind: code
    for code, kind in enumerate(
        (
            EventKind.STARTED, EventKind.SCHEDULED, EventKind.BEGUN, EventKind.ROW_APPLIED,
            EventKind.ROLLED_BACK, EventKind.RETRIED, EventKind.ENGINE_COMMITTED, EventKind.READ,
            EventKind.RELAY_ROTATED, EventKind.STOPPED, EventKind.FAILED,
        )
    )
}  # fmt: skip
(
    STARTED, SCHEDULED, BEGUN, ROW_APPLIED, ROLLED_BACK, RETRIED, ENGINE_COMMITTED, READ,
    RELAY_ROTATED, STOPPED, FAILED,
) = range(11)  # fmt: skip

OUTCOME_CODES = {
    None: 0,
    Outcome.OK: 1,
    Outcome.LOCK_WAIT: 2,
    Outcome.MISSING_BEFORE_IMAGE: 3,
    Outcome.DUPLICATE_KEY: 4,
}
OK, LOCK_WAIT, MISSING_BEFORE_IMAGE, DUPLICATE_KEY = range(1, 5)

JUDGED = (
    "no_conflicting_parallel_apply",
    "starts_respect_last_committed",
    "rows_apply_as_logged",
    "engine_commits_follow_the_log",
    "applier_reaches_the_end",
    "final_state_is_the_sources",
)
"""Judged properties, by verdict bit."""

FAULTS = (
    "",
    "last_committed_off_by_one",
    "low_water_mark_is_highest_done",
    "last_committed_is_one_parent",
    "gap_is_waited_for",
)
"""Supported mutants; "" is none."""
NO_FAULT, OFF_BY_ONE, HIGHEST_DONE, ONE_PARENT, IGNORES_GAPS = range(5)

OVERFLOWN = -1
"""Verdict of a run that outgrew an array: unknown."""
