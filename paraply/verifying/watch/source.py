"""Judges the source's metadata as it flows: may transactions that conflict overlap on replicas?

Transactions of two files never overlap. So a watch that goes on reads the present file again from
its beginning, and finds what it had found. Only conflicts with another MariaDB domain reach back
into earlier files, which a restart forgets; they are doubts, and those before it are kept.
"""

from __future__ import annotations

import threading
import zlib
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.live_events import SentTransaction
from paraply.adapters.binlog.logical_clock import ClockRuns
from paraply.adapters.binlog.schema.dump import load_schema_text
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.servers.binlog_stream import EventStream
from paraply.adapters.servers.definitions import read_schema
from paraply.properties.logs.conflict_index import ConflictIndex, Horizon
from paraply.properties.logs.dependency_safety import DependencySafety, get_touches
from paraply.properties.logs.lint_findings import VIOLATION
from paraply.properties.logs.log_lint import LogLint
from paraply.properties.logs.overlap_rules import COMMIT_GROUP, LOGICAL_CLOCK, RULES
from paraply.verifying.watch.findings import Finding, Piece, Slices, piece_of, stem_of
from paraply.verifying.watch.reading import LogReader, ReaderStatus
from paraply.vocabulary.audit_result import LintFinding, SafetyViolation
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.sql_text import quoted
from paraply.vocabulary.verdict import Verdict

HORIZON = Horizon(keys=200_000, transactions=50_000)
"""What is remembered; reaching further makes the verdict unknown."""
PIECES_BYTES_MAX = 16 << 20
"""Events of the last transactions, to show a pair."""
PAIRS_MAX = 100
"""Pairs with one transaction that are listed."""
FINDINGS_MAX = 10_000
"""Further ones are counted."""
DEFINITIONS_BYTES_MAX = 1 << 20
"""Of compressed definitions in the state; larger ones are read anew."""
DEFINITIONS_TEXT_BYTES_MAX = 64 << 20
"""Of the same definitions, not compressed."""
STATEMENTS_MAX = 10_000
"""Of DDL in the state; with more, definitions are read anew."""
STATEMENTS_CHARACTERS_MAX = 4 << 20
"""Of their text."""
_REMEDY = "grant SELECT on the tables, or give --no-audit"


@dataclass(slots=True, kw_only=True)
class SourceCounts:
    """Sums of all files."""

    transactions: int = 0
    pairs_allowed: int = 0
    """That the metadata lets overlap."""
    conflicts_ordered: int = 0
    """Pairs with a common row that it keeps apart; a restart forgets rows of earlier files."""
    unsafe: int = 0
    """Conflicting pairs that may overlap."""
    malformed: int = 0

    def plus(self, other: SourceCounts) -> SourceCounts:
        """Return the sums of both."""
        return SourceCounts(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__slots__}
        )


@dataclass(slots=True, kw_only=True)
class SourceState:
    """What a restart needs: the beginning of the present file, and what was known there."""

    server: str = ""
    after: GtidNames
    counts: SourceCounts = field(default_factory=SourceCounts)
    doubts: dict[str, str] = field(default_factory=dict)
    findings: int = 0
    written: int = 0
    """Findings that were written, also later in the file."""
    definitions: str | None = None
    """As read from the server; None if it has to be asked."""
    statements: list[tuple[str, str, str]] = field(default_factory=list)
    """DDL of the log since: text, default schema, place."""

    def as_json(self) -> dict[str, Any]:
        """Return plain data; definitions are compressed (zlib, Base64)."""
        text = b"" if self.definitions is None else self.definitions.encode()
        data = b"" if self.definitions is None else zlib.compress(text)
        is_small = (
            len(data) <= DEFINITIONS_BYTES_MAX
            and len(text) <= DEFINITIONS_TEXT_BYTES_MAX
            and len(self.statements) <= STATEMENTS_MAX
            and sum(len(text) for text, _, _ in self.statements) <= STATEMENTS_CHARACTERS_MAX
        )
        return {name: getattr(self, name) for name in self.__slots__} | {
            "after": self.after.as_json(),
            "counts": asdict(self.counts),
            "definitions": b64encode(data).decode() if data and is_small else None,
            "statements": self.statements if is_small else [],
        }

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> SourceState:
        """Return the state of :meth:`as_json`."""
        packed = data["definitions"]
        return cls(**data | {
            "after": GtidNames.of_json(data["after"]),
            "counts": SourceCounts(**data["counts"]),
            "definitions": packed and _unpacked(b64decode(packed)).decode(),
            "statements": [tuple(each) for each in data["statements"]],
        })  # fmt: skip


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(data, DEFINITIONS_TEXT_BYTES_MAX + 1)
    if not unpacker.eof or len(text) > DEFINITIONS_TEXT_BYTES_MAX:
        raise ValueError(f"its definitions are cut or exceed {DEFINITIONS_TEXT_BYTES_MAX:,} bytes")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSnapshot:
    """The source as the views show it."""

    name: str
    verdict: Verdict | None
    """None while no two transactions may overlap."""
    counts: SourceCounts
    doubts: dict[str, str]
    status: ReaderStatus
    findings: int


