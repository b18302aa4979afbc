"""Effects of logged statements, from their first words.

Unknown statements count as unlogged row changes.
"""

from __future__ import annotations

import re
from enum import Enum

from paraply.adapters.binlog.schema.ddl import CreateTable
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.vocabulary.sql_text import quoted


class StatementRole(Enum):
    """A statement's role in its transaction."""

    BEGIN = "begin"
    END = "end"
    ROLL_BACK = "roll back"
    SAVEPOINT = "savepoint"
    ROLL_BACK_TO = "roll back to"
    """ROLLBACK TO SAVEPOINT, which undoes earlier rows."""
    XA_START = "xa start"
    XA_END = "xa end"
    XA_PREPARE = "xa prepare"
    XA_FINISH = "xa finish"
    """XA COMMIT or XA ROLLBACK of a prepared transaction."""
    DDL = "ddl"
    CHANGE = "change"
    """Statement-based row changes, or an unknown statement."""
    NOTHING = "nothing"
    """Comments that replace ignorable events."""


_COMMENT = re.compile(r"/\*(?![!M])(?:[^*]|\*(?!/))*\*/|--[ \t\r\n][^\n]*|#[^\n]*")
_SPACE = re.compile(r"\s+")
_EXECUTABLE_COMMENT = re.compile(r"/\*M?!\d*\s*|\*/")
_WORD = re.compile(r"[A-Za-z_]+")
_DDL = frozenset(
    {
        "ALTER", "ANALYZE", "CACHE", "CHANGE", "CHECK", "CREATE", "DROP", "FLUSH", "GRANT",
        "IMPORT", "INSTALL", "LOCK", "OPTIMIZE", "PURGE", "RENAME", "REPAIR", "RESET", "REVOKE",
        "SET", "SHUTDOWN", "TRUNCATE", "UNINSTALL", "UNLOCK",
    }
)  # fmt: skip
_XA = {
    "START": StatementRole.XA_START,
    "BEGIN": StatementRole.XA_START,
    "END": StatementRole.XA_END,
    "PREPARE": StatementRole.XA_PREPARE,
    "COMMIT": StatementRole.XA_FINISH,
    "ROLLBACK": StatementRole.XA_FINISH,
}
_HEAD_CHARACTERS = 4096
_WORDS_OF_INTEREST = 3


def _first_words(sql: str) -> tuple[list[str], str]:
    head = sql[:_HEAD_CHARACTERS]
    words: list[str] = []
    position = 0
    while position < len(head) and len(words) < _WORDS_OF_INTEREST:
        for skipped in (_SPACE, _COMMENT, _EXECUTABLE_COMMENT):
            found = skipped.match(head, position)
            if found:
                break
        else:
            found = _WORD.match(head, position)
            if not found:
                break
            words.append(found.group().upper())
        position = found.end()
    return words, head[position:]


_USUAL = {"BEGIN": StatementRole.BEGIN, "COMMIT": StatementRole.END}


def statement_role(sql: str) -> StatementRole:
    """Return a logged statement's role.

    Words in executable comments (``/*!50003 ... */``, ``/*M! ... */``) count.

    >>> statement_role("/* app */ ROLLBACK TO `s1`").name
    'ROLL_BACK_TO'
    """
    usual = _USUAL.get(sql)
    if usual is not None:
        return usual
    words, rest = _first_words(sql)
    if not words:
        return StatementRole.CHANGE if rest.strip() else StatementRole.NOTHING
    first = words[0]
    second = words[1] if len(words) > 1 else ""
    if first == "BEGIN" or (first == "START" and second == "TRANSACTION"):
        return StatementRole.BEGIN
    if first == "COMMIT":
        return StatementRole.END
    if first == "ROLLBACK":
        # ROLLBACK [WORK] TO: the server writes no WORK, an application's text might have it.
        return StatementRole.ROLL_BACK_TO if "TO" in words[1:] else StatementRole.ROLL_BACK
    if first in ("SAVEPOINT", "RELEASE"):
        return StatementRole.SAVEPOINT
    if first == "XA":
        return _XA.get(second, StatementRole.CHANGE)
    return StatementRole.DDL if first in _DDL else StatementRole.CHANGE


def executed(sql: str, error_code: int) -> str:
    """Return what a logged statement did, which is less than it says if it failed.

    MariaDB logs a CREATE OR REPLACE TABLE that fails once the old table is gone: it only drops.
    """
    statement = parse_statement(sql) if error_code else None
    if not (isinstance(statement, CreateTable) and statement.or_replace):
        return sql
    parts = (part for part in (statement.table.schema, statement.table.table) if part)
    return f"DROP TABLE IF EXISTS {'.'.join(map(quoted, parts))}"


_XID_TEXT = re.compile(r"\A\s*XA\s+\w+\s+(.*?)(?:\s+ONE\s+PHASE)?\s*;?\s*\Z", re.DOTALL | re.I)


def xid_of_statement(sql: str) -> str:
    """Return an XA statement's XID, or empty."""
    found = _XID_TEXT.match(sql[:_HEAD_CHARACTERS])
    return found.group(1) if found else ""


_SAVEPOINT = re.compile(r"(?:SAVEPOINT|TO)\s+(`(?:[^`]|``)+`|[^\s`;]+)\s*;?\s*\Z", re.I)


def savepoint_of_statement(sql: str) -> str:
    """Return the name of the savepoint that a statement sets or returns to, whatever its case.

    >>> savepoint_of_statement("ROLLBACK TO `S 1`")
    '`s 1`'
    """
    found = _SAVEPOINT.search(sql[:_HEAD_CHARACTERS])
    return quoted(found.group(1).strip("`").replace("``", "`")).lower() if found else ""
