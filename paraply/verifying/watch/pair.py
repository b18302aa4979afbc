"""Watches one replica: joins both logs and judges."""

from __future__ import annotations

import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from paraply.adapters.binlog.live_events import SentTransaction
from paraply.adapters.servers.binlog_dump import LogPlace
from paraply.adapters.servers.binlog_stream import EventStream
from paraply.properties.two_logs.following import (
    Counts,
    Followed,
    FollowingJudge,
    FollowingState,
    Found,
    Kind,
)
from paraply.verifying.watch.comparing import Comparison, keys_of
from paraply.verifying.watch.errors import MIXED_FAMILIES, SAME_SERVER
from paraply.verifying.watch.findings import (
    Finding,
    Piece,
    Slices,
    finding_of,
    pair_replay,
    piece_of,
    stem_of,
)
from paraply.verifying.watch.reading import LogReader, ReaderStatus
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames
from paraply.vocabulary.log import LoggedKind
from paraply.vocabulary.verdict import Verdict

WINDOW_BYTES = 64 << 20
"""Events of source transactions that wait for the target."""
OPEN_MAX = 200_000
"""Source transactions from the first that has not come on."""
PATIENCE_MYSQL = 1_024
"""A replica applies at most replica_checkpoint_group (512 by default) ahead of a gap."""
PATIENCE_MARIADB = 16
"""Within a domain, commits never overtake: one that did came in the wrong order, or not at all."""
PIECE_BYTES_MAX = 4 << 10
PIECES_MAX = 8
"""Small transactions that the state keeps, by table, to show errant ones beside them."""
NEXT_MAX = 100
_ASK_AFTER_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """How to judge."""

    require: str = "prefix"
    """``prefix`` or ``atomic``."""
    patience: int | None = None
    filtered: frozenset[str] = frozenset()
    window_bytes: int = WINDOW_BYTES
    slices: Path | None = None


