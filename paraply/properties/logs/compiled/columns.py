"""Column names of the compiled judges' arrays."""

from __future__ import annotations

# One transaction of a batch.
(
    B_KIND,
    B_LAST_COMMITTED,
    B_SEQUENCE_NUMBER,
    B_CLOCK,
    B_COMMIT_ID,
    B_LANE,
    B_HAS_DOMAIN,
    B_IS_DDL,
    B_ROWS,
    B_KEY_START,
    B_KEY_END,
    B_READ_END,
    B_LOCK_END,
    B_TABLE_END,
    B_NAME_END,
    B_AT,
) = range(16)
"""Keys are written from B_KEY_START to B_KEY_END, then read to B_READ_END, then locked to
B_LOCK_END. Ends are exclusive; B_AT is the input place.
"""
BATCH_COLUMNS = 16
NONE = -1

PRIMARY, UNCERTAIN, UNSURE = 1, 2, 4
"""Marks of a key."""

MET, UNKEYED_ROWS, SEARCHED, BLURRED, UNIDENTIFIED, BLURS_ALL = 1, 2, 4, 8, 16, 32
NAMED = MET | UNKEYED_ROWS | SEARCHED | BLURRED | UNIDENTIFIED
MARKS = 1 << 8
"""From here on roles are marks of what foreign keys name (``TableTies``)."""
"""How a transaction touches a named table or aspect (``dependency_safety.Touches``); BLURS_ALL:
any table by unknown foreign keys.
"""
O_CHANGED, O_UNKEYED, O_SEARCHED, O_BLURRED = range(4)
"""What the order of a table's changes remembers (``scheduling_models.TableOrder``)."""

ROWS, EMPTY, DDL, STATEMENT, XA, VIEW_CHANGE, INCIDENT, SKIPPED = range(8)
"""In the order of ``LoggedKind``; SKIPPED only takes an ordinal."""

# A place under an overlap rule.
P_LANE, P_RUN, P_RANK, P_FLOOR = range(4)
PLACE_COLUMNS = 4
CLOCK, GROUP = 0, 1
"""In the order of ``overlap_rules.RULES``."""

# Models, in the order of ``parallelism.MODELS``.
M_CLOCK, M_GROUP, M_ROWS, M_TABLE, M_SCHEMA, M_KEY, M_WITH = range(7)
"""M_WITH (``with-keys``) is M_ROWS until S_SPLIT."""
MODELS = 7

# Columns of a time vector (``worker_timeline``).
ROUND, UNBOUNDED = 0, 1

# Scalars.
(
    S_ORDINAL,
    S_RUN,
    S_CLOCK,
    S_LAST,
    S_COUNT,
    S_STRETCHES,
    S_BREAK_RANK,
    S_BREAK_KIND,
    S_MODEL_RUN,
    S_PREFIXES,
    S_LISTED,
    S_BARRIER,
    S_BARRIER_EPOCH,
    S_LATEST,
    S_LATEST_FINISH,
    S_PATH_END,
    S_PATH_TIME,
    S_PATH_TRACED,
    S_CLOCK_SEEN,
    S_GROUPS_SEEN,
    S_PAIRS,
    S_SLICE_SIZE,
    S_ROUNDS,
    S_FINDINGS,
    S_TIE_NEXT,
    S_TABLE_NEXT,
    S_SPLIT,
    S_SKIPPED,
    S_CHAINS,
) = range(29)
"""S_LISTED are violations, S_SKIPPED transactions that only took an ordinal. At S_CHAINS each chain
has its oldest touch, the next, and the oldest remembered transaction.
"""
WRITES, READS, LOCKS, UNKEYED = range(4)
"""Chains of touches: keys written, required unchanged, or only locked; and tables with changed rows
that no key names, of which SEARCHED marks a search.
"""
CHAINS = 4
OLD, NEXT, OLDEST = range(3)
SCALARS = S_CHAINS + 3 * CHAINS

# Limits: those of the readable judges, so that both forget at the same transaction.
(
    L_KEYS,
    L_TRANSACTIONS,
    L_LEVELS,
    L_WINDOW,
    L_STRETCHES,
    L_LINKS,
    L_SLICES,
    L_VIOLATIONS,
) = range(8)

# Why the judge stopped; FINDING, TRACE and BESIDE_DDL may come together.
DONE = 0
FINDING = 1
"""A conflict with an overlapping transaction, or the first key that crosses domains."""
TRACE = 2
"""Trace the path before links are overwritten."""
BESIDE_DDL = 4
"""An overlap of DDL and changes, of which the names are to be compared."""
GROW_TOUCHES, GROW_PAST, GROW_PREFIXES, GROW_TIES, GROW_TABLES = 8, 9, 10, 11, 12
"""An array lacks room."""
BEYOND = 13
"""Beyond a bound of the readable judge."""

# Evidence per rule.
(
    E_ALLOWED,
    E_ORDERED,
    E_VIOLATIONS,
    E_FORGOTTEN,
    E_STATEMENTS,
    E_INCIDENTS,
    E_DDL,
    E_WAITS,
    E_UNCERTAIN,
    E_CROSSINGS,
) = range(10)
EVIDENCE_COLUMNS = 10

# One transaction of the past.
(
    H_META,
    H_TOUCH_START,
    H_READ_START,
    H_LOCK_START,
    H_NAME_START,
    H_WAITS_FOR,
    H_TIE_START,
    H_TABLE_START,
    H_AT,
    H_MARK,
) = range(10)
HISTORY_COLUMNS = 10
"""H_META packs kind (4 bits), cause (4 bits) and work. Ends are the next transaction's beginnings;
one start per chain from H_TOUCH_START on. H_AT is B_AT.
"""
F_RULE, F_EARLIER, F_READS, F_KIND = range(4)
FINDING_COLUMNS = 4
"""F_READS: one of the two only requires the key unchanged."""
CERTAIN_CONFLICT, UNCERTAIN_CONFLICT, CROSSING = range(3)
"""F_KIND: a conflict, or a key that another replication domain touched last."""
CAUSE_START, CAUSE_BARRIER, CAUSE_SELF, CAUSE_KEY, CAUSE_TABLE = range(5)
"""No wait, a barrier, itself a barrier, keys, the order of a table's changes."""

# What the judge returns of each transaction: the last break, and its places.
(
    D_BREAK_RANK,
    D_BREAK_KIND,
    D_RUN,
    D_FLOOR,
    D_RANK,
    D_ALLOWED,
    D_LANE,
    D_GROUP_FLOOR,
    D_GROUP_RANK,
    D_GROUP_ALLOWED,
) = range(10)
PLACED_COLUMNS = 10

# Where a transaction of the past stands.
R_RUN, R_RANK, R_LANE, R_GROUP_RANK = range(4)
RANK_COLUMNS = 4
