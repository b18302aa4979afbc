"""Mutants of AL1's last_committed and sequence_number."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from paraply.reference_impl.certification.certifier import (
    CertificationRequest,
    Certifier,
    Decision,
)
from paraply.reference_impl.certification.dialects import (
    Dialect,
    Window,
    open_window_and_burn_a_number,
    open_window_at_next,
    wait_for_the_window,
)
from paraply.reference_impl.certification.gtids import NO_GTIDS, GtidSet
from paraply.reference_impl.certification.lc_sn import ParallelizationIndexes
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.certification.subject import CertifierSubject
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.timestamps import LogicalTimestamp

FAMILY = "timestamps"


def mutate(
    name: str, source: str, fault: str, caught_by: str, parts: Parts, **options: OptionValue
) -> None:
    """Register a certifier mutant."""
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=CertifierSubject(parts),
            workload=Workload(transactions=6, rows=3, options=options),
        )
    )


mutate(
    "barrier_waits_for_the_window_only",
    "WL#8440, AL1 step 1 read literally; EX4",
    "A transaction without write set gets last_committed_global, not the last number given.",
    "barriers_are_ordered_with_all",
    Parts(amend=lambda d: replace(d, last_committed_of_barrier=wait_for_the_window)),
)
mutate(
    "create_select_is_plain",
    "comment in update_transaction_dependency_timestamps: CREATE TABLE ... SELECT",
    "CREATE TABLE ... SELECT is ordered by its items, which do not tell what it read.",
    "barriers_are_ordered_with_all",
    Parts(amend=lambda d: replace(d, orders_create_select=False)),
)
mutate(
    "collection_opens_the_window_at_next",
    "WL#8440, 'certification info garbage collection' read literally; EX6",
    "After a collection last_committed_global is the number given next: LC = SN.",
    "last_committed_is_below_sequence_number",
    Parts(amend=lambda d: replace(d, window_after_collection=open_window_at_next)),
)
mutate(
    "collection_burns_a_number",
    "servers to 8.3; 'sequence number gap is not generated when garbage collector runs'",
    "A collection uses up a sequence number, and the applier drains at the gap.",
    "sequence_numbers_are_contiguous",
    Parts(amend=lambda d: replace(d, window_after_collection=open_window_and_burn_a_number)),
)


def keep_window(window: Window) -> Window:
    """Return the window unchanged."""
    return window


mutate(
    "collection_opens_no_window",
    "WL#8440, EX5",
    "After a collection nothing waits for the writers of the purged rows.",
    "window_covers_what_was_purged",
    Parts(amend=lambda d: replace(d, window_after_collection=keep_window)),
)


def open_window_one_too_low(window: Window) -> Window:
    """Open the window below the last number."""
    return Window(
        last_committed_global=max(1, window.sequence_number - 2),
        sequence_number=window.sequence_number,
    )


mutate(
    "collection_opens_the_window_one_too_low",
    "WL#8440, EX6, off by one",
    "After a collection transactions wait for all but the last number given.",
    "window_covers_what_was_purged",
    Parts(amend=lambda d: replace(d, window_after_collection=open_window_one_too_low)),
)


class BarrierForgotten(ParallelizationIndexes):
    """Step 3b keeps parallel_applier_last_committed_global."""

    def on_remote_barrier(self) -> LogicalTimestamp:
        window = self.window
        timestamp = super().on_remote_barrier()
        self.window = replace(self.window, last_committed_global=window.last_committed_global)
        return timestamp


mutate(
    "barrier_opens_no_window",
    "WL#8440, AL1 step 3b",
    "A transaction without write set waits, but nobody waits for it.",
    "barriers_are_ordered_with_all",
    Parts(indexes=BarrierForgotten),
)


class WindowAtBarriersParent(ParallelizationIndexes):
    """Step 3b uses the barrier's last_committed."""

    def on_remote_barrier(self) -> LogicalTimestamp:
        last_committed = self.window.sequence_number - 1
        timestamp = super().on_remote_barrier()
        self.window = replace(self.window, last_committed_global=last_committed)
        return timestamp


mutate(
    "barrier_opens_the_window_at_its_parent",
    "WL#8440, AL1 step 3b, LC for SN",
    "Those after a barrier wait for what is before it, and not for it.",
    "barriers_are_ordered_with_all",
    Parts(indexes=WindowAtBarriersParent),
)


class LeastWriter(ParallelizationIndexes):
    """Step 3a takes the least stored number."""

    def on_remote_with_items(self, previous: Iterable[int | None]) -> LogicalTimestamp:
        numbers = [number for number in previous if number is not None]
        return super().on_remote_with_items([min(numbers)] if numbers else [])


