"""C4 of WL#4648 with one merge fault each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.mutations.wl4648.schemes import scheme_mutant
from paraply.reference_impl.wl4648.merging import MergingReplica
from paraply.vocabulary.transactions import Transaction


class KeepsTheFirstImage(MergingReplica):
    """Jobs apply a row's first image."""

    def compose(self, members: Sequence[Transaction]) -> Transaction:
        """Restore the first after image."""
        job = super().compose(members)
        first = {item_of(row): row for one in reversed(members) for row in reversed(one.rows)}
        return replace(
            job,
            rows=tuple(replace(row, after=first[item_of(row)].after or row.after)
                       for row in job.rows),
        )  # fmt: skip


class ForgetsLaterRows(MergingReplica):
    """A job loses later transactions' rows."""

    def compose(self, members: Sequence[Transaction]) -> Transaction:
        """Drop later rows."""
        job = super().compose(members)
        kept = {item_of(row) for row in members[0].rows}
        return replace(job, rows=tuple(row for row in job.rows if item_of(row) in kept))


class ConflictsByItsFirst(MergingReplica):
    """Jobs have the first write set."""

    def compose(self, members: Sequence[Transaction]) -> Transaction:
        """Drop the other items."""
        return replace(super().compose(members), write_set=members[0].write_set)


scheme_mutant(
    "merged_row_keeps_its_first_image", source="WL#4648, C4: partial resolving conflicts",
    fault="a row that two transactions of a job change is left as the first leaves it",
    caught_by="rows_apply_as_logged", dialect="c4", parts={"replica": KeepsTheFirstImage},
    transactions=5, rows=2,
)  # fmt: skip
scheme_mutant(
    "merged_job_loses_rows", source="WL#4648, C4: combine several small transactions",
    fault="rows that only a later transaction of a job changes are lost",
    caught_by="replica_ends_in_the_sources_state", dialect="c4_c2",
    parts={"replica": ForgetsLaterRows},
)  # fmt: skip
scheme_mutant(
    "merged_job_conflicts_by_its_first", source="WL#4648, C4 served by C2",
    fault="conflicts of the later transactions of a job are not looked for",
    caught_by="rows_apply_as_logged", dialect="c4_c2",
    parts={"replica": ConflictsByItsFirst}, transactions=6,
)  # fmt: skip
