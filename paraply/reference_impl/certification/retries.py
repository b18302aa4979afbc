"""A replication channel into a group, with retries.

With replica_preserve_commit_order an earlier transaction may roll back a certified one. The worker
resends it with the same GTID. The rows differ, so only the GTID decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from paraply.reference_impl.causes import OWN_GTID_USED
from paraply.reference_impl.certification.certifier import CertificationRequest, Certifier
from paraply.reference_impl.certification.dialects import DIALECTS, dialect_named
from paraply.reference_impl.certification.gtids import GROUP_NAME, Gtid
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Cause, Option, Subject, Workload, register_subject
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.timestamps import SnapshotVersion
from paraply.vocabulary.transactions import Transaction, TransactionId

PRIMARY = "r1"
AT_REST = "at rest"


class CertifierRetriesSubject(Subject):
    """The primary's certifier behind a retrying channel."""

    name = "certifier_retries"
    meaning = "a channel into a group: certified, rolled back for commit order, certified again"
    source = "MySQL bug 34157846; Certifier::certify, specified GTIDs"
    dialects = ("mysql_8_4", *(name for name in DIALECTS if name != "mysql_8_4"))
    options = (
        Option(name="rollbacks", default=1, meaning="certified transactions that are rolled back"),
        Option(name="reuses", default=1, meaning="transactions sent under an executed GTID"),
    )
    breaks: ClassVar[Mapping[str, frozenset[str]]] = {
        name: frozenset({"retries_are_certified_again"})
        for name, dialect in DIALECTS.items()
        if not dialect.may_certify_gtid_again
    }
    causes: ClassVar[Mapping[str, Cause]] = {"retries_are_certified_again": OWN_GTID_USED}

    # One member, different rows, no collection.
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "": frozenset(
            {
                "changes_land_as_certified",
                "members_converge",
                "two_writers_race",
                "two_members_certify_one_transaction",
                "first_certified_wins",
                "members_decide_alike",
                "a_group_comes_to_rest",
                "members_execute_the_same",
                "something_is_purged",
                "a_purged_row_is_written_again",
                "a_collection_overtakes_nothing_in_flight",
                "collection_never_changes_a_decision",
                "a_member_collects_after_broadcasts",
                "every_member_reports_in_the_last_view",
                "reported_rounds_end_in_a_collection",
                "stable_set_is_executed_everywhere",
                "nothing_needed_is_purged",
                "window_covers_what_was_purged",
                "certification_info_is_bounded",
                "only_stored_items_are_purged",
                "only_superseded_versions_are_purged",
                "members_commit_in_different_orders",
                "remote_transactions_commit_as_certified",
                "own_transactions_commit_after_what_they_saw",
                "two_members_pass_a_view",
            }
        )
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Send all transactions."""
        certifier = Certifier(dialect_named(dialect), detects_conflicts=False)
        channel = _Channel(certifier, recorder, workload)
        channel.rollbacks_left = int(options["rollbacks"])
        channel.reuses_left = int(options["reuses"])
        recorder.record(EventKind.STARTED, member=PRIMARY)
        while happenings := channel.happenings():
            recorder.next_step()
            schedule.choose(happenings, "what happens next")()
        recorder.record(
            EventKind.STOPPED,
            member=PRIMARY,
            note=AT_REST,
            version=SnapshotVersion(len(channel.executed)),
        )
        return (PRIMARY,)


class _Channel:
    def __init__(self, certifier: Certifier, recorder: Recorder, workload: Workload) -> None:
        self.certifier = certifier
        self.recorder = recorder
        self.unsent = workload.transactions
        self.rollbacks_left = self.reuses_left = 0
        self.certified: list[tuple[TransactionId, Gtid]] = []
        self.executed: list[Gtid] = []
        self.attempts: dict[TransactionId, int] = {}

    def happenings(self) -> list[Callable[[], None]]:
        found: list[Callable[[], None]] = []
        if self.certified:
            found.append(self.execute)
        if self.unsent:
            found.append(self.send)
        if self.certified and self.rollbacks_left:
            found.append(self.roll_back)
        if self.executed and self.reuses_left:
            found.append(self.reuse)
        return found

    def send(self) -> None:
        self.unsent -= 1
        self.submit(Gtid(GROUP_NAME, len(self.attempts) + 1))

    def reuse(self) -> None:
        self.reuses_left -= 1
        self.submit(self.executed[-1])

    def submit(self, gtid: Gtid) -> None:
        number = self.recorder.next_id()
        write_set = frozenset({f"row{number}"})
        transaction = self.recorder.add(
            Transaction(id=number, gtid=str(gtid), origin=PRIMARY, write_set=write_set)
        )
        self.recorder.record(EventKind.SUBMITTED, member=PRIMARY, transaction=transaction)
        self.certify(transaction, gtid)

    def certify(self, transaction: TransactionId, gtid: Gtid) -> None:
        attempt = self.attempts[transaction] = self.attempts.get(transaction, 0) + 1
        decision = self.certifier.on_transaction_delivered(
            CertificationRequest(
                origin=PRIMARY,
                snapshot_version=frozenset(self.executed),
                items=tuple(self.recorder.transactions[int(transaction) - 1].write_set),
                specified_gtid=gtid,
            ),
            is_local=True,
            gtid_executed=frozenset(self.executed),
        )
        self.recorder.record(
            EventKind.CERTIFIED,
            member=PRIMARY,
            transaction=transaction,
            attempt=attempt,
            outcome=decision.outcome,
            gtid=str(decision.gtid or ""),
            note=decision.reason,
        )
        if decision.is_positive:
            self.certified.append((transaction, gtid))

    def execute(self) -> None:
        transaction, gtid = self.certified.pop(0)
        self.executed.append(gtid)
        self.recorder.record(EventKind.ENGINE_COMMITTED, member=PRIMARY, transaction=transaction)

    def roll_back(self) -> None:
        self.rollbacks_left -= 1
        transaction, gtid = self.certified.pop()
        attempt = self.attempts[transaction]
        self.recorder.record(
            EventKind.ROLLED_BACK, member=PRIMARY, transaction=transaction, attempt=attempt
        )
        self.recorder.record(
            EventKind.RETRIED, member=PRIMARY, transaction=transaction, attempt=attempt + 1
        )
        self.certify(transaction, gtid)


CERTIFIER_RETRIES = register_subject(CertifierRetriesSubject())
