"""Indexes and codes of the composed kernels' arrays, beside those of the applier's."""

from __future__ import annotations

from paraply.mining.compiled import columns as A
from paraply.vocabulary.events import EventKind, Outcome

MEMBERS_MAX = 4
TRANSACTIONS_MAX = 24
"""Sets of transactions and of GTIDs are bits of a word."""
GTIDS_MAX = 62
BROADCASTS_MAX = 16
MESSAGES_MAX = TRANSACTIONS_MAX + BROADCASTS_MAX
CHOICES_MAX = 8192
EVENTS_MAX = 8192
EVENTS_OF_A_STEP = 2 * TRANSACTIONS_MAX + 8
STEPS_OF_A_TRANSACTION = 200
"""``recorder.STEPS_MAX``."""
ACTIONS_MAX = MEMBERS_MAX * (2 * TRANSACTIONS_MAX + A.WORKERS_MAX + 8)

# Settings, after the applier's.
(
    P_MEMBERS, P_ACKNOWLEDGEMENTS, P_AFTER_COMMIT, P_ONE_ORDER, P_DELETES, P_BROADCASTS,
    P_CTAS_IS_BARRIER, P_COLLECTS_IF_GROWN, P_FAULT, P_ALTERATIONS, P_SINGLE_PRIMARY,
    P_BLOCK_SIZE, P_ROW_OF_PLACE,
) = range(A.P_SIZE, A.P_SIZE + 13)  # fmt: skip
P_SIZE = P_ROW_OF_PLACE + A.ROWS_MAX
"""P_ROW_OF_PLACE begins the rows in the order of their items."""

# What is left of the budget, and counts of the run.
(
    G_TRANSACTIONS, G_READS, G_BROADCASTS, G_ALTERATIONS, G_SENT, G_MESSAGES, G_EVENTS, G_NOW,
    G_SIZE,
) = range(9)  # fmt: skip

# A transaction.
T_KIND, T_COUNT, T_ITEMS, T_ORIGIN, T_SNAPSHOT, T_SIZE = range(6)
"""T_SNAPSHOT has the GTIDs that its origin had executed; T_ITEMS is packed as L_ITEMS."""

KIND_DDL = 3
"""Beside the applier's kinds."""

# A message of the total order; M_TRANSACTION is 0 for an executed set.
M_TRANSACTION, M_SENDER, M_EXECUTED, M_SIZE = range(4)

# A member. N_COUNT... are lengths of its lists; N_TAKEN and N_FREE are bits of GTIDs.
(
    N_NEXT, N_EXECUTED, N_COMMITTED, N_RELAY, N_SESSIONS, N_TAKEN, N_CLIENTS, N_GROUPS,
    N_STABLE, N_REPORTED, N_LC_GLOBAL, N_SN, N_MARKED, N_ENTRIES, N_QUEUE, N_FLUSHED, N_EXECUTING,
    N_UNANSWERED, N_FREE, N_IN_BLOCKS, N_SIZE,
) = range(21)  # fmt: skip

# A client's execution.
X_CLIENT, X_KIND, X_COUNT, X_ITEMS, X_DELETED, X_READ, X_SIZE = 0, 1, 2, 3, 4, 5, 5 + A.ROWS_MAX

# An item's last certified writer; a version of 0 is none.
V_VERSION, V_SN, V_SIZE = range(3)

# A worker, after the applier's.
W_WAITS_FOR, W_SIZE = A.W_SIZE, A.W_SIZE + 1

# A possible action.
S_CODE, S_MEMBER, S_SUBJECT, S_SIZE = range(4)
(
    DELIVER, COMMIT, SUBMIT, SEND, ANSWER, FLUSH, COORDINATE, WORK, BROADCAST, READ_ROWS,
) = range(10)  # fmt: skip
OPTIONAL_FROM = BROADCAST
"""Codes of optional actions."""
ONE_IN = 8
"""``run.ONE_IN``."""

# An event. E_OTHER: holder, group, conflicting row, or bits of purged rows; E_SET: bits of GTIDs,
# or writers that a reader saw; E_SEEN: bits of transactions.
(
    E_TIME, E_KIND, E_MEMBER, E_WORKER, E_TRANSACTION, E_ATTEMPT, E_OUTCOME, E_OTHER, E_ROW, E_LC,
    E_SN, E_GTID, E_SET, E_SEEN, E_SIZE,
) = range(15)  # fmt: skip
READER, AUDITOR = range(2)

