"""Array layouts and codes of the compiled scanner.

Kernels compile plain integers as constants.
"""

from __future__ import annotations

# Why the scanner stopped, in progress[STATUS].
NEED_MORE = 0
"""The buffer ends inside an event or transaction."""
ODD = 1
"""Left to the readable decoder."""
NEED_TABLE = 2
"""progress[DETAIL] is a new table map."""
BATCH_FULL = 3
"""No room for the next transaction."""
ODD_ROWS = 4
"""Left to the readable decoder, for a row of the table progress[DETAIL], by progress[REASON]."""
NEED_WEIGHTS = 5
"""progress[DETAIL] is a block of weights to load."""

PARTIAL, OTHER_TEXTS, SEARCHED, UNREAD, UNCERTAIN_TIES = range(5)
"""Why a table is odd."""

# Columns of ``progress``.
POSITION, TRANSACTIONS, ROWS, KEYS, STATUS, DETAIL, UUIDS, REASON, LEFT_EVENTS = range(9)
PROGRESS_COLUMNS = 9

# Columns of an event whose rows are left.
V_TRANSACTION, V_ROW, V_AT, V_LENGTH, V_TABLE = range(5)
"""V_ROW is the number of rows scanned before, V_AT the place in the scanned bytes."""
LEFT_COLUMNS = 5

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
domain. T_ROW_END is exclusive.
"""
TRANSACTION_COLUMNS = 14
ABSENT = -1

# Columns of a row.
R_OPERATION, R_TABLE, R_UNCHECKED, R_KEY_START = range(4)
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
    D_TIED,
    D_KEYED,
    D_ROLES,
    D_SEED,
    D_NARROW,
) = range(12)
"""Descriptors may share a table number, D_NUMBER. D_PRIMARY marks a first key that is primary,
D_TIED a table with foreign keys or with tables that refer to it, D_KEYED one with a unique key.
D_ROLES are those of each row, D_SEED that of the keys of whole rows. D_NARROW marks a table whose
images do not show all columns: those before a change show the compared ones, and no others.
"""
TABLE_COLUMNS = 12

MALFORMED = -1
"""D_SUPPORTED of an undecodable table map."""
LEFT = 2
"""D_SUPPORTED of a table whose rows are left to the readable code."""

# Columns of a column: how to step over it (an operation and its width), and who needs its value.
C_STEP, C_WIDTH, C_NEED = range(3)
COLUMN_COLUMNS = 3
COMPARED, NEEDED, NULL_IF_OMITTED = 1, 2, 3
"""Of C_NEED: images before a change show it; keys have it; they do, and an insert without it has
NULL.
"""
UNSHOWN = -2
"""Place of a value that an image does not show."""
FIXED, PREFIXED = 0, 1
"""FIXED: that many bytes; PREFIXED: a length of that many bytes."""

# Columns of a key and of a key part.
K_ROLE, K_PART_START, K_PART_END, K_FLAGS, K_MARK, K_MARK_OTHER, K_MARK_AGAIN = range(7)
KEY_COLUMNS = 7
"""K_MARK is what a row adds to its table's role: by another value of a unique key, a NULL foreign
key, or a parent's delete; K_MARK_OTHER by a parent's update, or by a hidden value that changes;
K_MARK_AGAIN by a hidden foreign key that is checked again, or a lost value.
"""
HIDDEN, LOST = 1, 2
"""Digests of a key of which images do not show all: unchanged if after an update, and changed."""
P_COLUMN, P_RULE, P_LENGTH, P_WEIGHTS, P_FILLED = range(5)
PART_COLUMNS = 5
"""P_LENGTH is the prefix (0: all), P_WEIGHTS the line of a text's weights,
P_FILLED the characters up to which spaces fill it."""

# Part rules.
RAW = 0
RAW_FIXED = 1
"""Ignores trailing zero bytes (BINARY)."""
TEXT = 2
"""Weights of its characters; bits 2 and 3 are TEXT_CHAR and TEXT_PADDED."""
TEXT_CHAR = 4
"""Ignores trailing spaces in any collation (CHAR)."""
TEXT_PADDED = 8
"""Ignores trailing characters of a space's weight (PAD SPACE)."""

TEXT_DECODED = 64
"""ASCII characters are not bytes of their codes."""

NULL_COUNTS = 16
"""NULL is a value like others."""
NUMBER = 32
"""The zeros of a FLOAT or DOUBLE are equal."""

# Roles of a key.
UNIQUE, CHILD, LOCKED, CHECKED, PARENT = range(5)
"""Unique keys of the row come first. CHILD is the value that a foreign key refers to, followed by
the parent's primary key (LOCKED) and the columns whose change repeats the check (CHECKED). PARENT
is a value that other tables refer to.
"""
BELOW, KEEPS_DELETES, ALWAYS_KEEPS, FOLLOWS, SURELY_CHECKED, FOLLOWED = 1, 2, 4, 8, 16, 32
"""Flags of a foreign key, as in ``keys.foreign.ChildTie``; FOLLOWED is a parent's."""
NEW_ROW = 0x51_7C_C1_B7
"""Word that makes the key of a value that appears."""
MOVED_ROW = 0x3F_84_D5_B5
"""Word that makes the key of a value that children follow."""
WHOLE_ROW = 0x27_22_0A_95
"""Word that makes the key of a row without one."""

PRIMARY_KEY, UNCERTAIN_KEY, UNSURE_KEY, DOUBTED_KEY = 1, 2, 4, 8
"""Marks of a key. An uncertain one is unsure for its foreign key, but not if another row of the
transaction makes it certain, unless it is doubted.
"""

MET = 1
"""A transaction names the table, since a cascade may reach it."""
UNKEYED_ROWS, SEARCHED_ROWS, BLURRED, BLURS_ALL = 2, 4, 8, 32
"""How a transaction touches a table beside its keys: it changes rows without one, it searches for
them, some keys are unknown, or foreign keys are, so that it may touch any table.
"""
MARKS = range(8, 62)
"""Bits that may be marks of a row (K_MARK)."""
KEYS_OF_TABLE_MAX = 64
"""The servers' limit of unique keys."""
UNCHECKED = 2
"""Flag of a rows event: no foreign keys are checked."""
