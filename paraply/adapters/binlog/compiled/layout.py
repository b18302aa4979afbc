"""Array layouts and codes of the compiled scanner.

Plain integers, which kernels compile as constants.
"""

from __future__ import annotations

# Why the scanner stopped, in progress[STATUS].
NEED_MORE = 0
"""The buffer ends inside the event or transaction."""
ODD = 1
"""The readable decoder must read the event or transaction."""
NEED_TABLE = 2
"""The table map at progress[DETAIL] is new."""
BATCH_FULL = 3
"""The batch lacks room for the transaction."""

# Columns of ``progress``.
POSITION, TRANSACTIONS, ROWS, KEYS, STATUS, DETAIL, UUIDS = range(7)
PROGRESS_COLUMNS = 7

# Columns of a transaction.
(
    T_START,
    T_END,
    T_TYPE,
    T_NUMBER,
    T_SOURCE,
    T_SERVER,
    T_FLAGS,
    T_COMMIT_ID,
    T_LAST_COMMITTED,
    T_SEQUENCE_NUMBER,
    T_COMMITTED_US,
    T_TIME,
    T_ROW_END,
    T_EVENTS,
) = range(14)
"""Start and end are file offsets. T_NUMBER is gno or sequence, T_SOURCE the UUID index or MariaDB
domain. T_ROW_END is exclusive, within the batch.
"""
TRANSACTION_COLUMNS = 14
ABSENT = -1
"""No commit id, timestamp or logical timestamp."""

# Columns of a row.
R_OPERATION, R_TABLE, R_EVENT, R_KEY_START = range(4)
ROW_COLUMNS = 4
INSERT, UPDATE, DELETE = 0, 1, 2

# Columns of a table descriptor.
(
    D_SUPPORTED,
    D_COLUMN_START,
    D_COLUMN_END,
    D_KEY_START,
    D_KEY_END,
    D_NUMBER,
    D_PRIMARY,
) = range(7)
"""D_NUMBER is the table number, which several descriptors may share. D_PRIMARY marks a first key
that is the primary key.
"""
TABLE_COLUMNS = 7

MALFORMED = -1
"""Value of D_SUPPORTED for an undecodable table map."""

# How to step over a column: an operation and its width.
FIXED, PREFIXED = 0, 1
"""FIXED: that many bytes; PREFIXED: a length of that many bytes, then the value."""

# Columns of a key and of a key part.
K_SEED, K_PART_START, K_PART_END = range(3)
P_COLUMN, P_RULE, P_LENGTH, P_WEIGHTS = range(4)
"""P_LENGTH is the indexed prefix, 0 for all; P_WEIGHTS the weight table's row."""

# Part rules.
RAW = 0
"""Equal values have equal bytes."""
RAW_FIXED = 1
"""As RAW, ignoring trailing zero bytes (BINARY)."""
TEXT = 2
"""ASCII text with one weight per character; bits 2 and 3 are TEXT_CHAR and TEXT_PADDED."""
TEXT_CHAR = 4
"""Trailing spaces do not count under any collation (CHAR)."""
TEXT_PADDED = 8
"""Trailing characters with a space's weight do not count (PAD SPACE)."""

KEYS_OF_TABLE_MAX = 64
"""Limit of unique keys per table in MySQL and MariaDB."""
