"""Replicas that stop speculation without need."""

from __future__ import annotations

from paraply.reference_impl.mariadb.groups import Entry, EventGroup, Speculation, Stage
from paraply.reference_impl.mariadb.modes import Decision, Rules
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mutations.mariadb.batches import parallel_mutant
from paraply.vocabulary.transactions import Transaction

_FAMILY = "MariaDB speculation"


class ConflictUndoesAllLater(ParallelReplica):
    """A rollback undoes later transactions too."""

    def on_rollback(self, group: EventGroup) -> None:
        """Undo what has begun after the group."""
        super().on_rollback(group)
        for later in self.under_way:
            is_begun = later.stage is Stage.APPLYING and later.is_transactional
            if later.entry is group.entry and later.sub_id > group.sub_id and is_begun:
                self.on_temporary_error(later, "speculation failed")


class NothingSpeculates(Rules):
    """Every transaction of a mixed batch waits for all before it."""

    def speculation_of(self, transaction: Transaction) -> Speculation:
        """Return WAIT."""
        return Speculation.WAIT


class BatchStaysClosed(Rules):
    """After a DDL each transaction is a batch of its own."""

    def new_batch(self, entry: Entry, transaction: Transaction) -> Decision:
        """Close the new batch where the last one was."""
        was_closed = entry.batch is not None and entry.batch.is_closed
        decision = super().new_batch(entry, transaction)
        decision.batch.is_closed = decision.batch.is_closed or was_closed
        return decision


parallel_mutant(
    "conflict_undoes_all_later", family=_FAMILY,
    source="retry_event_group: only the transaction that failed is tried again",
    fault="a conflict rolls back later transactions that conflict with nothing",
    caught_by="rollbacks_have_a_reason", replica=ConflictUndoesAllLater, workers=4,
)  # fmt: skip
parallel_mutant(
    "nothing_speculates", family=_FAMILY, eager=True,
    source="slave_parallel_mode=optimistic; rpl_parallel: SPECULATE_OPTIMISTIC",
    fault="every transaction waits until all before it have committed",
    caught_by="speculation_begins_at_once", rules=NothingSpeculates,
)  # fmt: skip
parallel_mutant(
    "batch_stays_closed_after_a_ddl", family=_FAMILY, eager=True, ddl=1,
    source="rpl_parallel: FORCE_SWITCH is of one group commit orderer",
    fault="after a DDL no transaction begins before the one before it starts to commit",
    caught_by="speculation_begins_at_once", rules=BatchStaysClosed, transactions=6,
)  # fmt: skip
