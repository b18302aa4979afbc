"""Mutants of AL1's stored sequence numbers."""

from __future__ import annotations

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from collections.abc import Iterable
from dataclasses import replace

from paraply.reference_impl.certification.certifier import Certifier, StoredVersion
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.mutations.timestamps import FAMILY, mutate
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.write_set import Item


class LocalStoredWithNumber(Certifier):
    """Local writers store the next remote number."""

    def stored_sequence_number(self, *, is_local: bool) -> int | None:
        return self.indexes.sequence_number


mutate(
    "local_items_bear_a_number",
    "certifier.cc: local ? -1 : parallel_applier_sequence_number; proofs, 'other findings'",
    "Who follows a local transaction waits for a remote one that has nothing to do with it.",
    "last_committed_is_minimal",
    Parts(certifier=LocalStoredWithNumber),
)


class FindsItself(Certifier):
    """Repeated items lack their guard."""

    def exchange_entries(self, items: Iterable[Item], entry: StoredVersion) -> list[int | None]:
        previous: list[int | None] = []
        for item in items:
            stored = self.certification_info.get(item)
            self.certification_info[item] = entry
            if stored is not None:
                previous.append(stored.sequence_number)
        return previous


mutate(
    "duplicate_item_finds_itself",
    "certifier.cc: item_previous_sequence_number != parallel_applier_sequence_number",
    "A transaction with one item twice waits for itself.",
    "last_committed_is_below_sequence_number",
    Parts(certifier=FindsItself),
    duplicates=True,
)


class RecordsBeforeItLooks(Certifier):
    """AL1's step 4 precedes step 3."""

    def exchange_entries(self, items: Iterable[Item], entry: StoredVersion) -> list[int | None]:
        items = list(items)
        super().exchange_entries(items, entry)
        return [self.certification_info[item].sequence_number for item in items]


mutate(
    "items_are_stored_before_they_are_looked_up",
    "WL#8440, AL1 steps 3 and 4 exchanged",
    "Each transaction finds its own number with its items.",
    "last_committed_is_below_sequence_number",
    Parts(certifier=RecordsBeforeItLooks),
)


class FirstWriterStays(Certifier):
    """AL1's step 4 inserts without updates."""

    def exchange_entries(self, items: Iterable[Item], entry: StoredVersion) -> list[int | None]:
        previous: list[int | None] = []
        for item in items:
            stored = self.certification_info.setdefault(item, entry)
            if stored is not entry:
                previous.append(stored.sequence_number)
                self.certification_info[item] = replace(
                    entry, sequence_number=stored.sequence_number
                )
        return previous


mutate(
    "first_writer_keeps_the_number",
    "WL#8440, AL1 step 4: 'insert/update'",
    "A row keeps the sequence number of its first writer.",
    "conflicting_transactions_are_ordered",
    Parts(certifier=FirstWriterStays),
    locals=False,
)


class ImportsNumbers(Certifier):
    """Imported items keep the donor's larger number."""

    def imported_number(self) -> int | None:
        return self.indexes.sequence_number + 1


register_mutant(
    written_mutant(
        name="joiner_imports_numbers",
        family=FAMILY,
        source="applier.cc, set_certification_info: imported items get -1; proofs C7",
        fault="A joiner stores imported items with a number, and waits for nobody to bear it.",
        caught_by="last_committed_is_below_sequence_number",
        subject=GroupSubject(Parts(certifier=ImportsNumbers)),
        workload=Workload(
            transactions=6,
            rows=1,
            members=2,
            options={"absent": 1, "departures": 0, "barriers": False},
        ),
    )
)
