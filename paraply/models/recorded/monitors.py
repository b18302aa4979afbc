"""Monitors: follow a history as a run of a theorem's system.

A history that the system allows, step by step, is a run of it, so the theorem's statements hold in
each state that the run reaches. The statements and invariants are evaluated there as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from paraply.models.claims.claim import Theorem
from paraply.models.claims.theorems import THEOREMS
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, World, choosing, evaluate
from paraply.models.language.smtlib import text
from paraply.models.language.system import Statement
from paraply.models.language.terms import Quantified, Term, conjuncts, parts_of
from paraply.models.recorded import (
    by_gtid,
    members,
    recoveries,
    replicas,
    sources,
    unordered_groups,
    waiting_groups,
    whole_groups,
)
from paraply.models.recorded.following import Followed, Recorded, RecordedStep, follow, unrecorded
from paraply.models.recorded.monitored import MonitorFinding
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.verdict import Verdict, combine

UNKNOWN_MONITOR = register(
    "P521",
    "there is no monitor of '{name}'",
    "name one of {names}",
)
TRANSACTIONS_MAX = 200
"""Longer histories are not followed."""
VALUES_MAX = 500_000
"""Of all variables in all steps; beyond, statements are not evaluated: the guards imply them."""

GROUP_MAX = 24
"""The same for whole groups, each of whose steps concerns every member and transaction."""
NUMBER_MAX = 2 * TRANSACTIONS_MAX
"""Larger sequence numbers are not followed."""

Readings = Callable[[History], Iterator[Recorded]]
Gap = Callable[[History], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """A theorem, and how a history is read as runs of its systems.

    Attributes:
        prop: the property of histories with the same meaning.
        needs: events without which nothing can be followed.
        ends: events that the systems do not have.
        gap: yields what else a history lacks.
        transactions_max: of a history that is followed.
        systems: numbers of the theorem's systems that are followed; all, if empty.
        values_max: as ``VALUES_MAX``.
        supplies: what the reading adds where nothing is recorded.
        is_by_domain: each domain is read by itself.
    """

    theorem: str
    prop: str
    readings: Readings
    needs: frozenset[EventKind]
    ends: frozenset[EventKind] = frozenset()
    gap: Gap = lambda _: iter(())
    transactions_max: int = TRANSACTIONS_MAX
    systems: tuple[int, ...] = ()
    values_max: int = VALUES_MAX
    supplies: str = ""
    is_by_domain: bool = False

    def finding(self, verdict: Verdict, reason: str, steps: int) -> MonitorFinding:
        """Return what reports show."""
        theorem = theorem_of(self.theorem)
        return MonitorFinding(
            theorem=theorem.id, prop=self.prop, claim=theorem.claim, verdict=verdict,
            reason=reason, steps=steps,
            assumes="; ".join(filter(None, (", ".join(theorem.assumes), self.supplies))),
        )  # fmt: skip

    def judge(self, history: History) -> Monitored:
        """Return whether the history is a run of a system of the theorem.

        HOLDS is the silence that implies the theorem's statements. VIOLATED names the first event
        up to which the history is no run.
        """
        found = self._judge(history)
        if found.verdict is not Verdict.VIOLATED:
            return found
        low, high = 0, len(history.events)
        while high - low > 1:
            middle = (low + high) // 2
            part = replace(history, events=history.events[:middle])
            is_broken = self._judge(part).verdict is Verdict.VIOLATED
            low, high = (low, middle) if is_broken else (middle, high)
        event = history.events[high - 1]
        about = "" if event.transaction is None else f" of T{event.transaction}"
        return replace(found, reason=f"event {high}, {event.kind.value}{about}: {found.reason}")

    def _judge(self, history: History) -> Monitored:
        lacking = next(self._lacking(history), "")
        if lacking:
            return Monitored(verdict=Verdict.UNKNOWN, reason=lacking)
        end = next((n for n, one in enumerate(history.events) if one.kind in self.ends), None)
        read = replace(history, events=history.events[:end])
        each = [self.best(recorded) for recorded in self.readings(read)]
        verdict = combine(one.verdict for one in each)
        worst = next((one for one in each if one.verdict is verdict), NOTHING)
        if verdict is Verdict.HOLDS and end is not None:
            kind = history.events[end].kind.value
            reason = f"event {end + 1}: the model has no {kind}; before it, {worst.reason}"
            return Monitored(verdict=Verdict.UNKNOWN, reason=reason)
        return replace(worst, steps=sum(one.steps for one in each))

    def best(self, recorded: Recorded) -> Monitored:
        """Return the answer of the first system that follows, else the mildest."""
        found: list[Monitored] = []
        for number in self.systems or range(len(theorem_of(self.theorem).systems)):
            found.append(_followed(self.theorem, number, recorded, self.values_max))
            if found[-1].verdict is Verdict.HOLDS:
                return found[-1]
        return min(found, key=lambda one: one.verdict)

    def _lacking(self, history: History) -> Iterator[str]:
        for kind in sorted(self.needs - history.kinds, key=lambda kind: kind.value):
            yield f"no {kind.value} events"
        if len(history.transactions) > self.transactions_max:
            yield f"more than {self.transactions_max} transactions"
        if not self.is_by_domain and len({one.domain for one in history.transactions}) > 1:
            yield "several domains, each with an order of its own"
        yield from self.gap(history)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitored:
    """What a monitor says of a history."""

    verdict: Verdict
    reason: str
    steps: int = 0


NOTHING = Monitored(verdict=Verdict.UNKNOWN, reason="no step was recorded")


@cache
def theorem_of(identifier: str) -> Theorem:
    """Return a theorem by its identifier."""
    return next(theorem for theorem in THEOREMS if theorem.id == identifier)


@cache
def proved(identifier: str, number: int = 0) -> tuple[CompiledReading, tuple[Statement, ...]]:
    """Return one system of a theorem, and its invariants and the theorem's statements."""
    theorem = theorem_of(identifier)
    system = theorem.systems[number]()
    claimed = (one for one in system.safety if one.name in theorem.statements)
    return CompiledReading(system), (*system.invariants, *claimed)


