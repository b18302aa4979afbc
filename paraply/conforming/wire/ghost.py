"""Programs that copy a table to a new one within one server, such as gh-ost.

Source and target are one server, so the server itself runs the case once the program is ready. Its
log flows through the gate, which holds the case's transactions and gives them the case's
timestamps.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from paraply.adapters.conformance.source import SourceLog
from paraply.adapters.servers.server import Server
from paraply.adapters.wire.case_logs import NotOnWireError, drains_of, require_suited, run_case
from paraply.adapters.wire.commands import HoldRule
from paraply.adapters.wire.live_log import LiveLog
from paraply.adapters.wire.run import Begin
from paraply.conforming.wire.stage import Stage
from paraply.verifying.mapping import Rules, TableRule


@dataclass(frozen=True, slots=True, kw_only=True)
class GhostTable:
    """Where such a program writes.

    Attributes:
        pattern: name of the new table, with ``{table}`` for that of the old one.
        begin: what the program writes when it has copied the rows.
    """

    pattern: str
    begin: re.Pattern[str]

    def stage(self, server: Server, log: SourceLog, rule: HoldRule) -> Stage:
        """Return the stage of one run; ``NotOnWireError`` for tables that cannot be copied.

        One table is copied: the one with the most changes, beside the suite's bystanders.
        """
        require_suited(log, is_mariadb=server.is_mariadb)
        if any("REFERENCES" in text.upper() for text in log.source_schema):
            raise NotOnWireError("its tables have foreign keys")
        changes = _changes(log)
        name = _copied(changes)
        if not name:
            raise NotOnWireError("it changes no row")
        if not any(name in text and "PRIMARY KEY" in text.upper() for text in log.source_schema):
            raise NotOnWireError(f"{name} has no primary key")
        database, _, table = name.partition(".")
        new = f"{database}.{self.pattern.format(table=table)}"
        return Stage(
            log=LiveLog.of_case(log),
            schema=log.source_schema,
            drains=drains_of(log),
            begin=Begin(when=self.begin, load=lambda: run_case(server, log), rule=rule),
            rules=Rules(
                tables=(TableRule(source=name, target=new),),
                filtered=frozenset(changes) - {name},
            ),
            words={"database": database, "table": table},
        )

    def steps(self, log: SourceLog) -> int:
        """Return the expected number of steps: a delivery, or three more for copied rows."""
        name = _copied(_changes(log))
        copied = sum(any(row.table == name for row in txn.rows) for txn in log.transactions)
        return len(log.transactions) + 3 * copied


def _changes(log: SourceLog) -> Counter[str]:
    return Counter(row.table for txn in log.transactions for row in txn.rows)


def _copied(changes: Counter[str]) -> str:
    weights = {name: (not name.endswith(".other"), count) for name, count in changes.items()}
    return max(sorted(weights), key=lambda name: weights[name], default="")
