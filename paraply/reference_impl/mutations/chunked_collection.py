"""Mutants of purging and window opening."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from typing import Any

from paraply.reference_impl.certification.certifier import Certifier, Decision, StoredVersion
from paraply.reference_impl.certification.gtids import Gtid, GtidSet
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutations.garbage_collection import mutate
from paraply.vocabulary.write_set import Item, sorted_items


class CollectsInChunks(Certifier):
    """The window opens a transaction after partial collection."""

    is_between_chunks = False

    def on_stable_set(self, stable_set: GtidSet) -> frozenset[Item] | None:
        self.stable_set |= stable_set
        info = self.certification_info
        collectable = sorted_items(
            frozenset(item for item, stored in info.items() if self.is_collectable(stored))
        )
        purged = frozenset(collectable[: (len(collectable) + 1) // 2])
        for item in purged:
            del self.certification_info[item]
        self.is_between_chunks = True
        return purged

    def on_transaction_delivered(self, *arguments: Any, **named: Any) -> Decision:
        decision = super().on_transaction_delivered(*arguments, **named)
        if self.is_between_chunks:
            self.is_between_chunks = False
            self.indexes.on_garbage_collected()
        return decision


mutate(
    "window_opens_after_the_last_chunk",
    "PS-8450, percona-server pull request 4991: the mutex is released between chunks",
    "A transaction certified between two chunks of a collection finds neither item nor window.",
    "window_covers_what_was_purged",
    GroupSubject(Parts(certifier=CollectsInChunks)),
)


class LooksAtTheWriterOnly(Certifier):
    """Collection checks the writer, not its version."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.writer_of: dict[GtidSet, Gtid] = {}

    def on_gtid_certified(self, gtid: Gtid) -> None:
        super().on_gtid_certified(gtid)
        for stored in self.certification_info.values():
            if gtid in stored.version:
                self.writer_of.setdefault(stored.version, gtid)

    def is_collectable(self, stored: StoredVersion) -> bool:
        writer = self.writer_of.get(stored.version)
        return super().is_collectable(stored) if writer is None else writer in self.stable_set


mutate(
    "writer_decides_instead_of_its_version",
    "certifier.cc: garbage_collect compares versions; facts, 8.1",
    "An item is purged once its writer is stable, the newest stable version among them.",
    "only_superseded_versions_are_purged",
    GroupSubject(Parts(certifier=LooksAtTheWriterOnly)),
)
