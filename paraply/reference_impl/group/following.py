"""Compares one recorded member with a reference certifier."""

from __future__ import annotations

import copy
from collections.abc import Container
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import cast

from paraply.reference_impl.certification.certifier import CertificationRequest, Certifier, Decision
from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.certification.garbage_collection import CollectionRound
from paraply.reference_impl.certification.gtid_generator import GtidGenerator
from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.certification.gtids import GtidSet as PlainGtidSet
from paraply.reference_impl.group.comparison import DIFFERENCES_MAX, Comparison, Difference
from paraply.reference_impl.group.recorded_sets import RecordedSet, source_name
from paraply.vocabulary.group_trace import (
    ExecutedSetDelivered,
    GroupTrace,
    InfoDonated,
    LoggedDecision,
    MemberRecovered,
    MemberUuid,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.gtid_set import Gtid as RecordedGtid
from paraply.vocabulary.write_set import Item


class RecordedGenerator(GtidGenerator):
    """The reference's generator, with recorded intervals."""

    def numbers_taken(self, taken: AbstractSet[Gtid]) -> Container[int]:
        """Return the group's taken numbers."""
        if isinstance(taken, RecordedSet):
            return taken.numbers()
        return super().numbers_taken(taken)


@dataclass(slots=True)
class _State:
    certifier: Certifier
    round: CollectionRound
    online: set[MemberUuid]
    counted: Comparison
    exported: dict[Item, PlainGtidSet] | None = None
    """Certification info after the last view."""
    pending: PlainGtidSet | None = None
    """A stable set to collect."""

    def copied(self) -> _State:
        certifier = copy.copy(self.certifier)
        certifier.certification_info = dict(certifier.certification_info)
        certifier.indexes = copy.copy(certifier.indexes)
        certifier.generator = copy.copy(certifier.generator)
        certifier.generator.blocks = dict(certifier.generator.blocks)
        certifier.generator.free = list(certifier.generator.free)
        round_ = copy.copy(self.round)
        round_.reports = dict(round_.reports)
        counted = replace(self.counted, differences=list(self.counted.differences))
        return _State(certifier, round_, set(self.online), counted, self.exported, self.pending)


class Follower:
    """Follows one membership."""

    def __init__(self, trace: GroupTrace, member: MemberUuid, dialect: str) -> None:
        self.trace = trace
        self.member = member
        certifier = Certifier(
            dialect_named(dialect),
            generator=RecordedGenerator(trace.block_size),
            detects_conflicts=trace.is_multi_primary,
        )
        certifier.group_gtid_executed = self._set(EMPTY_GTID_SET)
        certifier.group_gtid_extracted = self._set(EMPTY_GTID_SET)
        certifier.stable_set = self._set(EMPTY_GTID_SET)
        self.state = _State(certifier, CollectionRound(), set(), Comparison())
        self._checkpoint: tuple[int, _State] | None = None
        self._collect_before: int | None = None
        self._steps_by_number: dict[int, int] = {}

    def _set(self, gtids: GtidSet) -> PlainGtidSet:
        return cast("PlainGtidSet", RecordedSet(gtids, self.trace.group_name))

    def _plain(self, gtid: RecordedGtid) -> Gtid:
        return Gtid(source_name(gtid.source, self.trace.group_name), gtid.number)

    def follow(self, start: int, end: int) -> Comparison:
        """Compare the steps before ``end``."""
        recorded = [
            number
            for number in range(start, end)
            if isinstance(step := self.trace.steps[number], TransactionDelivered)
            and self.member in step.decided
        ]
        last_recorded = max(recorded, default=start)
        if end == len(self.trace.steps):
            last_recorded = end
        number = start
        while number < end and len(self.state.counted.differences) < DIFFERENCES_MAX:
            if number == self._collect_before:
                self._collect()
            step = self.trace.steps[number]
            if isinstance(step, ViewInstalled):
                self._on_view(number, step, is_first=number == start)
            elif isinstance(step, MemberRecovered):
                self.state.online.add(step.member)
            elif isinstance(step, InfoDonated):
                self._on_donated(number, step)
            elif isinstance(step, ExecutedSetDelivered):
                self._on_report(number, step)
            elif number <= last_recorded:
                went_back = self._on_transaction(number, step)
                if went_back is not None:
                    number = went_back
                    continue
            number += 1
        return self.state.counted

    # Views and donations.

    def _on_view(self, number: int, view: ViewInstalled, *, is_first: bool) -> None:
        self._collect()
        state = self.state
        state.online = (state.online if not is_first else set(view.members)) & set(view.members)
        state.online -= set(view.joined)
        state.round.on_view_change()
        is_joiner = is_first and self.member in view.joined
        if is_joiner:
            self._import(number)
        if view.joined:
            self._collect_on_join(view, is_joiner=is_joiner)
        if view.joined:
            state.certifier.on_view_change()
        # A joiner has its donor's state: nothing to compare.
        if not is_joiner:
            state.exported = dict(state.certifier.export_certification_info())

    def _import(self, number: int) -> None:
        donated = next(step for step in self.trace.steps[number:] if isinstance(step, InfoDonated))
        extracted = self._set(donated.extracted)
        self.state.certifier.import_certification_info(
            {item: self._set(version) for item, version in donated.info.items()},
            extracted,
            extracted,
        )

    def _collect_on_join(self, view: ViewInstalled, *, is_joiner: bool) -> None:
        told = [self._set(view.executed[m]) for m in view.members if m not in view.joined]
        certifier = self.state.certifier
        stable = self.state.round.stable_set_at_join(certifier.dialect, told)
        if not stable:
            return
        if is_joiner:
            if certifier.dialect.hands_on_stable_set:
                certifier.stable_set |= stable
        elif certifier.on_stable_set(stable) is not None:
            self.state.counted.collections_on_join += 1

    def _on_donated(self, number: int, step: InfoDonated) -> None:
        exported = self.state.exported
        if exported is None:
            return
        self.state.exported = None
        recorded: dict[Item, PlainGtidSet] = {
            item: self._set(version) for item, version in step.info.items()
        }
        self.state.counted.donated_items += len(recorded)
        for item in sorted({*recorded, *exported}, key=str):
            if recorded.get(item) != exported.get(item):
                self._differ(
                    number, "certification info",
                    f"{item} at {_text(exported.get(item))}", _text(recorded.get(item)),
                )  # fmt: skip
                return

    # Garbage collection.

    def _on_report(self, number: int, step: ExecutedSetDelivered) -> None:
        stable = self.state.round.on_executed_set(
            step.sender, self._set(step.executed), self.state.online
        )
        if stable is None:
            return
        self._collect()
        if stable <= self.state.certifier.stable_set and (
            self.state.certifier.dialect.collects_only_if_stable_grew
        ):
            return
        self.state.pending = stable
        self._steps_by_number = {}
        self._collect_before = None
        self._checkpoint = (number + 1, self.state.copied())

    def _collect(self) -> None:
        if self.state.pending is not None:
            self.state.certifier.on_stable_set(self.state.pending)
            self.state.counted.collections += self._collect_before is not None
            self.state.pending = None
        self._checkpoint = None
        self._collect_before = None

    # Transactions.

    def _on_transaction(self, number: int, step: TransactionDelivered) -> int | None:
        state = self.state
        is_local = step.origin == self.member
        recorded = step.decided.get(self.member)
        if recorded is not None and recorded.sequence_number is not None:
            self._steps_by_number[recorded.sequence_number] = number
        decision = state.certifier.on_transaction_delivered(
            self._request(step),
            is_local=is_local,
            gtid_executed=state.certifier.group_gtid_executed,
        )
        timestamp = decision.timestamp
        if (
            recorded is not None
            and timestamp is not None
            and self._tells_of_collection(number, timestamp.last_committed, recorded)
        ):
            return self._go_back(recorded)
        self._count(step, decision, is_local=is_local)
        self._compare(number, decision, recorded, is_local=is_local)
        return None

    def _request(self, step: TransactionDelivered) -> CertificationRequest:
        specified = step.specified
        return CertificationRequest(
            origin=step.origin,
            snapshot_version=self._set(step.snapshot),
            items=step.items,
            specified_gtid=self._plain(specified) if specified else None,
            is_create_select=step.is_create_select,
            is_empty=step.is_empty,
        )

    def _tells_of_collection(self, number: int, expected: int, recorded: LoggedDecision) -> bool:
        if self._checkpoint is None or self._collect_before is not None:
            return False
        window = recorded.last_committed
        return (
            window is not None
            and window > expected
            and self._steps_by_number.get(window + 1, -1) in range(self._checkpoint[0], number + 1)
        )

    def _go_back(self, recorded: LoggedDecision) -> int:
        assert self._checkpoint is not None
        assert recorded.last_committed is not None
        number, state = self._checkpoint
        self.state = state.copied()
        self._collect_before = self._steps_by_number[recorded.last_committed + 1]
        return number

    def _count(self, step: TransactionDelivered, decision: Decision, *, is_local: bool) -> None:
        counted = self.state.counted
        if not decision.is_positive:
            counted.refusals += 1
        elif is_local:
            counted.local_transactions += 1
        else:
            counted.remote_transactions += 1

    def _compare(
        self,
        number: int,
        decision: Decision,
        recorded: LoggedDecision | None,
        *,
        is_local: bool,
    ) -> None:
        if recorded is None or not decision.is_positive:
            if decision.is_positive or recorded is not None:
                expected = "certified" if decision.is_positive else decision.reason
                self._differ(
                    number, "verdict", expected, "refused" if recorded is None else "certified"
                )
            return
        assert decision.gtid is not None
        gtid = self._plain(recorded.gtid)
        if gtid != decision.gtid:
            self._differ(number, "gtid", str(decision.gtid), str(gtid))
        timestamp = decision.timestamp
        if is_local or timestamp is None:
            return
        expected_numbers = (timestamp.last_committed, timestamp.sequence_number)
        numbers = (recorded.last_committed, recorded.sequence_number)
        if numbers != expected_numbers:
            self._differ(number, "timestamp", str(expected_numbers), str(numbers))

    def _differ(self, number: int, what: str, expected: str, recorded: str) -> None:
        self.state.counted.differences.append(
            Difference(
                member=self.member, step=number, what=what, expected=expected, recorded=recorded
            )
        )


def _text(version: PlainGtidSet | None) -> str:
    if version is None:
        return "nothing"
    return str(version.held) if isinstance(version, RecordedSet) else str(version)
