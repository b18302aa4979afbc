"""The five parallel modes, and the decision about a group that the SQL driver thread has read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from paraply.reference_impl.mariadb.groups import Batch, Entry, Speculation
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, DDL, TRANSACTIONAL, WAITED
from paraply.vocabulary.transactions import Transaction


class Mode(IntEnum):
    """slave_parallel_mode; a greater one dares more."""

    NONE = 0
    """The driver applies everything itself."""
    MINIMAL = 1
    """Only commits overlap."""
    CONSERVATIVE = 2
    """What committed as one group on the source runs at once."""
    OPTIMISTIC = 3
    """Everything runs at once, but for what is marked; conflicts are found and undone."""
    AGGRESSIVE = 4
    """Marks do not matter, unless a rollback is impossible."""


class Decision(NamedTuple):
    """Where a group goes, and what is known about it."""

    batch: Batch
    speculation: Speculation


@dataclass(frozen=True, slots=True)
class Rules:
    """How a mode puts groups into batches; a mutant overrides one rule."""

    mode: Mode

    @property
    def has_domains(self) -> bool:
        """Return whether domains run beside each other: GTID mode, and more than minimal."""
        return self.mode > Mode.MINIMAL

    def decide(self, entry: Entry, transaction: Transaction) -> Decision:
        """Put a group into the present batch of its entry, or into a new one behind it."""
        batch = entry.batch
        if batch is None:
            return self.new_batch(entry, transaction)
        before = entry.groups[-1].transaction if entry.groups else None
        if not self.is_of_one_commit(before, transaction):
            batch.is_mixed = True
        if self.is_ddl(transaction):
            batch.is_closed = True
        if not batch.is_mixed and not batch.is_closed:
            return Decision(batch, Speculation.NO)
        if self.mode >= Mode.OPTIMISTIC and not batch.is_closed:
            return Decision(batch, self.speculation_of(transaction))
        return self.new_batch(entry, transaction)

    def new_batch(self, entry: Entry, transaction: Transaction) -> Decision:
        """Open a batch that waits until everything queued so far has started to commit."""
        entry.batch = Batch(entry.queued_count, is_closed=self.is_ddl(transaction))
        return Decision(entry.batch, Speculation.NO)

    def is_ddl(self, transaction: Transaction) -> bool:
        """Return whether the group must be alone."""
        return DDL in transaction.flags

    def is_of_one_commit(self, before: Transaction | None, transaction: Transaction) -> bool:
        """Return whether the group committed together with the one before it in its domain."""
        return (
            self.mode > Mode.MINIMAL
            and before is not None
            and transaction.commit_id is not None
            and transaction.commit_id == before.commit_id
        )

    def speculation_of(self, transaction: Transaction) -> Speculation:
        """Return whether a group may run although nobody knows what it conflicts with."""
        if TRANSACTIONAL not in transaction.flags:
            return Speculation.WAIT
        is_marked = WAITED in transaction.flags or ALLOW_PARALLEL not in transaction.flags
        if is_marked and self.mode < Mode.AGGRESSIVE:
            return Speculation.WAIT
        return Speculation.OPTIMISTIC
