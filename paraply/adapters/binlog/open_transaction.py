"""The transaction under reading."""

from __future__ import annotations

from collections.abc import Callable

from paraply.adapters.binlog.events import QueryEvent
from paraply.adapters.binlog.statements import (
    StatementRole,
    executed,
    savepoint_of_statement,
)
from paraply.vocabulary.log import (
    DDL_CHARACTERS_MAX,
    STATEMENT_CHARACTERS_MAX,
    LoggedKind,
    LoggedTransaction,
)

STATEMENTS_MAX = 1024

_RANK = {
    LoggedKind.EMPTY: 0,
    LoggedKind.ROWS: 1,
    LoggedKind.DDL: 2,
    LoggedKind.XA: 3,
    LoggedKind.STATEMENT: 4,
    LoggedKind.VIEW_CHANGE: 5,
    LoggedKind.INCIDENT: 6,
}


class OpenTransaction:
    """Collects a transaction; its most restrictive kind wins.

    ``begun`` requires COMMIT, XID or XA PREPARE.
    """

    def __init__(self, transaction: LoggedTransaction) -> None:
        self.transaction = transaction
        self.begun = False
        self.row_bytes = 0
        self._statements: list[str] = []
        self._savepoints: dict[str, int] = {}
        """Number of rows before each."""
        self._is_bare = True

    @property
    def awaits_begin(self) -> bool:
        """Return whether a BEGIN may still follow."""
        return self._is_bare

    def note_kind(self, kind: LoggedKind) -> None:
        """Set ``kind`` if more restrictive."""
        if kind is LoggedKind.ROWS:
            self._is_bare = False
        if _RANK[kind] > _RANK[self.transaction.kind]:
            self.transaction.kind = kind

    def note_statement(self, sql: str, *, is_ddl: bool) -> None:
        """Keep a statement's text."""
        self._is_bare = False
        if len(self._statements) < STATEMENTS_MAX:
            self._statements.append(
                sql[: DDL_CHARACTERS_MAX if is_ddl else STATEMENT_CHARACTERS_MAX]
            )

    def on_statement(
        self, event: QueryEvent, role: StatementRole, xid_of: Callable[[str], str]
    ) -> bool:
        """Apply a statement; return whether it ends the transaction."""
        transaction = self.transaction
        if event.schema and not transaction.default_schema:
            transaction.default_schema = event.schema
        if transaction.session is None and event.thread_id:
            transaction.session = event.thread_id
        match role:
            case StatementRole.BEGIN:
                self.begun = True
                self._is_bare = False
            case StatementRole.END:
                return True
            case StatementRole.ROLL_BACK:
                transaction.flags |= {"rolled_back"}
                return True
            case StatementRole.SAVEPOINT:
                self._savepoints[savepoint_of_statement(event.sql)] = len(transaction.rows)
            case StatementRole.ROLL_BACK_TO:
                transaction.flags |= {"partly_rolled_back"}
                first = self._savepoints.get(savepoint_of_statement(event.sql), 0)
                transaction.undone += (range(first, len(transaction.rows)),)
            case StatementRole.XA_START:
                self.begun = True
                self._is_bare = False
                self._note_xa(event, xid_of)
            case StatementRole.XA_PREPARE | StatementRole.XA_FINISH:
                self._note_xa(event, xid_of)
                prepares = role is StatementRole.XA_PREPARE
                transaction.flags |= {"prepared_xa" if prepares else "completed_xa"}
                self.note_statement(event.sql, is_ddl=False)
                return True
            case StatementRole.DDL | StatementRole.CHANGE:
                is_ddl = role is StatementRole.DDL
                self.note_kind(LoggedKind.DDL if is_ddl else LoggedKind.STATEMENT)
                sql = executed(event.sql, event.error_code) if is_ddl else event.sql
                self.note_statement(sql, is_ddl=is_ddl)
                return not self.begun
            case _:
                pass
        return False

    def _note_xa(self, event: QueryEvent, xid_of: Callable[[str], str]) -> None:
        # A replica executes the statement; the GTID event's name is for its scheduler.
        self.note_kind(LoggedKind.XA)
        self.transaction.xa_id = xid_of(event.sql) or self.transaction.xa_id

    def finished(self, end_offset: int) -> LoggedTransaction:
        """Return the transaction, which ends at ``end_offset``."""
        self.transaction.end_offset = end_offset
        self.transaction.statements = tuple(self._statements)
        return self.transaction