def _values_of(statement: Statement, scope: Scope) -> int:
    """Return how many values an evaluation may try."""

    def count(node: Term) -> int:
        inner = max(map(count, parts_of(node)), default=1)
        return (
            inner * len(scope.values(node.variable.sort)) if isinstance(node, Quantified) else inner
        )

    return count(statement.closed)


def _followed(identifier: str, number: int, recorded: Recorded, values_max: int) -> Monitored:
    if not recorded.steps:
        return replace(NOTHING, reason=recorded.ended or NOTHING.reason)
    reading, statements = proved(identifier, number)
    name = reading.system.name
    values = len(recorded.steps) * sum(_values_of(one, recorded.scope) for one in statements)
    is_evaluated = values <= values_max
    try:
        followed = follow(reading, recorded, *(statements if is_evaluated else ()))
        missing = unrecorded(reading, recorded, followed)
    except ValueError as error:
        return Monitored(verdict=Verdict.UNKNOWN, reason=str(error))
    if followed.broken_after is None and missing:
        needed = ", ".join(map(str, missing))
        reason = f"{followed.refused} needs {needed} before, which is not recorded"
        return Monitored(verdict=Verdict.UNKNOWN, reason=reason, steps=followed.steps)
    broken = why_broken(reading, followed)
    if broken:
        return Monitored(verdict=Verdict.VIOLATED, reason=broken, steps=followed.steps)
    if recorded.ended:
        reason = f"the model has no more: {recorded.ended}; before it, a run of {name}"
        return Monitored(verdict=Verdict.UNKNOWN, reason=reason, steps=followed.steps)
    also = "" if is_evaluated else "; too many values to evaluate its invariants as well"
    reason = f"a run of {name}{also}"
    return Monitored(verdict=Verdict.HOLDS, reason=reason, steps=followed.steps)


def why_broken(reading: CompiledReading, followed: Followed) -> str:
    """Return the statement or the part of a guard that a run breaks, or empty."""
    name = reading.system.name
    if followed.broken_after is not None:
        given = ", ".join(f"{one}={value}" for one, value in followed.broken_for.items())
        return f"{followed.broken}({given}) of {name} is false after step {followed.broken_after}"
    if followed.refused is None:
        return ""
    false = _false_guard(reading, followed.worlds, followed.refused)
    chosen = sorted(_unknown_parameters(reading, followed.refused))
    other = f" for any {', '.join(chosen)}" if chosen else " leads to another state"
    because = f" requires {false}" if false else other
    return f"{name} does not allow step {followed.steps + 1}: {followed.refused}{because}"