mutate(
    "oldest_writer_wins",
    "WL#8440, AL1 step 3a",
    "Of the last writers of its items a transaction waits for the oldest.",
    "conflicting_transactions_are_ordered",
    Parts(indexes=LeastWriter),
    locals=False,
)


class LastItemOnly(ParallelizationIndexes):
    """Step 3a takes the last item's number."""

    def on_remote_with_items(self, previous: Iterable[int | None]) -> LogicalTimestamp:
        return super().on_remote_with_items(list(previous)[-1:])


mutate(
    "last_item_decides",
    "WL#8440, AL1 step 3a: 'greater than trx.LC'",
    "Only the last item of a write set raises last_committed.",
    "conflicting_transactions_are_ordered",
    Parts(indexes=LastItemOnly),
    locals=False,
)


class GlobalRaisedByItems(ParallelizationIndexes):
    """Step 3a raises the global window too."""

    def on_remote_with_items(self, previous: Iterable[int | None]) -> LogicalTimestamp:
        timestamp = super().on_remote_with_items(previous)
        self.window = replace(self.window, last_committed_global=timestamp.last_committed)
        return timestamp


mutate(
    "items_raise_the_window",
    "WL#8440, AL1 step 3a: 'update trx.LC', not the global",
    "After a dependent transaction everybody waits for what it waited for.",
    "last_committed_is_minimal",
    Parts(indexes=GlobalRaisedByItems),
)


class NumberPerRefusal(Certifier):
    """Refused transactions consume sequence numbers."""

    def on_transaction_delivered(
        self,
        request: CertificationRequest,
        *,
        is_local: bool,
        gtid_executed: GtidSet = NO_GTIDS,
    ) -> Decision:
        decision = super().on_transaction_delivered(
            request, is_local=is_local, gtid_executed=gtid_executed
        )
        if not decision.is_positive:
            self.indexes.window = replace(
                self.indexes.window, sequence_number=self.indexes.sequence_number + 1
            )
        return decision


mutate(
    "refusal_takes_a_number",
    "WL#8440: 'incremented after each positively certified remote transaction'",
    "A refused transaction uses up a sequence number.",
    "sequence_numbers_are_contiguous",
    Parts(certifier=NumberPerRefusal),
)


class NumberPerLocal(Certifier):
    """Local transactions consume sequence numbers."""

    def record(
        self, request: CertificationRequest, gtid: object, *, is_local: bool
    ) -> LogicalTimestamp | None:
        timestamp = super().record(request, gtid, is_local=False)  # type: ignore[arg-type]
        return None if is_local else timestamp


mutate(
    "local_takes_a_number",
    "WL#8440: 'this worklog will only handle the remote transactions'",
    "A local transaction is numbered as if it were remote.",
    "sequence_numbers_are_contiguous",
    Parts(certifier=NumberPerLocal),
)


class RestartsOnViewChange(ParallelizationIndexes):
    """View changes reset members' counters."""

    def on_view_change(self) -> LogicalTimestamp:
        self.window = Window(last_committed_global=1, sequence_number=2)
        return super().on_view_change()


mutate(
    "existing_member_restarts_its_counters",
    "WL#8440, EX7: existing members 'maintain their values'",
    "A view change resets the counters of existing members, but not their stored items.",
    "last_committed_is_below_sequence_number",
    Parts(indexes=RestartsOnViewChange),
    locals=False,
)


class NumberedViewChange(ParallelizationIndexes):
    """View changes count as ordinary transactions."""

    def on_view_change(self) -> LogicalTimestamp:
        return self.on_remote_barrier()


mutate(
    "view_change_is_numbered",
    "WL#8440, View_change_log_event: trx.LC = trx.SN = 0",
    "A view change gets a timestamp from AL1.",
    "view_changes_are_zero_zero",
    Parts(indexes=NumberedViewChange),
)


def without_marker(dialect: Dialect) -> Dialect:
    """Number the first remote transaction normally."""
    return replace(dialect, marks_first_remote=False)


register_mutant(
    written_mutant(
        name="first_remote_is_not_marked",
        family=FAMILY,
        source="comment in update_transaction_dependency_timestamps, 8.3",
        fault="After a restart numbers begin again behind the relay log's backlog, unmarked.",
        caught_by="sequence_numbers_increase",
        subject=GroupSubject(Parts(amend=without_marker)),
        workload=Workload(
            transactions=8,
            rows=2,
            members=2,
            dialect="mysql_8_4",
            options={"departures": 1, "joins": 1},
        ),
    )
)
