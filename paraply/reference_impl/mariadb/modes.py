"""The five parallel modes and their batch decisions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from paraply.reference_impl.mariadb.groups import Batch, Entry, Speculation
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, DDL, TRANSACTIONAL, WAITED
from paraply.vocabulary.transactions import Transaction


class Mode(IntEnum):
    """slave_parallel_mode, by rising risk."""

    NONE = 0
    """The driver applies everything."""
    MINIMAL = 1
    """Only commits overlap."""
    CONSERVATIVE = 2
    """Shared commit ids run concurrently."""
    OPTIMISTIC = 3
    """Unmarked groups run concurrently."""
    AGGRESSIVE = 4
    """Ignores marks where rollback is possible."""


class Decision(NamedTuple):
    """A group's batch and its speculation."""

    batch: Batch
    speculation: Speculation


@dataclass(frozen=True, slots=True)
class Rules:
    """A mode's batch rules."""

    mode: Mode

    @property
    def has_domains(self) -> bool:
        """Return whether domains overlap (GTID mode)."""
        return self.mode > Mode.MINIMAL

    def decide(self, entry: Entry, transaction: Transaction) -> Decision:
        """Return a group's batch and speculation."""
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
        """Open a batch behind all queued groups."""
        entry.batch = Batch(entry.queued_count, is_closed=self.is_ddl(transaction))
        return Decision(entry.batch, Speculation.NO)

    def is_ddl(self, transaction: Transaction) -> bool:
        """Return whether the group runs alone."""
        return DDL in transaction.flags

    def is_of_one_commit(self, before: Transaction | None, transaction: Transaction) -> bool:
        """Return whether it shares its predecessor's commit id."""
        return (
            self.mode > Mode.MINIMAL
            and before is not None
            and transaction.commit_id is not None
            and transaction.commit_id == before.commit_id
        )

    def speculation_of(self, transaction: Transaction) -> Speculation:
        """Return a group's speculation."""
        if TRANSACTIONAL not in transaction.flags:
            return Speculation.WAIT
        is_marked = WAITED in transaction.flags or ALLOW_PARALLEL not in transaction.flags
        if is_marked and self.mode < Mode.AGGRESSIVE:
            return Speculation.WAIT
        return Speculation.OPTIMISTIC
