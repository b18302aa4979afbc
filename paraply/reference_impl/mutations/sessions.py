"""Mutants of sessions' locks and last_committed."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import RelayEntry
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.mutations.view_changes import group_of
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item


def mutate(
    name: str, source: str, fault: str, caught_by: str, member: type[Member], **options: OptionValue
) -> None:
    """Register a mutant with delayed commits."""
    calm: dict[str, OptionValue] = {
        "joins": 0, "departures": 0, "broadcasts": 0, "barriers": False,
        "sessions_commit_apart": True,
    }  # fmt: skip
    register_mutant(
        written_mutant(
            name=name,
            family="sessions",
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=GroupSubject(group=group_of(member)),
            workload=Workload(transactions=4, rows=2, options={**calm, **options}),
        )
    )


class GivesUpItsRows(Member):
    """Certified sessions release row locks."""

    def on_certified_here(self, transaction: TransactionId, gtid: Gtid) -> None:
        self.sessions[transaction].items = ()
        super().on_certified_here(transaction, gtid)


mutate(
    "session_gives_up_its_rows",
    "proofs, P31: row locks are held until the engine commit",
    "A worker changes a row between the certification of a session's change and its commit.",
    "changes_land_as_certified",
    GivesUpItsRows,
)


class TakesNoMetadataLock(Member):
    """Workers wait for row locks only."""

    def locks(self, items: tuple[Item, ...], alters: str = "") -> bool:
        return any(session.locks_row(items) for session in self.sessions.values())


mutate(
    "metadata_lock_is_not_taken",
    "metadata locking; WL#8440 leaves local DDL to it",
    "A worker changes a row of a table while a certified ALTER TABLE has yet to commit.",
    "definitions_are_as_certified",
    TakesNoMetadataLock,
    alterations=1,
)


class StartsAtOnce(Member):
    """Workers ignore last_committed."""

    def applicable(self) -> list[RelayEntry]:
        return [one for one in self.relay_log if not self.locks(one.items, one.alters)]


mutate(
    "worker_ignores_last_committed",
    "WL#8440 EX2: the change would silently fail",
    "Workers apply what is certified in any order, and the last certified change is not the last.",
    "members_converge",
    StartsAtOnce,
    preserve_commit_order=False,
)