def _unknown_parameters(reading: CompiledReading, step: RecordedStep) -> set[str]:
    actions = (one for one in reading.system.actions if one.name in step.actions)
    return {p.name for one in actions for p in one.parameters} - step.parameters.keys()


def _false_guard(reading: CompiledReading, worlds: Sequence[World], step: RecordedStep) -> str:
    for action in reading.system.actions:
        if action.name not in step.actions:
            continue
        known = {p: step.parameters[p.name] for p in action.parameters if p.name in step.parameters}
        world = choosing(worlds[0], step.chosen)
        for part in conjuncts(action.guard):
            if part.free <= known.keys() and not evaluate(part, world, known):
                return text(part)
    return ""


def _stamps(history: History) -> Iterator[str]:
    yield from (f"T{one.id} has no timestamp" for one in history.transactions if not one.timestamp)


def _applier(*, is_stamped: bool, barriers: frozenset[TransactionKind]) -> Gap:
    """Return the gap of an applier: a transaction's first event is its start.

    A stamped model knows ``barriers`` only, and others by their write sets.
    """

    def gap(history: History) -> Iterator[str]:
        if len({event.member for event in history.events if event.kind in _APPLIED}) > 1:
            yield "events of several replicas"
        begun: set[object] = set()
        for event in history.events:
            if event.kind is EventKind.SCHEDULED:
                begun.add(event.transaction)
            elif event.kind in _APPLIED and event.transaction not in begun:
                yield f"{event.kind.value} of T{event.transaction} before it is scheduled"
        if is_stamped:
            yield from _stamps(history)
            for one in history.transactions:
                if one.is_barrier and one.kind not in barriers:
                    yield f"T{one.id} has no write set, and the model no such barrier"

    return gap


def _snapshots(history: History) -> Iterator[str]:
    sent = {event.transaction for event in history.events_of(EventKind.SUBMITTED)}
    for event in history.events_of(EventKind.CERTIFIED):
        one = None if event.transaction is None else history.transaction(event.transaction)
        if one and one.id not in sent and one.kind is not TransactionKind.VIEW_CHANGE:
            yield f"T{one.id} is not submitted"


def _group_numbers(history: History) -> Iterator[str]:
    yield from _numbers(history)
    for one in history.transactions:
        if one.kind is TransactionKind.VIEW_CHANGE:
            yield f"T{one.id} is a view change in the log, which the model does not have"


def _waits(history: History) -> Iterator[str]:
    yield from _group_numbers(history)
    yield from waiting_groups.lacking(history)


def _whole(reading: Callable[[History], Recorded]) -> Readings:
    return lambda history: iter((reading(history),))


def _of_each(reading: Callable[[History, str], Recorded]) -> Readings:
    """Return a reading of each member that certifies."""

    def readings(history: History) -> Iterator[Recorded]:
        for member in dict.fromkeys(e.member for e in history.events_of(EventKind.CERTIFIED)):
            yield reading(history, member)

    return readings


def _numbers(history: History) -> Iterator[str]:
    """Yield what a group's certifications lack."""
    for event in history.events_of(EventKind.CERTIFIED):
        one = None if event.transaction is None else history.transaction(event.transaction)
        is_numbered = event.outcome is Outcome.POSITIVE and one and one.origin != event.member
        if is_numbered and event.timestamp is None:
            yield f"T{event.transaction} has no timestamp at {event.member}"
        elif event.timestamp and event.timestamp.sequence_number > NUMBER_MAX:
            yield f"a number above {NUMBER_MAX}"


_APPLIED = frozenset({EventKind.BEGUN, EventKind.ROW_APPLIED, EventKind.ENGINE_COMMITTED})
_APPLIER = frozenset({EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED})
_RESTARTED = frozenset({EventKind.ROLLED_BACK, EventKind.CRASHED, EventKind.SKIPPED})
_COMMITS = frozenset({EventKind.ENGINE_COMMITTED})
_ONE_FILE = _RESTARTED | {EventKind.RELAY_ROTATED}


