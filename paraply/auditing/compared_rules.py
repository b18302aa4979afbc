"""Conformance-suite rules on a comparison's clock.

Rules use logged keys; ``paraply conform`` checks key computation.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from paraply.adapters.conformance.rules.correct import Key, OwnKeys, WriteSet
from paraply.adapters.conformance.rules.restated import RESTATED, CompletedNumbers
from paraply.adapters.conformance.rules.rule import Rule, Transaction
from paraply.reference_impl.comparison.appliers import WRITESET, ComparedApplier
from paraply.reference_impl.comparison.runs import Advance
from paraply.reference_impl.comparison.tasks import Task, TaskLog
from paraply.reference_impl.comparison.workers import Workers

KEEP_DEPENDENCIES = frozenset({"write_set", "replica_identity", "forced_global", "causality",
                               "last_common_parent"})  # fmt: skip
"""Rules that order conflicts, given logged keys without foreign keys."""

QUEUED_MAX = 16
"""Limit per worker; queueing rules otherwise receive the whole log first."""


class GivenKeys(OwnKeys):
    """Uses a row image's values as keys."""

    def unique_keys(self, table: Any, image: list[Any]) -> list[Key]:
        """Return each value as a key."""
        del table
        return [(value,) for value in image]


class RuleClock(Workers):
    """A rule schedules; commits have no order."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance, *, rule: type[Rule]) -> None:
        super().__init__(log, workers, advance)
        tables = sorted({row.table for task in log.tasks for row in task.rows})
        self.rule = made_for(rule)(
            {"workers": self.workers, "options": {"commit_order": False},
             "schema": [_table(name, log.keys_of_table.get(name, 1)) for name in tables]}
        )  # fmt: skip
        self.transactions: dict[int, Transaction] = {}

    def place(self, number: int) -> int:
        """Offer the transaction once there is room."""
        if number - 1 - self.completed >= QUEUED_MAX * self.workers:
            return 0
        if number not in self.transactions:
            task = self.tasks[number]
            self.transactions[number] = offered(task)
            if number > 1 and task.clock != self.tasks[number - 1].clock:
                self.rule.on_rotated("")
            self.rule.on_received(self.transactions[number])
        return self.rule.place(self.transactions[number]) or 0

    def assign(self, worker: int, number: int) -> None:
        """Copy the assignment to the rule's queues."""
        self.rule.queues[worker].append(self.transactions[number])
        super().assign(worker, number)

    def on_done(self, task: Task) -> None:
        """Report completion to the rule."""
        transaction = self.transactions.pop(task.number)
        self.rule.queues[self.worker_of[task.number]].remove(transaction)
        self.rule.committed.add(task.number)
        self.rule.on_committed(transaction)


def made_for(rule: type[Rule]) -> type[Rule]:
    """Return the rule with logged keys."""
    if not issubclass(rule, OwnKeys):
        return rule
    return type(rule.__name__, (rule, GivenKeys), {"__doc__": rule.__doc__})


def offered(task: Task) -> Transaction:
    """Return a task as a rule's transaction."""
    stamp = task.stamp
    # A row inserted without a key names its table: these rules know no shared locks.
    images = [list(row.writes or row.reads) for row in task.rows]
    rows = [
        {"op": "U", "table": row.table, "before": image, "after": image}
        for row, image in zip(task.rows, images, strict=True)
    ]
    return Transaction(
        id=task.number,
        lc=0 if stamp is None else int(stamp.last_committed),
        sn=task.number if stamp is None else int(stamp.sequence_number),
        commit_id=task.group,
        domain=task.domain,
        session="",
        kind="ddl" if task.is_barrier else "rows",
        keys=tuple(str(key) for row in task.rows for key in row.writes),
        reads=tuple(str(key) for row in task.rows for key in row.reads),
        rows=() if task.is_barrier else tuple(rows),
        schema=None,
        file=task.clock + 1,
    )


def _table(name: str, keys: int) -> dict[str, Any]:
    return {
        "name": name,
        "columns": [],
        "foreign_keys": [],
        "keys": [{"name": f"k{place}", "columns": [], "prefixes": []} for place in range(keys)],
    }


def compared_rule(rule: type[Rule]) -> ComparedApplier:
    """Return a rule as a comparable applier."""
    first = (rule.__doc__ or "").partition("\n")[0]
    return ComparedApplier(
        name="rule-" + rule.name.replace("_", "-"),
        meaning=f"restated: {first[0].lower()}{first[1:].rstrip('.')}",
        make=partial(RuleClock, rule=rule),
        reference=f"{rule.__module__.replace('.', '/')}.py",
        stamps=WRITESET if rule is CompletedNumbers else "",
        keeps_dependencies=rule.name in KEEP_DEPENDENCIES,
    )


_COMPARED: tuple[type[Rule], ...] = (WriteSet, *RESTATED)
RULES = {applier.name: applier for applier in map(compared_rule, _COMPARED)}
