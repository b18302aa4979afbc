"""Judge client runs against what vendors document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate
from typing import Any

from paraply.adapters.elle.histories import BankHistory
from paraply.adapters.elle.operations import OperationType
from paraply.adapters.live.clients.options import ClientOptions
from paraply.adapters.live.clients.run import ClientRound
from paraply.adapters.live.clients.workloads import OPENING_BALANCE
from paraply.adapters.live.target import LiveRequest
from paraply.observing.claims import Claim, claim_of, forbidden_by
from paraply.observing.judging import add_evidence
from paraply.properties.isolation.bank import BANK_TOTAL, judge_bank
from paraply.properties.isolation.counters import (
    COUNTER_TOO_HIGH,
    LOST_INCREMENT,
    LoggedIncrement,
    judge_logged_increments,
)
from paraply.properties.isolation.freshness import STALE_READ, judge_freshness
from paraply.properties.isolation.going_back import MONOTONIC_AT_SERVER
from paraply.properties.isolation.judging import CycleSearch, Finding, Isolation, judge
from paraply.properties.isolation.objects import REMAINS, judge_objects
from paraply.properties.isolation.readers_alone import readers_alone
from paraply.properties.isolation.sets import (
    DUPLICATE_ELEMENT,
    LOST_ELEMENT,
    VANISHED_ELEMENT,
    element_outcomes,
)
from paraply.properties.registry import Violation
from paraply.vocabulary.client_history import ClientHistory, DataType
from paraply.vocabulary.verdict import Verdict, combine

COMMITTED_MIN = 100
"""Fewer confirmed transactions establish nothing."""
_COMPILED_MIN = 500
"""Transactions from which compiling the search is worth its seconds."""
_ELEMENTS_SHOWN_MAX = 24
"""Of a list or set in a witness."""
ALL, READERS = "all", "read-only"
LOST = "lost commit"
LOG_TOTAL = "log total"
PREFIX_TOTAL = "prefix total"
_NAME = re.compile(r"\bT(\d+)\b")


class Status(Enum):
    """How a finding compares with the documents."""

    CONFIRMED = "as documented"
    """Promised, and held."""
    REFUTED = "refuted"
    """Promised, and violated."""
    KNOWN = "refuted, as published"
    """Promised and violated; a document or report knows it."""
    DOCUMENTED = "documented"
    """Not promised and violated; a document or report describes it."""
    PERMITTED = "not promised"
    """Violated, and no document mentions it."""
    HELD = "held"
    """Not promised, and held."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """The smallest breach, with the transactions that it names."""

    sentence: str
    transactions: tuple[str, ...] = ()
    servers: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class ClientFinding:
    """All rounds' result for one phenomenon."""

    view: str
    """ALL or READERS: whose reads were judged."""
    label: str
    meaning: str
    is_promised: bool
    is_admitted: bool
    held: int = 0
    broken: int = 0
    """Breaches of all rounds."""
    between_servers: int = 0
    """Breaches whose transactions ran on several servers."""
    reason: str = ""
    witness: Witness | None = None

    @property
    def verdict(self) -> Verdict:
        """Return the gravest verdict of the rounds."""
        if self.broken:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.held else Verdict.UNKNOWN

    @property
    def status(self) -> Status:
        """Return how it compares with the documents."""
        if self.verdict is Verdict.UNKNOWN:
            return Status.UNKNOWN
        if self.verdict is Verdict.HOLDS:
            return Status.CONFIRMED if self.is_promised else Status.HELD
        if not self.is_promised:
            return Status.DOCUMENTED if self.is_admitted else Status.PERMITTED
        return Status.KNOWN if self.is_admitted else Status.REFUTED