def _of_applier(
    theorem: str,
    prop: str,
    reading: Callable[[History], Recorded],
    ends: frozenset[EventKind],
    *,
    is_stamped: bool,
    barriers: frozenset[TransactionKind] = frozenset(),
) -> Monitor:
    return Monitor(
        theorem=theorem, prop=prop, readings=_whole(reading), needs=_APPLIER, ends=ends,
        gap=_applier(is_stamped=is_stamped, barriers=barriers),
    )  # fmt: skip


_IN_ORDER = _of_applier(
    "P07", "engine_commits_follow_the_log", replicas.commit_order, _RESTARTED, is_stamped=False
)
_CERTIFIER = Monitor(
    theorem="P05", prop="first_certified_wins", readings=_of_each(members.certification),
    needs=frozenset({EventKind.CERTIFIED}), gap=_snapshots,
)  # fmt: skip
_NUMBERS = Monitor(
    theorem="P01", prop="conflicting_transactions_are_ordered",
    readings=_of_each(members.timestamps), needs=frozenset({EventKind.CERTIFIED}),
    ends=frozenset({EventKind.CRASHED, EventKind.RECOVERED}), gap=_numbers,
)  # fmt: skip
_GROUP = Monitor(
    theorem="P54", prop="members_commit_in_one_order",
    readings=_whole(whole_groups.parallel_group),
    needs=frozenset({EventKind.SUBMITTED, EventKind.CERTIFIED, EventKind.VIEW_INSTALLED,
                     EventKind.ENGINE_COMMITTED}),
    gap=_group_numbers, transactions_max=GROUP_MAX,
    supplies="what is not recorded happened when it restrains least",
)  # fmt: skip
_WAITING = replace(
    _GROUP, theorem="P56", prop="members_answer_when_others_have_it",
    readings=_whole(waiting_groups.acknowledged_group), gap=_waits,
)  # fmt: skip
_ANY_ORDER = replace(
    _GROUP, theorem="P55", prop="changes_land_as_certified",
    readings=_whole(unordered_groups.parallel_group),
)  # fmt: skip
REMEDIES = (sources.WITHHELD, sources.BARRED)


def _of_source(
    theorem: str,
    prop: str,
    *needs: EventKind,
    remedies: Sequence[str] = REMEDIES,
    by_the_first: bool = False,
) -> Monitor:
    reading = partial(sources.waiting, remedies=remedies, by_the_first=by_the_first)
    return Monitor(
        theorem=theorem, prop=prop, readings=_whole(reading), gap=sources.lacking,
        needs=frozenset({EventKind.FLUSHED, EventKind.SYNCED, EventKind.DELIVERED, *needs}),
    )  # fmt: skip


_RECOVERY = Monitor(
    theorem="P17", prop="no_event_is_applied_twice", needs=_COMMITS, gap=recoveries.lacking,
    readings=recoveries.of_each_domain(replicas.restart), is_by_domain=True,
)  # fmt: skip
MONITORS = {
    one.theorem: one
    for one in (
        _NUMBERS,
        replace(_NUMBERS, theorem="P02", prop="barriers_are_ordered_with_all"),
        replace(_NUMBERS, theorem="P03", prop="view_changes_are_zero_zero"),
        replace(_NUMBERS, theorem="P04", prop="last_committed_is_below_sequence_number"),
        _CERTIFIER,
        replace(_CERTIFIER, theorem="P06", prop="refusals_are_deserved"),
        _IN_ORDER,
        replace(_IN_ORDER, theorem="P08", prop="readers_see_prefixes",
                needs=_APPLIER | {EventKind.READ}),
        _of_source("P10", "visible_only_after_acknowledgement", EventKind.READ,
                   remedies=REMEDIES[:1]),
        _of_source("P11", "confirmed_only_after_acknowledgement", EventKind.CLIENT_ACKNOWLEDGED),
        _of_source("P12", "stages_follow_the_binary_log", EventKind.ENGINE_COMMITTED),
        _of_source("P13", "replicas_are_never_ahead", by_the_first=True),
        _RECOVERY,
        replace(_RECOVERY, theorem="P18", prop="applied_exactly_once",
                readings=recoveries.of_each_domain(recoveries.whole)),
        replace(_RECOVERY, theorem="P19", prop="position_covers_only_what_is_applied",
                readings=recoveries.of_each_domain(recoveries.by_position),
                gap=recoveries.lacking_position),
        replace(_RECOVERY, theorem="P50", readings=by_gtid.of_each_replica, gap=by_gtid.lacking,
                is_by_domain=False),
        _of_applier("P16", "no_conflicting_parallel_apply", replicas.bounds_on_replica, _ONE_FILE,
                    is_stamped=True),
        _of_applier("P22", "starts_respect_last_committed", replicas.low_water_mark,
                    _RESTARTED, is_stamped=True, barriers=frozenset(TransactionKind)),
        _of_source("P30", "visible_only_after_acknowledgement", EventKind.READ,
                   remedies=REMEDIES[1:]),
        replace(_GROUP, theorem="P49", prop="no_update_is_lost",
                readings=_whole(whole_groups.group), systems=(0,)),
        replace(_ANY_ORDER, theorem="P53", prop="members_start_as_they_stamped",
                needs=_GROUP.needs | {EventKind.SCHEDULED}, systems=(1,)),
        _GROUP,
        _ANY_ORDER,
        _WAITING,
    )
}  # fmt: skip
"""By the theorem's identifier."""


