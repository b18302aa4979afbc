"""Records one certifier's decisions on manual or scheduled input.

``r2`` sends transactions whose snapshot is a prefix of the certified ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from paraply.reference_impl.certification.certifier import CertificationRequest, Certifier, Decision
from paraply.reference_impl.certification.gtids import NO_GTIDS, Gtid, GtidSet, format_gtid_set
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.timestamps import VIEW_CHANGE, SnapshotVersion
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

HERE = "r1"
ELSEWHERE = "r2"
AT_REST = "at rest"


class CertifierRun:
    """Drives and records ``r1``'s certifier.

    ``certified`` lists positive transactions; a snapshot is a prefix length.
    """

    def __init__(self, certifier: Certifier, recorder: Recorder | None = None) -> None:
        self.certifier = certifier
        self.recorder = recorder or Recorder()
        self.certified: list[tuple[TransactionId, Gtid]] = []
        self.committed_here = 0
        """Committed prefix of ``certified``."""
        self.stable = 0
        """Stable prefix of ``certified``."""
        self.views = 1
        self.recorder.record(EventKind.STARTED, member=HERE)

    def deliver(
        self,
        items: Iterable[Item] = (),
        *,
        kind: TransactionKind | None = None,
        origin: str = ELSEWHERE,
        snapshot: int | None = None,
        specified: Gtid | None = None,
    ) -> Decision:
        """Send and certify one transaction.

        ``snapshot`` counts certified transactions, None for all.
        """
        items = tuple(items)
        kind = kind or (TransactionKind.ROWS if items else TransactionKind.NO_WRITE_SET)
        is_local = origin == HERE
        length = len(self.certified) if snapshot is None else snapshot
        if is_local:
            self.commit_here(length)
        seen = self.certified[:length]
        version: GtidSet = frozenset(gtid for _, gtid in seen)
        self.recorder.next_step()
        transaction = self.recorder.add(
            Transaction(
                id=self.recorder.next_id(),
                kind=kind,
                gtid=str(specified) if specified else "",
                origin=origin,
                write_set=frozenset(items),
                snapshot_gtids=format_gtid_set(version),
            )
        )
        self.recorder.record(
            EventKind.SUBMITTED,
            member=origin,
            transaction=transaction,
            gtid_set=format_gtid_set(version),
            transactions=tuple(one for one, _ in seen),
        )
        decision = self.certifier.on_transaction_delivered(
            CertificationRequest(
                origin=origin,
                snapshot_version=version,
                items=items,
                specified_gtid=specified,
                is_create_select=kind is TransactionKind.CTAS,
            ),
            is_local=is_local,
            gtid_executed=frozenset(gtid for _, gtid in self.certified[: self.committed_here]),
        )
        self.recorder.record(EventKind.DELIVERED, member=HERE, transaction=transaction)
        self.recorder.record(
            EventKind.CERTIFIED,
            member=HERE,
            transaction=transaction,
            outcome=decision.outcome,
            timestamp=decision.timestamp,
            gtid=str(decision.gtid or ""),
            note=decision.reason,
        )
        if decision.gtid is not None:
            self.certified.append((transaction, decision.gtid))
        return decision

    def commit_here(self, length: int) -> None:
        """Commit a certified prefix here."""
        for transaction, gtid in self.certified[self.committed_here : length]:
            self.recorder.record(
                EventKind.ENGINE_COMMITTED, member=HERE, transaction=transaction, gtid=str(gtid)
            )
        self.committed_here = max(self.committed_here, length)

    def come_to_rest(self) -> None:
        """Commit all that is certified, and stop."""
        self.recorder.next_step()
        self.commit_here(len(self.certified))
        reached = SnapshotVersion(self.committed_here)
        self.recorder.record(EventKind.STOPPED, member=HERE, note=AT_REST, version=reached)

    def collect(self, stable: int | None = None) -> frozenset[Item]:
        """Collect with a stable prefix."""
        self.stable = max(self.stable, len(self.certified) if stable is None else stable)
        self.recorder.next_step()
        prefix = self.certified[: self.stable]
        purged = self.certifier.on_stable_set(frozenset(gtid for _, gtid in prefix) or NO_GTIDS)
        if purged is not None:
            self.recorder.record(
                EventKind.GARBAGE_COLLECTED,
                member=HERE,
                items=purged,
                gtid_set=format_gtid_set(self.certifier.stable_set),
                transactions=tuple(transaction for transaction, _ in prefix),
            )
        return purged or frozenset()

    def change_view(self) -> None:
        """Install a joiner's view."""
        self.recorder.next_step()
        self.views += 1
        gtid = self.certifier.on_view_change()
        if gtid is not None:
            transaction = self.recorder.add(
                Transaction(
                    id=self.recorder.next_id(),
                    kind=TransactionKind.VIEW_CHANGE,
                    gtid=str(gtid),
                    timestamp=VIEW_CHANGE,
                )
            )
            self.recorder.record(
                EventKind.CERTIFIED,
                member=HERE,
                transaction=transaction,
                outcome=Outcome.POSITIVE,
                timestamp=self.certifier.indexes.on_view_change(),
                gtid=str(gtid),
                view=self.views,
            )
            self.certified.append((transaction, gtid))
        self.recorder.record(EventKind.VIEW_INSTALLED, member=HERE, view=self.views)