class SourceWatch:
    """Judges one source; :meth:`step` never waits for long."""

    def __init__(
        self,
        stream: EventStream,
        *,
        on_finding: Callable[[Finding], None],
        state: SourceState | None,
        slices: Path | None,
        changed: threading.Condition,
    ) -> None:
        self.name = stream.name
        self._stream = stream
        self._on_finding = on_finding
        self._changed = changed
        self._slices = Slices(slices, stem_of(self.name))
        self._failure: ParaplyError | None = None
        if state is None:
            # In this order: a definition may be newer than the log's beginning, but not older.
            state = SourceState(after=stream.start()[1])
        state.server = stream.identity()
        self._begin(state)

    def _begin(self, state: SourceState) -> None:
        """Begin, or begin again, at the beginning of a file."""
        self._begun = self._saved = state
        self._written = state.written
        self._findings = state.findings
        self._file = ""
        self._after = state.after.copy()
        self._clock = ClockRuns()
        self._ordinal = 0
        self._transactions = self._malformed = 0
        self._statements = list(state.statements)
        self._pieces: OrderedDict[int, Piece] = OrderedDict()
        self._pieces_bytes = 0
        self._index = ConflictIndex(HORIZON)
        rule = COMMIT_GROUP if self._stream.is_mariadb() else LOGICAL_CLOCK
        self._safety = DependencySafety([RULES[rule]()], self._index, PAIRS_MAX)
        self._lint = LogLint(PAIRS_MAX)
        self._registry = SchemaRegistry()
        self._keys = KeyBuilder(self._registry)
        self._unread = self._define(state)
        self._schema_file = ""
        self._reader = LogReader(self._stream, state.after, state.server, self._changed)
        self._reader.start()

    def _define(self, state: SourceState) -> str:
        """Load the definitions; return why they could not be read, or an empty text."""
        unread = ""
        if state.definitions is None:
            try:
                state.definitions = read_schema(self._stream).text
                state.statements, self._statements = [], []  # They are in the definitions.
            except ParaplyError as reason:
                unread = f"{reason.text} ({_REMEDY})"
        if state.definitions:
            try:
                load_schema_text(self._registry, state.definitions, self.name)
            except ParaplyError as reason:
                unread = reason.text
        elif not unread:
            unread = f"the account sees no table ({_REMEDY})"
        for sql, schema, where in state.statements:
            self._registry.observe_statement(sql, schema, where=where)
        return unread

    # Steps

    def step(self) -> bool:
        """Take one transaction; return whether there was one to take."""
        reader = self._reader
        if reader.crash is not None:
            raise reader.crash
        if reader.moved:
            # Another server's log: its timestamps have no order with those before.
            state = self._here()
            state.server = reader.moved
            state.findings = state.written = max(self._findings, self._written)
            reader.end()
            self._begin(state)
            return False
        sent = reader.pop()
        if sent is None:
            self._failure = reader.failure
            return False
        self._take(sent)
        return True

    def _take(self, sent: SentTransaction) -> None:
        txn = sent.transaction
        if txn.start.file != self._file:
            if self._file:
                self._saved = self._here()
                self._clock.on_new_file()
            self._file = txn.start.file
        self._number(txn)
        for table in sent.tables.values():
            self._registry.observe_table_map(table)
        self._keys.complete_transaction(txn)
        if txn.schema_statements:
            where = f"{txn.start.file}:{txn.start.offset}"
            self._statements += [(sql, txn.default_schema, where) for sql in txn.schema_statements]
            self._schema_file = ""
        self._judge(txn)
        self._keep_piece(txn.ordinal, sent)
        for violation in self._safety.violations:
            if violation.certain:
                self._emit_pair(violation)
        self._safety.violations.clear()
        for finding in self._lint.findings.listed:
            if finding.severity == VIOLATION:
                self._malformed += 1
                self._emit_malformed(finding)
        self._lint.findings.listed.clear()
        self._after.add(txn.gtid)

    def _number(self, txn: LoggedTransaction) -> None:
        # A new connection counts anew; the log goes on.
        self._ordinal += 1
        self._transactions += 1
        txn.ordinal = self._ordinal
        txn.clock = (
            self._clock.of_unnumbered()
            if txn.sequence_number is None
            else self._clock.of(txn.last_committed, txn.sequence_number)
        )

    def _judge(self, txn: LoggedTransaction) -> None:
        self._lint.observe(txn)
        touches = get_touches(txn)
        seen = self._safety.place(txn, touches)
        self._safety.observe(seen, touches)
        self._safety.remember(seen, touches)

    def _keep_piece(self, ordinal: int, sent: SentTransaction) -> None:
        self._pieces[ordinal] = piece_of(sent)
        self._pieces_bytes += len(sent.events)
        while self._pieces_bytes > PIECES_BYTES_MAX and len(self._pieces) > 1:
            _, oldest = self._pieces.popitem(last=False)
            self._pieces_bytes -= len(oldest.events)

    def _emit_pair(self, found: SafetyViolation) -> None:
        earlier, later = found.earlier, found.later
        self._emit(
            Finding(
                target=self.name,
                number=self._findings + 1,
                kind="unsafe",
                text=f"it may overlap {earlier.gtid}, and both touch {found.table} {found.key}: "
                f"{found.consequence}",
                gtid=later.gtid,
                source_place=f"{later.file}:{later.offset}",
                tables=(found.table,),
                other=earlier.gtid,
            ),
            [self._pieces[n] for n in (earlier.ordinal, later.ordinal) if n in self._pieces],
        )

    def _emit_malformed(self, found: LintFinding) -> None:
        refs = found.transactions
        self._emit(
            Finding(
                target=self.name,
                number=self._findings + 1,
                kind="malformed",
                text=found.message,
                gtid=refs[-1].gtid if refs else "",
                source_place=f"{found.file}:{found.offset}",
                other=refs[0].gtid if len(refs) > 1 else "",
            ),
            [self._pieces[ref.ordinal] for ref in refs if ref.ordinal in self._pieces],
        )

    def _emit(self, finding: Finding, pieces: list[Piece]) -> None:
        self._findings += 1
        if self._findings <= self._written or self._findings > FINDINGS_MAX:
            return  # It was written before the restart.
        is_whole = len(pieces) == 1 + bool(finding.other)
        names = self._slices.write(self._findings, {"log": pieces if is_whole else []})
        if names:
            schema = self._schema()
            finding = replace(
                finding,
                replay=f"paraply audit {names[0]}" + (f" --schema {schema}" if schema else ""),
            )
        self._on_finding(finding)

    def _schema(self) -> str:
        """Return the file with the present definitions, written once for each change."""
        if not self._schema_file and self._saved.definitions:
            statements = "".join(
                (f"USE {quoted(schema)};\n" if schema else "") + f"{sql};\n"
                for sql, schema, _ in self._statements
            )
            text = self._saved.definitions + statements
            name = f"definitions-{len(self._statements)}.sql"
            self._schema_file = self._slices.keep(name, text.encode())
        return self._schema_file

    # What others see

    @property
    def counts(self) -> SourceCounts:
        """Return the sums so far."""
        (evidence,) = self._safety.evidence
        return self._begun.counts.plus(
            SourceCounts(
                transactions=self._transactions,
                pairs_allowed=evidence.pairs_allowed,
                conflicts_ordered=evidence.conflicts_ordered,
                unsafe=evidence.violations_certain,
                malformed=self._malformed,
            )
        )

    def doubts(self) -> dict[str, str]:
        """Return what cannot be decided, and why."""
        found = dict(self._begun.doubts)
        if self._unread:
            found["definitions"] = self._unread
        for table in sorted(self._registry.doubts.distrusted):
            found[table] = "its definition, as the server gave it, does not fit the log"
        for reason in [*self._safety.evidence[0].doubts(), *self._lint.reasons()]:
            found[reason.subject] = reason.reason
        if self._failure is not None:
            found["log"] = f"{self._failure.text} ({self._failure.remedy})"
        return found

    def _verdict(self, counts: SourceCounts, doubts: dict[str, str]) -> Verdict | None:
        if counts.unsafe or counts.malformed:
            return Verdict.VIOLATED
        if doubts:
            return Verdict.UNKNOWN
        return Verdict.HOLDS if counts.pairs_allowed else None

    def snapshot(self) -> SourceSnapshot:
        """Return the present numbers."""
        counts, doubts = self.counts, self.doubts()
        return SourceSnapshot(
            name=self.name,
            verdict=self._verdict(counts, doubts),
            counts=counts,
            doubts=doubts,
            status=replace(self._reader.status),
            findings=self._findings,
        )

    def _here(self) -> SourceState:
        """Return the state as if a file began here; all judges may forget."""
        return SourceState(
            server=self._saved.server,
            after=self._after.copy(),
            counts=self.counts,
            doubts=self.doubts(),
            findings=self._findings,
            definitions=self._saved.definitions,
            statements=list(self._statements),
        )

    def state(self) -> SourceState:
        """Return what a restart needs."""
        return replace(self._saved, written=max(self._findings, self._written))

    def end(self) -> None:
        """Close the connection."""
        self._reader.end()
