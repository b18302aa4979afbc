"""Monitors of theorems on a live round, as far as its recording has what they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from paraply.adapters.live.translation import SOURCE
from paraply.models.recorded import (
    group_segments,
    group_traces,
    replicas,
    unordered_groups,
    whole_groups,
)
from paraply.models.recorded.following import Recorded, Segment
from paraply.models.recorded.group_segments import GroupSegment, Run
from paraply.models.recorded.monitored import MonitorFinding
from paraply.models.recorded.monitors import MONITORS, TWO_LOGS, Monitor
from paraply.models.recorded.two_logs import monitor_orders
from paraply.vocabulary.counting import counted
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.group_trace import GroupTrace
from paraply.vocabulary.history import History
from paraply.vocabulary.verdict import Verdict, combine

SEGMENTS_MAX = 200
"""Of a round and theorem, spread over the recording."""
_AT_COMMIT = "workers start and change rows just before they commit"
_WHOLE_GROUP: tuple[tuple[tuple[str, ...], Callable[[History], Recorded], bool], ...] = (
    (("P49",), whole_groups.group, True),
    (("P54",), whole_groups.parallel_group, True),
    (("P53", "P55"), unordered_groups.parallel_group, False),
)
"""Theorems, how a run is read for the system that they share, and whether it commits in order."""
_READS = replace(MONITORS["P08"], supplies="the replica commits in the order of its log (P07)")
_FIRST = replace(MONITORS["P03"], systems=(2, 3))
"""Since MySQL 8.3, a start's first remote transaction stands for the view change."""
LIVE_MONITORS = ("P01", "P02", "P03", "P04", "P05", "P06", "P08", "P49", "P50", "P53", "P54",
                 "P55", "P56")  # fmt: skip


class _Named(NamedTuple):
    name: str
    domain: int


def monitor_round(
    history: History, trace: GroupTrace | None, asked: Collection[str]
) -> Iterator[MonitorFinding]:
    """Yield what monitors say of a round of a pair, by properties ``asked``, or of a group."""
    if trace is not None:
        run = group_segments.run_of(history, trace)
        yield from _of_group(trace, run)
        yield from _of_whole_group(run)
        return
    members = [one for one in history.members if one != SOURCE]
    if TWO_LOGS["P50"].prop in asked:
        each = [_exactly_once(history, member) for member in members]
        yield _worst(TWO_LOGS["P50"], [(one.verdict, one.reason, one.steps) for one in each])
    if _READS.prop in asked and len({one.domain for one in history.transactions}) > 1:
        yield _READS.finding(Verdict.UNKNOWN, "several domains, each with an order of its own", 0)
    elif _READS.prop in asked:
        reads = chain.from_iterable(replicas.snapshots(history, member) for member in members)
        yield monitor_segments(_READS, list(reads), "a read that shows the middle of it")


def _exactly_once(history: History, member: str) -> MonitorFinding:
    named = {one.id: _Named(f"T{one.id}", one.domain or 0) for one in history.transactions}
    done = [
        named[event.transaction]
        for event in history.events_of(EventKind.ENGINE_COMMITTED, member=member)
        if event.transaction in named
    ]
    return monitor_orders("P50", list(named.values()), done)


def _of_group(trace: GroupTrace, run: Run) -> Iterator[MonitorFinding]:
    decided = list(group_traces.certifications(trace))
    firsts = [
        one for uuid, member in zip(trace.members, run.names, strict=True)
        for one in group_traces.firsts(trace, uuid, run.committed(member))
    ]  # fmt: skip
    numbered = [one for member in trace.members for one in group_traces.numbers(trace, member)]
    choices: dict[str, tuple[Sequence[Segment], Callable[[Segment], object], str]] = {
        "P01": (numbered, lambda one: True, "a number after one that it depends on"),
        "P02": (numbered, lambda one: one.recorded.start["empty"], "a barrier with another"),
        "P04": (numbered, lambda one: True, "a number after one that it depends on"),
        "P05": (decided, lambda one: not _is_refusal(one), "a second writer of a row"),
        "P06": (decided, _is_refusal, "a refusal"),
    }
    for theorem, (segments, is_about, what) in choices.items():
        chosen = [one for one in segments if is_about(one)]
        yield monitor_segments(MONITORS[theorem], chosen, what)
    yield MONITORS["P56"].finding(Verdict.UNKNOWN, "sessions wait for no acknowledgement", 0)
    yield monitor_segments(_FIRST, firsts, "a member's first remote transaction after a start")


def _of_whole_group(run: Run) -> Iterator[MonitorFinding]:
    """Follow all members together, with their numbers, workers, row locks and sessions."""
    disorder, left_out = group_segments.disorder(run), len(run.left_out)
    supplies = _AT_COMMIT
    if left_out:
        supplies += f"; {left_out} left out that lack what their member joined with"
    for theorems, read, is_in_order in _WHOLE_GROUP:
        each = [replace(MONITORS[one], supplies=supplies, values_max=0) for one in theorems]
        if disorder and is_in_order:
            reason = f"{disorder}: sessions wait for no other member, and P55 is about that"
            yield from (one.finding(Verdict.UNKNOWN, reason, 0) for one in each)
            continue
        whole = list(group_segments.segments(run, read))
        found = monitor_segments(each[0], whole, "a second writer of a row")
        yield from (one.finding(found.verdict, found.reason, found.steps) for one in each)


def _is_refusal(one: Segment) -> bool:
    return one.recorded.steps[-1].actions == ("certify_negatively",)


def monitor_segments(
    monitor: Monitor, segments: Sequence[Segment | GroupSegment], what: str
) -> MonitorFinding:
    """Return what a monitor says of segments; ``what`` is one of them, which none may be."""
    chosen = segments[:: -(-len(segments) // SEGMENTS_MAX) or 1]
    found = []
    for one in chosen:
        followed = monitor.best(one.recorded)
        found.append((followed.verdict, f"{one.name}: {followed.reason}", followed.steps))
    if not found:
        return monitor.finding(Verdict.UNKNOWN, f"the recording does not have {what}", 0)
    worst = _worst(monitor, found)
    if worst.verdict is not Verdict.HOLDS:
        return worst
    held = f"{len(chosen):,} of {counted(len(segments), 'segment')}, each a run"
    return monitor.finding(Verdict.HOLDS, held, worst.steps)


def _worst(monitor: Monitor, found: Sequence[tuple[Verdict, str, int]]) -> MonitorFinding:
    verdict = combine(one for one, _, _ in found)
    reason = next((why for one, why, _ in found if one is verdict), "no replica")
    return monitor.finding(verdict, reason, sum(steps for _, _, steps in found))
