"""Where things are in the arrays that the compiled scanner fills, and the codes it uses.

Plain integers: kernels see them as constants, Python and tests by name.
"""

from __future__ import annotations

# Why the scanner stopped, in progress[STATUS].
NEED_MORE = 0
"""The transaction or event at the position is not yet wholly in the buffer."""
ODD = 1
"""The readable decoder must take the event or transaction at the position."""
NEED_TABLE = 2
"""The table map at progress[DETAIL] has not been seen before."""
BATCH_FULL = 3
"""No room for the transaction at the position: empty the batch (or let it grow) and go on."""

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
"""Start and end are file offsets; T_NUMBER is gno or sequence; T_SOURCE is the index of the UUID
or the MariaDB domain; T_ROW_END is one past its last row in the batch; T_EVENTS its events."""
TRANSACTION_COLUMNS = 14
ABSENT = -1
"""Stands for a missing commit id, timestamp or logical timestamp."""

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
"""D_NUMBER is the number of the table by name: several descriptors may describe one table;
D_PRIMARY says that its first key is the primary key."""
TABLE_COLUMNS = 7

MALFORMED = -1
"""In D_SUPPORTED: not even the table map is for the scanner."""

# How to step over a column: an operation and its width.
FIXED, PREFIXED = 0, 1
"""FIXED: that many bytes; PREFIXED: a length of that many bytes, then the value."""

# Columns of a key and of a key part.
K_SEED, K_PART_START, K_PART_END = range(3)
P_COLUMN, P_RULE, P_LENGTH, P_WEIGHTS = range(4)
"""P_LENGTH is the indexed prefix, 0 for all; P_WEIGHTS the row of the weight table."""

# Part rules.
RAW = 0
"""Equal values have equal bytes."""
RAW_FIXED = 1
"""The same, but for zero bytes at the end (BINARY)."""
TEXT = 2
"""ASCII text compared by one weight per character; bits 2 and 3 are TEXT_CHAR and TEXT_PADDED."""
TEXT_CHAR = 4
"""Spaces at the end do not count, whatever the collation (CHAR)."""
TEXT_PADDED = 8
"""Characters at the end that weigh as a space do not count (PAD SPACE)."""

KEYS_OF_TABLE_MAX = 64
"""Unique keys of a table; MySQL and MariaDB allow 64."""
