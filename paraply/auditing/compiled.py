"""The compiled engine of the audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from paraply.adapters.binlog.compiled.batch import Batch, Toucher
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.adapters.binlog.compiled.stream import CompiledStream
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.transaction_stream import LogFile
from paraply.auditing.engines import COMPILED, MakeEngine, Step, lacks_an_end
from paraply.auditing.selected_batches import stretches
from paraply.auditing.selection import Selector
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled.auditor import CompiledAuditor
from paraply.properties.logs.compiled.left_replay import LeftReplay
from paraply.properties.logs.compiled.ranged_auditor import CompiledRangedAuditor
from paraply.properties.logs.compiled.replay import CompiledReplay, CompiledRowFollower
from paraply.vocabulary.allocator import return_large_blocks
from paraply.vocabulary.log import LoggedTransaction


class CompiledEngine:
    """Feeds batches of plain transactions, and single others; ``sizes`` are for tests.

    With ``left``, the readable code judges the rows of these tables, and of others that turn out
    to need it: then ``BeginAgain`` asks for a new engine with the same ``left``. Reading, judging
    and the result may raise ``NotCompilable``.
    """

    name = COMPILED
    steps_per_news = 1

    def __init__(self, keys: KeyBuilder, left: LeftTables | None = None, **sizes: int) -> None:
        return_large_blocks()
        self.report = LogReport()
        self._keys = keys
        self.left = left
        self._stream = CompiledStream(keys, self.report, left=left, **sizes)
        self._judge: CompiledAuditor | CompiledRowFollower
        self._ranged: CompiledRangedAuditor
        self._selector: Selector | None = None
        self._toucher = Toucher()

    @classmethod
    def leaving_tables(cls, left: LeftTables | None) -> MakeEngine:
        """Return what makes engines that leave odd tables, each those of the ones before.

        The first leaves those of ``left``, which stays as it is.
        """
        return partial(cls, left=LeftTables().with_those_of(left))

    def auditor(self, options: AuditOptions, selector: Selector | None = None) -> CompiledAuditor:
        """Return a full judge to feed; a selector chooses what it judges."""
        left, self._selector = None if self.left is None else self.left.reasons, selector
        if selector is not None:
            self._judge = self._ranged = CompiledRangedAuditor(
                self._keys, self._stream.rereader, options, left=left
            )
            return self._ranged
        self._judge = auditor = CompiledAuditor(
            self._keys, self._stream.rereader, options, left=left
        )
        return auditor

    def follower(self, options: AuditOptions) -> CompiledRowFollower:
        """Return a replay-only judge to feed."""
        replay = CompiledReplay(self._keys, options.replay_rows_max, options.replay_findings_max)
        if self.left is not None:
            replay.leave_to(LeftReplay(self._keys, options.replay_findings_max))
        self._judge = follower = CompiledRowFollower(replay, self._stream.rereader)
        return follower

    def read(self, sources: Sequence[LogFile]) -> Iterator[Step]:
        """Judge the sources' transactions; yield each step."""
        for source in sources:
            yield from self._judged(self._stream.scan_file(source))
            if lacks_an_end(self.report):
                self._judge.lose_rows()

    def finish(self) -> Iterator[Step]:
        """Judge the transaction that is open after the last source."""
        yield from self._judged(self._stream.finish())
        self._stream.require_judged()

    def _judged(self, items: Iterator[Batch | LoggedTransaction]) -> Iterator[Step]:
        for item in items:
            if isinstance(item, Batch):
                self._judge_batch(item)
                yield Step(item.file, *item.gtids())
            else:
                self._keys.complete_transaction(item)
                rows = self._stream.digested(item)
                if not self._stream.is_survey:
                    self._judge_one(item, rows)
                yield Step(item.start.file, item.gtid, item.gtid)

    def _judge_batch(self, batch: Batch) -> None:
        if self._selector is None:
            self._judge.observe_batch(batch)
            return
        for first, end, is_taken in stretches(self._selector, batch):
            part = batch.part(first, end, self._toucher)
            if is_taken:
                self._judge.observe_batch(part)
            else:
                self._ranged.pass_over_batch(part, follow_rows=not self._selector.is_over)

    def _judge_one(self, txn: LoggedTransaction, rows: Batch | None) -> None:
        if self._selector is None or self._selector.takes(txn):
            self._judge.observe(txn, rows)
        else:
            self._ranged.pass_over(txn, rows, follow_rows=not self._selector.is_over)