@dataclass(slots=True, kw_only=True)
class ClientResult:
    """The findings of one target, mode and level."""

    target: str
    request: LiveRequest
    options: ClientOptions
    claim: Claim
    findings: dict[tuple[str, str], ClientFinding] = field(default_factory=dict)
    levels: dict[tuple[str, str], list[Verdict]] = field(default_factory=dict)
    """By view and promised level, round by round; known breaches left out."""
    evidence: dict[str, int | str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rounds: int = 0
    histories: list[str] = field(default_factory=list)
    """Files that were written."""

    @property
    def committed(self) -> int:
        """Return the confirmed transactions of all rounds."""
        return int(self.evidence.get("committed", 0))

    def verdict(self, *, allow_documented: bool = False) -> Verdict:
        """Return the verdict on the promises.

        ``allow_documented`` leaves out breaches that a document or report knows.
        """
        bad = {Status.REFUTED} if allow_documented else {Status.REFUTED, Status.KNOWN}
        if any(one.status in bad for one in self.findings.values()):
            return Verdict.VIOLATED
        if self.committed < COMMITTED_MIN:
            return Verdict.UNKNOWN
        decided = [
            one.verdict
            for one in self.findings.values()
            if one.is_promised and one.label in _ALONE and one.status is not Status.KNOWN
        ]
        return combine([*decided, *(combine(each) for each in self.levels.values())])

    def why_unknown(self) -> str:
        """Return why the verdict is unknown, or empty."""
        if self.verdict() is not Verdict.UNKNOWN:
            return ""
        if self.committed < COMMITTED_MIN:
            return f"{self.committed:,} transactions were confirmed; at least {COMMITTED_MIN} count"
        reasons = [
            f"{one.label}: {one.reason}"
            for one in self.findings.values()
            if one.is_promised and one.verdict is Verdict.UNKNOWN and one.reason
        ]
        return reasons[0] if reasons else "no promise was put to the test"


_ALONE = {
    STALE_READ.label, BANK_TOTAL.label, PREFIX_TOTAL, LOST, LOST_ELEMENT.label,
    LOST_INCREMENT.label, MONOTONIC_AT_SERVER.label,
}  # fmt: skip
"""Promised by themselves; levels decide the others."""


def new_client_result(target: str, request: LiveRequest, options: ClientOptions) -> ClientResult:
    """Return a result without rounds."""
    return ClientResult(
        target=target,
        request=request,
        options=options,
        claim=claim_of(target, request.mode, options),
    )


def take_client_round(result: ClientResult, one: ClientRound) -> None:
    """Judge a round and add it."""
    result.rounds += 1
    add_evidence(result.evidence, one.evidence)
    result.notes += [note for note in one.notes if note not in result.notes]
    tell = _Telling(one)
    if isinstance(one.history, BankHistory):
        _take_bank(result, one, one.history, tell)
    elif not one.history.data_type.has_versions:
        _take_objects(result, one, one.history, tell)
    else:
        _take_history(result, one.history, tell)
    lost = [
        f"{server} lacks T{number}" for server, gone in one.missing.items() for number in gone
    ]  # fmt: skip
    _add(
        result, ALL, LOST, "a server lacks a transaction that its client saw committed",
        Verdict.VIOLATED if lost else Verdict.HOLDS if one.confirmed else Verdict.UNKNOWN,
        lost, tell, is_promised=True, reason="no writing transaction was confirmed",
    )  # fmt: skip


def _take_history(result: ClientResult, history: ClientHistory, tell: _Telling) -> None:
    claim, search = result.claim, _search(len(history.transactions))
    _take_view(result, ALL, judge(history, search=search), claim.levels, tell)
    if claim.reader_levels:
        alone = judge(readers_alone(history), search=search)
        _take_view(result, READERS, alone, claim.reader_levels, tell)
    stale = judge_freshness(history)
    _add_finding(result, ALL, stale, tell, is_promised=claim.is_fresh)


def _search(transactions: int) -> CycleSearch | None:
    """Return the compiled search: replicas that lag make one large cycle of many."""
    if transactions < _COMPILED_MIN:
        return None
    try:
        from paraply.properties.isolation.compiled.cycles import CompiledSearch
    except ImportError:
        return None
    return CompiledSearch()


def _take_view(
    result: ClientResult, view: str, judged: Isolation, levels: Sequence[str], tell: _Telling
) -> None:
    forbidden = forbidden_by(levels)
    for finding in judged.findings:
        label = finding.phenomenon.label
        if view == ALL or label in forbidden:
            _add_finding(result, view, finding, tell, is_promised=label in forbidden)
    admitted = result.claim.admitted if view == ALL else frozenset()
    for name in levels:
        level = judged.level(name)
        verdict = level.verdict
        if verdict is Verdict.VIOLATED and set(level.because) <= admitted:
            continue
        result.levels.setdefault((view, name), []).append(verdict)


def _take_objects(
    result: ClientResult, one: ClientRound, history: ClientHistory, tell: _Telling
) -> None:
    claim = result.claim
    forbidden = forbidden_by(claim.levels)
    promised = {*forbidden, *(each.label for each in REMAINS)}
    if "garbage" in forbidden:
        # Committed rows only: no other element, none twice, and no other increment.
        committed = (DUPLICATE_ELEMENT, VANISHED_ELEMENT, COUNTER_TOO_HIGH)
        promised |= {each.label for each in committed}
    if claim.is_fresh:
        promised.add(STALE_READ.label)
    if claim.is_monotonic:
        promised.add(MONOTONIC_AT_SERVER.label)
    findings = list(judge_objects(history))
    if history.data_type is DataType.SET:
        outcomes = element_outcomes(history).items()
        add_evidence(result.evidence, {f"elements {kind.value}": n for kind, n in outcomes})
    else:
        findings.append(judge_logged_increments(_logged_increments(one)))
    for finding in findings:
        is_promised = finding.phenomenon.label in promised
        _add_finding(result, ALL, finding, tell, is_promised=is_promised)
    of_readers = forbidden_by(claim.reader_levels)
    for finding in judge_objects(readers_alone(history)) if of_readers else ():
        if finding.phenomenon.label in of_readers:
            _add_finding(result, READERS, finding, tell, is_promised=True)


def _logged_increments(one: ClientRound) -> Iterator[LoggedIncrement]:
    for number, place in one.places.items():
        for key, before, after in place.counted:
            yield LoggedIncrement(f"T{number}", key, before, after)


def _take_bank(
    result: ClientResult, one: ClientRound, history: BankHistory, tell: _Telling
) -> None:
    expected = OPENING_BALANCE * result.options.keys
    totals = [
        (read.reader.partition(" ")[0], sum(read.balances.values())) for read in history.reads
    ]
    promised = forbidden_by(result.claim.levels)
    finding, _ = judge_bank(totals, expected=expected)
    _add_finding(result, ALL, finding, tell, is_promised="G-single" in promised)
    changed = [
        f"T{number} changed the total of all accounts by {place.total_change:+}"
        for number, place in one.places.items()
        if place.total_change
    ]
    _add(
        result, ALL, LOG_TOTAL, "a logged transfer changed the total: it overwrote another",
        Verdict.VIOLATED if changed else Verdict.HOLDS if one.places else Verdict.UNKNOWN,
        changed, tell, is_promised="P4" in promised, reason="the log has no transfer",
    )  # fmt: skip
    shown = {
        *accumulate((place.total_change for place in one.places.values()), initial=expected)
    }  # fmt: skip
    strange = [
        f"{reader} saw {total} in all accounts together, which no prefix of the log shows"
        for reader, total in totals
        if total not in shown
    ]
    _add(
        result, READERS, PREFIX_TOTAL, "a read of all accounts shows no state of the log",
        Verdict.VIOLATED if strange else Verdict.HOLDS if totals else Verdict.UNKNOWN,
        strange, tell, is_promised="prefix" in forbidden_by(result.claim.reader_levels),
        reason="no read of the accounts succeeded",
    )  # fmt: skip


def _add_finding(
    result: ClientResult, view: str, finding: Finding, tell: _Telling, *, is_promised: bool
) -> None:
    _add(
        result, view, finding.phenomenon.label, finding.phenomenon.meaning, finding.verdict,
        finding.breaches, tell, is_promised=is_promised, reason=finding.reason,
    )  # fmt: skip


def _add(
    result: ClientResult,
    view: str,
    label: str,
    meaning: str,
    verdict: Verdict,
    breaches: Sequence[Violation | str],
    tell: _Telling,
    *,
    is_promised: bool,
    reason: str,
) -> None:
    known = result.findings.setdefault(
        (view, label),
        ClientFinding(
            view=view, label=label, meaning=meaning, is_promised=is_promised,
            # Documents describe readers by promises alone.
            is_admitted=view == ALL and label in result.claim.admitted,
        ),
    )  # fmt: skip
    known.held += verdict is Verdict.HOLDS
    known.broken += len(breaches)
    if verdict is Verdict.UNKNOWN:
        known.reason = reason
    if breaches:
        witnesses = [tell.witness(str(one)) for one in breaches]
        known.between_servers += sum(len(one.servers) > 1 for one in witnesses)
        smallest = min(witnesses, key=_size)
        if known.witness is None or _size(smallest) < _size(known.witness):
            known.witness = smallest


def _size(witness: Witness) -> tuple[int, bool, int]:
    """Few transactions first; then those on several servers, then short ones."""
    transactions = witness.transactions
    return len(transactions), len(witness.servers) < 2, sum(map(len, transactions))


class _Telling:
    """Describes the transactions of a round."""

    def __init__(self, one: ClientRound) -> None:
        self._round = one
        self._ends = dict(_told(one))

    def witness(self, sentence: str) -> Witness:
        """Return a breach with the transactions that it names."""
        numbers = list(dict.fromkeys(map(int, _NAME.findall(sentence))))
        servers = self._round.recorder.servers
        return Witness(
            sentence=sentence,
            transactions=tuple(self._ends[number] for number in numbers if number in self._ends),
            servers=frozenset(servers[number - 1] for number in numbers),
        )


def _told(one: ClientRound) -> Iterator[tuple[int, str]]:
    """Yield each transaction's operations, server and place in the log."""
    running: dict[int, int] = {}
    number = 0
    for operation in one.recorder.operations:
        if operation.type is OperationType.INVOKE:
            number += 1
            running[operation.process] = number
            continue
        ended = running[operation.process]
        words = [f"T{ended}, client {operation.process} on {operation.server}:"]
        words.append(_value(operation.value))
        if operation.type is not OperationType.OK:
            words.append(f"({operation.type.value})")
        place = one.places.get(ended)
        if place is not None:
            words.append(f"GTID {place.gtid} at {place.position}")
        yield ended, " ".join(words)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return " ".join(
        f"[{name} {key} {'nil' if each is None else _list(each)}]"
        for name, key, each in value or ()
    )


def _list(value: Any) -> str:
    if isinstance(value, tuple) and len(value) > _ELEMENTS_SHOWN_MAX:
        return f"[{len(value)} elements]"
    return f"[{' '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
