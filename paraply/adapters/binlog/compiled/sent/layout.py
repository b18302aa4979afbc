"""Array layouts and codes of the scanner of sent events."""

from __future__ import annotations

# Columns of a transaction.
T_START, T_END, T_ROWS, T_TOUCHED_END, T_OFFSET, T_HEAD = range(6)
"""Start and end are places in the block. T_TOUCHED_END ends its table maps in ``touched``. T_OFFSET
is the end position in the log; T_HEAD and the columns after it are ``compiled.layout``'s.
"""
TRANSACTION_COLUMNS = 20

# Columns of a table map.
M_IS_PLAIN, M_FIRST, M_LAST, M_BODY, M_BODY_END = range(5)
"""First and last of its columns, and its body in ``bodies``."""
MAP_COLUMNS = 5

# Columns of a column: an operation, its width and its limit.
FIXED, PREFIXED, LIMITED, FLOATING = range(4)
"""FIXED: that many bytes; PREFIXED: a length of that many bytes; LIMITED: a number up to the limit;
FLOATING: no NaN, which differs from itself.
"""
COLUMN_COLUMNS = 3