def _in_progress(history: History) -> Iterator[str]:
    reason = history.header.options.get("in_progress")
    done = {event.transaction for event in history.events_of(EventKind.ENGINE_COMMITTED)}
    for one in history.transactions if reason else ():
        if one.id not in done:
            yield f"{one.gtid} {reason}"


TWO_LOGS = {
    "P07": Monitor(theorem="P07", prop="engine_commits_follow_the_log",
                   readings=_whole(replicas.commits_alone), needs=_COMMITS,
                   supplies="workers had all transactions before the first commit"),
    "P50": Monitor(theorem="P50", prop="no_event_is_applied_twice",
                   readings=_whole(by_gtid.commits_alone), needs=_COMMITS,
                   supplies="workers had all transactions before the first commit"),
    "P13": Monitor(theorem="P13", prop="replica_is_not_ahead",
                   readings=_whole(sources.whole_log), needs=frozenset({EventKind.DELIVERED}),
                   supplies="the replica received in the order of the log"),
    "P17": Monitor(theorem="P17", prop="no_event_is_applied_twice",
                   readings=_whole(replicas.restart), needs=_COMMITS,
                   supplies="workers had all transactions before the first commit"),
    "P18": Monitor(theorem="P18", prop="no_event_is_lost",
                   readings=_whole(replicas.at_rest), needs=_COMMITS, gap=_in_progress,
                   supplies="workers had all transactions before the first commit"),
}  # fmt: skip
"""Those of two logs, which show the order of commits, and more than they need of a crash."""
_CERTIFIED = "no log shows what its member certified and purged; --audit judges its numbers"
_STARTED = "neither log shows when workers start"
_SESSIONS = "neither log shows the snapshots of sessions"
NOT_IN_LOGS = {
    **dict.fromkeys(("P01", "P02", "P03", "P04"), _CERTIFIED),
    **dict.fromkeys(("P05", "P06", "P49", "P54", "P55"), _SESSIONS),
    "P08": "neither log shows what readers saw",
    "P10": "neither log shows what clients saw",
    "P11": "neither log shows which clients had an answer",
    "P12": "no log shows in which order the source's engine committed",
    **dict.fromkeys(("P16", "P22", "P53"), _STARTED),
    "P19": "neither log has the saved position",
    "P30": "neither log shows what clients saw",
    "P56": "neither log shows who acknowledged",
}
"""Why two logs do not decide a theorem."""
TWO_LOGS |= {name: MONITORS[name] for name in NOT_IN_LOGS if name in MONITORS}


def monitor_named(name: str) -> Monitor:
    """Return a theorem's monitor; raises ``ParaplyError`` P521."""
    if name.upper() not in MONITORS:
        raise ParaplyError(UNKNOWN_MONITOR, name=name, names=", ".join(MONITORS))
    return MONITORS[name.upper()]
