"""Combine a group's traffic and logs into a ``GroupTrace``.

Traffic gives the order, logs give the results. Events, not GTIDs or places, identify transactions,
so that logs are independent evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraply.adapters.group_wire.capture import read_frames
from paraply.adapters.group_wire.errors import CAPTURE_INCOMPLETE, TRACE_DISAGREES
from paraply.adapters.group_wire.logged import LoggedContents
from paraply.adapters.group_wire.messages import (
    Donation,
    ExecutedReport,
    Recovered,
    SentTransaction,
    StateExchange,
    decode_message,
)
from paraply.adapters.group_wire.tcp import reassemble
from paraply.adapters.group_wire.xcom import APPLICATION, VIEW, Cargo, Place, decided, read_messages
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.group_trace import (
    ExecutedSetDelivered,
    GroupTrace,
    InfoDonated,
    MemberRecovered,
    MemberUuid,
    Step,
    TransactionDelivered,
    ViewInstalled,
)
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set


def observe_group(
    capture: Path,
    logs: Iterable[LoggedContents],
    *,
    server_version: str,
    group_name: str,
    block_size: int,
    is_multi_primary: bool = True,
) -> GroupTrace:
    """Return a captured run's trace.

    Raises:
        ParaplyError: P641 or P642 from the traffic; P643, a logged transaction of the group is
            missing from the traffic.
    """
    by_member = {log.uuid: log for log in logs}
    order = decided(read_messages(reassemble(read_frames(capture))))
    steps = _Steps(by_member)
    for _, place, cargos in order:
        for cargo in cargos:
            steps.on_cargo(place, cargo)
    found = steps.finished()
    known = {
        decision.gtid
        for step in found
        if isinstance(step, TransactionDelivered)
        for decision in step.decided.values()
    }
    for log in by_member.values():
        # A member that loses its own transaction in a crash recovers it from the others
        # and logs it with other table ids. The other logs have it as sent.
        strange = [gtid for gtid in log.unclaimed(group_name) if gtid not in known]
        if strange:
            raise ParaplyError(
                TRACE_DISAGREES,
                reason=f"{strange[0]} is in the log of {log.uuid} only",
            )
    return GroupTrace(
        server_version=server_version,
        group_name=group_name,
        block_size=block_size,
        members=tuple(by_member),
        steps=tuple(views_before_what_joiners_certified(found)),
        is_multi_primary=is_multi_primary,
    )


@dataclass(frozen=True, slots=True)
class _Announced:
    step: int
    expected: int
    exchanged: dict[int, StateExchange] = field(default_factory=dict)


class _Steps:
    """Members queue deliveries while they exchange states, and process them after the view."""

    def __init__(self, logs: Mapping[MemberUuid, LoggedContents]) -> None:
        self._logs = logs
        self._steps: list[Step | None] = []
        self._nodes: dict[int, MemberUuid] = {}
        self._members: tuple[MemberUuid, ...] = ()
        self._announced: dict[Place, _Announced] = {}

    def on_cargo(self, place: Place, cargo: Cargo) -> None:
        if cargo.kind == VIEW:
            self._announced[place] = _Announced(len(self._steps), sum(cargo.present))
            self._steps.append(None)  # The view takes this place, if it is installed.
        elif cargo.kind == APPLICATION:
            self._on_message(place, cargo.data)

    def _on_message(self, place: Place, data: bytes) -> None:
        message = decode_message(data)
        if isinstance(message, StateExchange):
            self._on_exchange(place.node, message)
        elif isinstance(message, SentTransaction):
            self._steps.append(self._transaction(message))
        elif isinstance(message, ExecutedReport):
            sender = self._nodes.get(place.node)
            if sender is None:
                reason = f"node {place.node} reports at {place} and no view with it was seen"
                raise ParaplyError(CAPTURE_INCOMPLETE, reason=reason)
            self._steps.append(ExecutedSetDelivered(sender=sender, executed=message.executed))
        elif isinstance(message, Recovered):
            self._steps.append(MemberRecovered(member=message.uuid))
        elif isinstance(message, Donation):
            self._steps.append(InfoDonated(extracted=message.extracted, info=message.info))

    def _on_exchange(self, node: int, exchange: StateExchange) -> None:
        # An announcement without changes gets no answer.
        view = self._announced.get(exchange.announced_at)
        if view is None:
            raise ParaplyError(
                TRACE_DISAGREES,
                reason=f"states are exchanged for a view at {exchange.announced_at},"
                " which was not announced",
            )
        view.exchanged[node] = exchange
        if len(view.exchanged) == view.expected:
            self._install(view)

    def _install(self, view: _Announced) -> None:
        states = {node: exchange.members[0] for node, exchange in view.exchanged.items()}
        self._nodes = {node: state.uuid for node, state in states.items()}
        members = tuple(self._nodes[node] for node in sorted(self._nodes))
        if not self._members:  # The founder was alone before the first observed view.
            self._members = tuple(s.uuid for s in states.values() if s.state == "ONLINE")
        self._steps[view.step] = ViewInstalled(
            members=members,
            joined=tuple(m for m in members if m not in self._members),
            left=tuple(m for m in self._members if m not in members),
            executed={state.uuid: state.executed for state in states.values()},
        )
        self._members = members

    def _transaction(self, sent: SentTransaction) -> TransactionDelivered:
        context, event = sent.context, sent.gtid
        specified = parse_gtid(event.gtid) if context.gtid_specified else None
        found = {uuid: log.claim(sent.content, specified) for uuid, log in self._logs.items()}
        return TransactionDelivered(
            origin=context.server_uuid,
            snapshot=parse_snapshot(context.snapshot_version),
            items=context.write_set,
            specified=specified,
            is_create_select=(event.last_committed, event.sequence_number) == (0, 0),
            is_empty=event.last_committed == -1,
            decided={uuid: logged for uuid, logged in found.items() if logged is not None},
        )

    def finished(self) -> list[Step]:
        return [step for step in self._steps if step is not None]


def views_before_what_joiners_certified(steps: Sequence[Step]) -> list[Step]:
    """Return the steps with each view before its joiners' certifications.

    Members queue deliveries while they exchange states, also over a repeated announcement. The
    joiner's logged timestamps show where the queue began.
    """
    moved: list[Step] = []
    since_view = 0
    for step in steps:
        if not isinstance(step, ViewInstalled):
            moved.append(step)
            continue
        place = next(
            (
                number
                for number, kept in enumerate(moved[since_view:], since_view)
                if isinstance(kept, TransactionDelivered) and _certified_by(kept, step.joined)
            ),
            len(moved),
        )
        moved.insert(place, step)
        since_view = place + 1
    return moved


def _certified_by(step: TransactionDelivered, members: Sequence[MemberUuid]) -> bool:
    found = (step.decided.get(member) for member in members)
    return any(one is not None and one.last_committed is not None for one in found)


def parse_snapshot(text: str) -> GtidSet:
    """Return a transaction context's set; empty text is empty."""
    return parse_gtid_set(text) if text else EMPTY_GTID_SET
