"""The two engines of the audit, behind one interface.

The pipeline is: read → transactions → keys → judge → result. A whole log, a part of it, and the
rows across parts run it with either engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transaction_stream import LogFile, TransactionStream
from paraply.auditing.selection import Selector
from paraply.errors import ENGINE_UNAVAILABLE, EXTRA_MISSING
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.ranged_audit import RangedAuditor
from paraply.properties.logs.replayed_part import RowFollower
from paraply.properties.logs.row_replay import RowReplay
from paraply.tools import EXTRAS
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.not_compilable import BeginAgain, NotCompilable

if TYPE_CHECKING:
    from paraply.adapters.binlog.compiled.left_tables import LeftTables

READABLE, COMPILED = "readable", "compiled"
ENGINES = ("auto", READABLE, COMPILED)


class Step(NamedTuple):
    """What was judged last: one transaction or a batch of one file."""

    file: str
    first_gtid: str
    last_gtid: str


class Engine(Protocol):
    """Reads sources in log order and feeds one judge."""

    name: str
    steps_per_news: int
    """Steps between two reports of progress."""
    report: LogReport
    left: LeftTables | None
    """Tables that it leaves to readable code."""

    def auditor(self, options: AuditOptions, selector: Selector | None = None) -> Auditor:
        """Return a full judge to feed; a selector chooses what it judges."""
        ...

    def follower(self, options: AuditOptions) -> RowFollower:
        """Return a replay-only judge to feed."""
        ...

    def read(self, sources: Sequence[LogFile]) -> Iterator[Step]:
        """Judge the sources' transactions; yield each step."""
        ...

    def finish(self) -> Iterator[Step]:
        """Judge the transaction that is open after the last source."""
        ...


MakeEngine = Callable[[KeyBuilder], Engine]


class Judge(Protocol):
    """Judges transactions in log order."""

    def observe(self, txn: LoggedTransaction) -> None:
        """Process the next transaction."""

    def lose_rows(self) -> None:
        """Forget the rows, which what was not read may have changed."""


def lacks_an_end(report: LogReport) -> bool:
    """Return whether the last file was not read to its end."""
    return bool(report.files) and not report.files[-1].read_to_end


class ReadableEngine:
    """The engine that decodes every row; it supports text dumps."""

    name = READABLE
    steps_per_news = 256
    left: LeftTables | None = None

    def __init__(self, keys: KeyBuilder, *, is_text: bool = False) -> None:
        self.report = LogReport()
        self._keys = keys
        self._is_text = is_text
        self._selector: Selector | None = None
        self._judge: Judge
        self._ranged: RangedAuditor
        self._stream = TransactionStream(
            report=self.report,
            on_table_map=self._on_table_map,
            on_rows=None,
        )

    def _on_table_map(self, table: TableMap) -> None:
        self._keys.registry.observe_table_map(table.table_schema())

    def auditor(self, options: AuditOptions, selector: Selector | None = None) -> Auditor:
        """Return a full judge to feed; a selector chooses what it judges."""
        self._selector = selector
        if selector is not None:
            self._judge = self._ranged = RangedAuditor(self._keys, options)
            return self._ranged
        self._judge = auditor = Auditor(self._keys, options)
        return auditor

    def follower(self, options: AuditOptions) -> RowFollower:
        """Return a replay-only judge to feed."""
        self._judge = follower = RowFollower(
            RowReplay(self._keys, options.replay_rows_max, options.replay_findings_max)
        )
        return follower

    def read(self, sources: Sequence[LogFile]) -> Iterator[Step]:
        """Judge the sources' transactions; yield each step."""
        if self._is_text:
            yield from self._judged(read_text_transactions(sources, report=self.report))
        for source in () if self._is_text else sources:
            yield from self._judged(self._stream.read_file(source))
            if lacks_an_end(self.report):
                self._judge.lose_rows()

    def finish(self) -> Iterator[Step]:
        """Judge the transaction that is open after the last source."""
        yield from self._judged(self._stream.finish())

    def _judged(self, transactions: Iterable[LoggedTransaction]) -> Iterator[Step]:
        for txn in transactions:
            # A transaction outside of the selection may define tables, too.
            self._keys.complete_transaction(txn)
            if self._selector is None or self._selector.takes(txn):
                self._judge.observe(txn)
            else:
                self._ranged.pass_over(txn, follow_rows=not self._selector.is_over)
            yield Step(txn.start.file, txn.gtid, txn.gtid)


class Attempts:
    """Engines to try: each is for what the one before refused."""

    def __init__(self, engines: Iterable[MakeEngine]) -> None:
        self._engines = [*engines]
        self.refused = ""
        """Why the engine before could not."""

    @property
    def engine(self) -> MakeEngine:
        """Return what makes the next engine."""
        return self._engines[0]

    def note(self, refusal: NotCompilable) -> None:
        """Go on to the next engine, or to the same once more; raises P308 after the last."""
        if isinstance(refusal, BeginAgain):
            return
        self.refused = str(refusal)
        del self._engines[0]
        if not self._engines:
            raise no_compiled_engine(refusal) from None


def engines_for(
    name: str, readable: MakeEngine = ReadableEngine, left: LeftTables | None = None
) -> tuple[MakeEngine, ...]:
    """Return the engines to try: each is for what the one before refused (``NotCompilable``).

    The compiled one leaves the ``left`` tables to readable code, and may ask to be made once more
    (``BeginAgain``) for others.

    Raises P308 for ``compiled`` where it cannot be loaded, P314 where its libraries are missing.
    """
    if name == READABLE:
        return (readable,)
    try:
        # Imported only here: it costs most of a second and 90 MB, which a small log does not pay.
        from paraply.auditing.compiled import CompiledEngine
    except ImportError as fault:
        if name == COMPILED:
            raise no_compiled_engine(fault) from None
        return (readable,)
    compiled = CompiledEngine.leaving_tables(left)
    return (compiled,) if name == COMPILED else (compiled, readable)


def no_compiled_engine(reason: object) -> ParaplyError:
    """Return the error for the requested compiled engine, P314 where an extra is missing."""
    if isinstance(reason, ModuleNotFoundError):
        library = (reason.name or "").partition(".")[0]
        if library in EXTRAS:
            return ParaplyError(EXTRA_MISSING, library=library, extra=EXTRAS[library])
    return ParaplyError(ENGINE_UNAVAILABLE, engine=COMPILED, reason=str(reason))