@dataclass(slots=True, kw_only=True)
class PairState:
    """What a restart needs; plain data after :meth:`as_json`."""

    source: str = ""
    """The server behind the address."""
    target: str = ""
    target_after: GtidNames
    """The target's transactions that are judged."""
    judge: FollowingState
    seen: list[str] = field(default_factory=list)
    doubts: dict[str, str] = field(default_factory=dict)
    findings: int = 0
    pieces: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Head and events (Base64) of the last small transaction of some tables."""

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "target_after": self.target_after.as_json(),
            "judge": self.judge.as_json(),
        }

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> PairState:
        """Return the state of :meth:`as_json`."""
        return cls(**data | {
            "target_after": GtidNames.of_json(data["target_after"]),
            "judge": FollowingState.of_json(data["judge"]),
        })  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSnapshot:
    """A pair as the views show it."""

    name: str
    verdict: Verdict
    counts: Counts
    behind: int
    """Source transactions read that have not come."""
    behind_s: float
    """Age of the oldest."""
    gaps: int
    doubts: dict[str, str]
    source: ReaderStatus
    target: ReaderStatus
    stretch: int
    kept_bytes: int
    failure: str
    is_paused: bool
    oldest: SentTransaction | None
    """First source transaction that has not come."""
    next: tuple[SentTransaction, ...]
    """Those after it, :data:`NEXT_MAX` at most."""
    findings: int


OnFinding = Callable[[Finding], None]


class PairWatch:
    """Judges one target against the source; :meth:`step` never waits for long."""

    def __init__(
        self,
        source: EventStream,
        target: EventStream,
        *,
        options: PairOptions,
        on_finding: OnFinding,
        state: PairState | None,
        changed: threading.Condition,
        name: str = "",
    ) -> None:
        self.name = name or target.name
        self.source_stream, self.target_stream = source, target
        self.failure: ParaplyError | None = None
        self._options = options
        self._on_finding = on_finding
        self._changed = changed
        self._is_mariadb = target.is_mariadb()
        identities = source.identity(), target.identity()
        if identities[0] == identities[1]:
            raise ParaplyError(SAME_SERVER, where=self.name, identity=identities[0])
        if source.is_mariadb() != self._is_mariadb:
            family = {False: "MySQL", True: "MariaDB"}
            raise ParaplyError(
                MIXED_FAMILIES,
                where=self.name,
                source=family[not self._is_mariadb],
                target=family[self._is_mariadb],
            )
        if state is None:
            settled, logged = target.start()
            state = PairState(target_after=logged, judge=FollowingState(settled=settled))
        state.source, state.target = identities
        self._slices = Slices(options.slices, stem_of(self.name))
        self._begin(state)

    def _begin(self, state: PairState) -> None:
        """Begin, or begin again, from a state."""
        self._saved = state
        self._after = state.target_after.copy()
        self._findings = state.findings
        self._comparison = Comparison(
            filtered=self._options.filtered, seen=set(state.seen), doubts=dict(state.doubts)
        )
        self._doubts = len(state.doubts)
        patience = self._options.patience
        if patience is None:
            patience = PATIENCE_MARIADB if self._is_mariadb else PATIENCE_MYSQL
        self._judge: FollowingJudge[SentTransaction] = FollowingJudge(
            compare=self._comparison.difference,
            keys_of=keys_of,
            patience=patience,
            state=FollowingState.of_json(state.judge.as_json()),
        )
        self._source_reader = LogReader(
            self.source_stream, state.judge.settled, state.source, self._changed
        )
        self._target_reader = LogReader(
            self.target_stream, state.target_after, state.target, self._changed
        )
        self._head: SentTransaction | None = None
        self._head_since = 0.0
        self._asked = 0.0
        self._fence: LogPlace | None = None
        self._pieces = {
            table: Piece(*map(b64decode, piece)) for table, piece in state.pieces.items()
        }
        self._source_reader.start()
        self._target_reader.start()

    # Steps

    def step(self) -> bool:
        """Take one transaction; return whether there was one to take."""
        self._look_after_readers()
        if self.failure is not None:
            return False
        if self._head is None:
            self._head = self._target_reader.pop()
            self._head_since, self._asked, self._fence = time.monotonic(), 0.0, None
        head = self._head
        if head is not None and self._may_judge(head):
            self._head = None
            self._judge_target(head)
            return True
        if head is None and self.is_paused:
            return False
        sent = self._source_reader.pop()
        if sent is None:
            return False
        self._judge.take_source(self._followed(sent))
        return True

    @property
    def is_paused(self) -> bool:
        """Return whether the source is too far ahead to read on."""
        judge = self._judge
        return judge.weight > self._options.window_bytes or judge.open > OPEN_MAX

    def _look_after_readers(self) -> None:
        for reader in (self._source_reader, self._target_reader):
            if reader.crash is not None:
                raise reader.crash
            if reader.failure is not None and reader.is_idle:
                self.failure = reader.failure
        if self._source_reader.moved or self._target_reader.moved:
            # Another server: its log may have another order, so all that is not settled counts
            # anew. This is a restart from the state.
            state = self.state()
            state.source = self._source_reader.moved or state.source
            state.target = self._target_reader.moved or state.target
            self._end_readers()
            self._begin(state)

    def _followed(self, sent: SentTransaction) -> Followed[SentTransaction]:
        return Followed(
            name=sent.gtid,
            rows=self._comparison.rows(sent),
            group=sent.domain or 0,
            defines=sent.kind is LoggedKind.DDL,
            weight=len(sent.events) + 200,
            content=sent,
        )

    def _may_judge(self, head: SentTransaction) -> bool:
        name = head.gtid
        if self._judge.is_ready_for(name):
            return True
        if self._judge.is_behind_itself or time.monotonic() - self._head_since < _ASK_AFTER_S:
            return False
        return self._is_absent_from_source(name)

    def _is_absent_from_source(self, name: str) -> bool:
        """Return whether the source never had what the target shows.

        A replica gets a transaction only after it is in the source's log.
        """
        now = time.monotonic()
        if self._fence is None:
            if now - self._asked < _ASK_AFTER_S:
                return False
            self._asked = now
            try:
                if not self.source_stream.has(name):
                    return True
                self._fence = self.source_stream.log_end()
            except ParaplyError:
                return False
        place = self._source_reader.status.place
        return (
            self._source_reader.is_idle
            and self._source_reader.status.is_connected
            and _order(place) >= _order(self._fence)
            and not self._judge.is_ready_for(name)
        )

    def _judge_target(self, sent: SentTransaction) -> None:
        self._comparison.note_target(sent)
        entry = self._followed(sent)
        matched = self._judge.counts.matched
        for found in self._judge.take_target(entry):
            self._report(found)
        self._after.add(entry.name)
        if self._judge.counts.matched > matched and len(sent.events) <= PIECE_BYTES_MAX:
            self._keep_piece(sent)
        self._note_doubts(sent)

    def _keep_piece(self, sent: SentTransaction) -> None:
        piece = piece_of(sent)
        for table in sorted(sent.row_tables):
            self._pieces.pop(table, None)
            self._pieces[table] = piece
        while len(self._pieces) > PIECES_MAX:
            del self._pieces[next(iter(self._pieces))]

    def _note_doubts(self, sent: SentTransaction) -> None:
        doubts = self._comparison.doubts
        if sent.kind is LoggedKind.STATEMENT:
            doubts.setdefault("statements", "changes are logged as statements, without their rows")
        if sent.kind is LoggedKind.INCIDENT:
            doubts.setdefault("incident", "the server lost events (INCIDENT)")
        if len(doubts) == self._doubts:
            return
        for subject, why in list(doubts.items())[self._doubts :]:
            self._judge.counts.doubts += 1
            self._emit(Found(kind=Kind.DOUBT, text=f"{subject}: {why}"))
        self._doubts = len(doubts)

    def _report(self, found: Found[SentTransaction]) -> None:
        if (
            found.kind is Kind.MISSING
            and found.source is not None
            and self._comparison.is_new_to_target(found.source.content)
        ):
            self._judge.counts.missing -= 1  # It is a doubt.
            return
        if found.kind is Kind.DOUBT:
            entry = found.source or found.target
            assert entry is not None
            if self._comparison.defines(entry.content):
                self._comparison.doubts.setdefault(entry.name, found.text)
            return
        if found.kind is Kind.NOT_PREFIX and self._options.require != "prefix":
            return
        self._emit(found)

    def _emit(self, found: Found[SentTransaction]) -> None:
        self._findings += 1
        replay = pair_replay(self._slices, self._findings, found, self._pieces)
        self._on_finding(finding_of(found, self.name, self._findings, replay))

    # What others see

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on all transactions so far."""
        counts = self._judge.counts
        is_wrong = (
            counts.missing > counts.late
            or counts.errant
            or counts.twice
            or counts.changed
            or counts.inverted
            or (self._options.require == "prefix" and (counts.not_prefix or counts.late))
        )
        if is_wrong:
            return Verdict.VIOLATED
        if self._comparison.doubts or self.failure or not counts.matched or self._judge.gaps():
            return Verdict.UNKNOWN
        return Verdict.HOLDS

    def unknown_because(self) -> list[str]:
        """Return why the verdict is not certain."""
        found = [f"{subject}: {why}" for subject, why in self._comparison.doubts.items()]
        if self.failure is not None:
            found.append(f"{self.failure.text} ({self.failure.remedy})")
        if not self._judge.counts.matched:
            found.append("no transaction of the source has come yet")
        gaps = self._judge.gaps()
        if gaps:
            found.append(
                f"{gaps[0].name} has not come, and later ones have ({len(gaps)} such gaps)"
            )
        return found

    @property
    def matched(self) -> int:
        """Return the number of transactions that came so far."""
        return self._judge.counts.matched

    def snapshot(self) -> PairSnapshot:
        """Return the present numbers."""
        waiting = [entry.content for entry in self._judge.waiting(1 + NEXT_MAX)]
        began = 0.0
        if waiting:
            txn = waiting[0].transaction
            began = (txn.committed_at_us or txn.event_time_s * 1_000_000) / 1e6
        stretch = self._judge.stretch
        return PairSnapshot(
            name=self.name,
            verdict=self.verdict,
            counts=Counts(**asdict(self._judge.counts)),
            behind=self._judge.behind,
            behind_s=max(0.0, time.time() - began) if waiting else 0.0,
            gaps=len(self._judge.gaps()),
            doubts=dict(self._comparison.doubts),
            source=replace(self._source_reader.status),
            target=replace(self._target_reader.status),
            stretch=stretch[2] if stretch is not None else 0,
            kept_bytes=self._judge.weight,
            failure="" if self.failure is None else self.failure.text,
            is_paused=self.is_paused,
            oldest=waiting[0] if waiting else None,
            next=tuple(waiting[1:]),
            findings=self._findings,
        )

    def state(self) -> PairState:
        """Return what a restart needs."""
        if not self._judge.is_behind_itself:
            self._saved = PairState(
                source=self._saved.source,
                target=self._saved.target,
                target_after=self._after.copy(),
                judge=self._judge.state(),
                seen=sorted(self._comparison.seen),
                doubts=dict(self._comparison.doubts),
                findings=self._findings,
                pieces={
                    table: (b64encode(piece.head).decode(), b64encode(piece.events).decode())
                    for table, piece in self._pieces.items()
                },
            )
        return self._saved

    def _end_readers(self) -> None:
        for reader in (self._source_reader, self._target_reader):
            reader.end()

    def end(self) -> None:
        """Close both connections."""
        self._end_readers()


def _order(place: LogPlace) -> tuple[int, int]:
    number = place.file.rpartition(".")[2]
    return (int(number) if number.isdecimal() else 0, place.offset)