# What the judge knows of a member; bits of transactions, and the last commit.
K_POSITIVE, K_STAMPED, K_DONE, K_LAST, K_FLUSHED, K_ENDED, K_SIZE = range(7)

KINDS = (
    EventKind.STARTED, EventKind.VIEW_INSTALLED, EventKind.ONLINE, EventKind.SUBMITTED,
    EventKind.DELIVERED, EventKind.CERTIFIED, EventKind.ACKNOWLEDGED,
    EventKind.EXECUTED_SET_BROADCAST, EventKind.GARBAGE_COLLECTED, EventKind.SCHEDULED,
    EventKind.BEGUN, EventKind.ROW_APPLIED, EventKind.ROLLED_BACK, EventKind.RETRIED,
    EventKind.FLUSHED, EventKind.SYNCED, EventKind.ENGINE_COMMITTED,
    EventKind.CLIENT_ACKNOWLEDGED, EventKind.READ, EventKind.STOPPED, EventKind.FAILED,
)  # fmt: skip
(
    STARTED, VIEW_INSTALLED, ONLINE, SUBMITTED, DELIVERED, CERTIFIED, ACKNOWLEDGED,
    EXECUTED_SET_BROADCAST, GARBAGE_COLLECTED, SCHEDULED, BEGUN, ROW_APPLIED, ROLLED_BACK, RETRIED,
    FLUSHED, SYNCED, ENGINE_COMMITTED, CLIENT_ACKNOWLEDGED, READ, STOPPED, FAILED,
) = range(len(KINDS))  # fmt: skip

OUTCOME_CODES = {**A.OUTCOME_CODES, Outcome.POSITIVE: 5, Outcome.NEGATIVE: 6}
POSITIVE, NEGATIVE = 5, 6

FAULTS = (
    "",
    "composed_relay_log_drops_last_committed",
    "composed_commit_order_binds_nobody",
    "composed_unlocks_when_certified",
    "composed_unlocks_when_sent",
    "composed_client_reads_without_lock",
    "composed_refused_rows_are_kept",
    "composed_refused_locks_are_kept",
    "composed_write_set_is_cut_on_the_way",
    "composed_delete_leaves_certification",
    "composed_worker_ignores_deletes",
    "composed_commit_does_not_wait",
    "composed_group_commits_out_of_turn",
    "composed_answer_does_not_wait",
)
"""Supported mutants; "" is none."""
(
    NO_FAULT, DROPS_LAST_COMMITTED, ORDER_BINDS_NOBODY, UNLOCKS_WHEN_CERTIFIED, UNLOCKS_WHEN_SENT,
    READS_WITHOUT_LOCK, KEEPS_REFUSED_ROWS, KEEPS_REFUSED_LOCKS, CUTS_WRITE_SETS, FORGETS_DELETES,
    IGNORES_DELETES, COMMIT_DOES_NOT_WAIT, COMMITS_OUT_OF_TURN, ANSWER_DOES_NOT_WAIT,
) = range(len(FAULTS))  # fmt: skip

JUDGED = (
    "no_update_is_lost",
    "members_end_in_one_state",
    "members_commit_in_one_order",
    "members_show_prefixes_of_one_order",
    "members_show_only_what_they_committed",
    "rows_stay_locked_until_the_end",
    "members_start_as_they_stamped",
    "own_commits_wait_for_other_members",
    "members_answer_when_others_have_it",
    "members_commit_as_flushed",
    "applier_does_not_give_up",
    "members_end_at_rest",
    "first_certified_wins",
)
"""Judged properties, by verdict bit."""
(
    LOST_UPDATE, ANOTHER_STATE, ANOTHER_ORDER, NO_PREFIX, UNCOMMITTED_SHOWN, UNLOCKED, BEGUN_EARLY,
    COMMITTED_EARLY, ANSWERED_EARLY, NOT_AS_FLUSHED, GAVE_UP, NOT_AT_REST, BOTH_CERTIFIED,
) = (1 << bit for bit in range(len(JUDGED)))  # fmt: skip
