"""One certifier as a subject, without a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from paraply.reference_impl.causes import BARRIER, COLLECTION, GTID_TWICE
from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.dialects import DIALECTS, dialect_named
from paraply.reference_impl.certification.gtids import GROUP_NAME, Gtid
from paraply.reference_impl.certification.run import ELSEWHERE, HERE, CertifierRun
from paraply.reference_impl.choices import choose_writes
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import (
    Cause,
    KnownBreaches,
    Option,
    Subject,
    Workload,
    register_subject,
)
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule

BROKEN_BY_TIMESTAMPS: Mapping[str, frozenset[str]] = {
    "wl8440_literal": frozenset(
        {
            "barriers_are_ordered_with_all",
            "last_committed_is_below_sequence_number",
            "last_committed_is_minimal",
        }
    ),
    "mysql_8_0": frozenset({"sequence_numbers_are_contiguous"}),
    "mysql_8_3": frozenset({"sequence_numbers_are_contiguous"}),
}
"""Breaches by a dialect's timestamps."""
CAUSES_OF_TIMESTAMPS: Mapping[str, Cause] = {
    "sequence_numbers_are_contiguous": COLLECTION,
    "last_committed_is_below_sequence_number": COLLECTION,
    "last_committed_is_minimal": COLLECTION,
    "barriers_are_ordered_with_all": BARRIER,
}
"""What comes before each."""
_VIEW_CHANGES = frozenset(
    {
        "a_view_change_is_logged",
        "a_view_changes_while_transactions_are_queued",
        "view_changes_are_zero_zero",
        "view_changes_are_applied_alone",
    }
)
WITHOUT_VIEW_CHANGES: Mapping[str, frozenset[str]] = {
    name: _VIEW_CHANGES for name, dialect in DIALECTS.items() if not dialect.logs_view_change
}
"""View change properties of dialects that log none (servers from 8.3)."""


class CertifierSubject(Subject):
    """A certifier without a group."""

    name = "certifier"
    meaning = "one certifier of group replication: conflicts, GTIDs, last_committed"
    source = "WL#8440, algorithm AL1"
    dialects = tuple(DIALECTS)
    options = (
        Option(name="collections", default=2, small=1, meaning="how often garbage is collected"),
        Option(name="views", default=1, small=0, meaning="how often somebody else joins"),
        Option(name="locals", default=True, meaning="some transactions are local"),
        Option(name="lag", default=1, meaning="certified transactions a snapshot may lack"),
        Option(
            name="barriers",
            default=True,
            meaning="submit transactions without write set",
        ),
        Option(name="duplicates", default=False, meaning="an item may come twice in a write set"),
        Option(name="specified", default=False, meaning="some transactions bring their GTID"),
    )
    breaks = BROKEN_BY_TIMESTAMPS
    causes = CAUSES_OF_TIMESTAMPS
    breaks_where = (
        KnownBreaches(
            where="specified=true",
            applies=lambda options: bool(options["specified"]),
            breaks=frozenset(
                {"gtids_are_unique", "first_certified_wins", "certification_info_is_bounded"}
            ),
            because="a GTID that is certified and not yet executed may be certified again; whoever "
            "has seen one of its two transactions passes for having seen both",
            cause=GTID_TWICE,
            dialects=frozenset(
                name for name, dialect in DIALECTS.items() if dialect.may_certify_gtid_again
            ),
        ),
    )
    follows = (
        replace(
            breaks_where[0],
            breaks=frozenset(
                {
                    "collection_never_changes_a_decision",
                    "nothing_needed_is_purged",
                    "only_superseded_versions_are_purged",
                }
            ),
        ),
    )
    # One member: no recovery, no rest of the group, no session logs.
    unreachable: ClassVar[Mapping[str, frozenset[str]]] = {
        "": frozenset(
            {
                "two_members_certify_one_transaction",
                "members_decide_alike",
                "a_group_comes_to_rest",
                "members_execute_the_same",
                "a_member_collects_after_broadcasts",
                "stable_set_is_executed_everywhere",
                "certification_info_is_bounded",
                "a_session_logs_two_transactions",
                "timestamps_keep_session_order",
                "a_joiner_certifies",
                "joiners_certify_as_their_donors",
                "two_members_pass_a_view",
                "no_delivery_crosses_a_view",
                "a_member_recovers_from_a_donor",
                "recovery_reaches_the_view_change",
                "a_joiner_ends_at_rest",
                "members_end_at_rest",
                "every_member_reports_in_the_last_view",
                "reported_rounds_end_in_a_collection",
                "members_commit_in_different_orders",
                "remote_transactions_commit_as_certified",
            }
        ),
        **WITHOUT_VIEW_CHANGES,
    }

    def simulate(
        self,
        schedule: Schedule,
        workload: Workload,
        dialect: str,
        options: Mapping[str, OptionValue],
        recorder: Recorder,
    ) -> tuple[str, ...]:
        """Certify the workload's transactions."""
        run = CertifierRun(Certifier(dialect_named(dialect)), recorder)
        _Stream(run, schedule, workload, options).feed()
        return (HERE, ELSEWHERE)


class _Stream:
    def __init__(
        self,
        run: CertifierRun,
        schedule: Schedule,
        workload: Workload,
        options: Mapping[str, OptionValue],
    ) -> None:
        self.run = run
        self.schedule = schedule
        self.options = options
        self.transactions_left = workload.transactions
        self.collections_left = int(options["collections"])
        self.views_left = int(options["views"])
        self.writers: dict[str, tuple[int, ...]] = dict.fromkeys(workload.row_names, ())

    def feed(self) -> None:
        while self.transactions_left:
            happenings = [self.deliver_remote]
            if self.options["locals"]:
                happenings.append(self.deliver_local)
            if self.collections_left and len(self.run.certified) > self.run.stable:
                happenings.append(self.collect)
            if self.views_left:
                happenings.append(self.change_view)
            self.schedule.choose(happenings, "what happens next")()
        self.run.come_to_rest()

    def deliver_remote(self) -> None:
        newest = len(self.run.certified)
        lag_max = min(int(self.options["lag"]), newest - self.run.stable)
        lag = self.schedule.choose(lag_max + 1, "transactions the snapshot lacks")
        self.deliver(ELSEWHERE, newest - lag)

    def deliver_local(self) -> None:
        self.deliver(HERE, len(self.run.certified))

    def deliver(self, origin: str, snapshot: int) -> None:
        self.transactions_left -= 1
        kind, items = choose_writes(
            self.schedule, self.writers, barriers=bool(self.options["barriers"])
        )
        number = self.run.recorder.next_id()
        for item in items:
            self.writers[item] = (*self.writers[item], number)
        if self.options["duplicates"] and items and self.schedule.choose(2, "item twice"):
            items = (*items, items[0])
        specified = self.choose_gtid() if self.options["specified"] else None
        self.run.deliver(items, kind=kind, origin=origin, snapshot=snapshot, specified=specified)

    def choose_gtid(self) -> Gtid | None:
        greatest = max((gtid.number for _, gtid in self.run.certified), default=0)
        number = self.schedule.choose(greatest + 2, "specified GTID")
        return Gtid(GROUP_NAME, number) if number else None

    def collect(self) -> None:
        self.collections_left -= 1
        longer = len(self.run.certified) - self.run.stable
        self.run.collect(len(self.run.certified) - self.schedule.choose(longer, "not yet stable"))

    def change_view(self) -> None:
        self.views_left -= 1
        self.run.change_view()


CERTIFIER = register_subject(CertifierSubject())
