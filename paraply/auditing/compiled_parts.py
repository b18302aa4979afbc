"""The compiled engine over a log's blocks."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.compiled.batch import Batch
from paraply.adapters.binlog.compiled.rereading import LogChanged
from paraply.adapters.binlog.compiled.stream import CompiledStream, PlanChanged
from paraply.auditing.compiled import LogQuestions
from paraply.auditing.parts import PartTask, ReadablePartReader
from paraply.properties.logs.audit import AuditOptions, Auditor
from paraply.properties.logs.compiled.auditor import CompiledAuditor
from paraply.properties.logs.compiled.batches import NotCompilable
from paraply.properties.logs.compiled.replay import CompiledReplay, CompiledRowFollower
from paraply.properties.logs.replayed_part import RowFollower
from paraply.vocabulary.log import LoggedTransaction


class CompiledPartReader(ReadablePartReader):
    """Feeds blocks to a compiled judge; raises ``NotCompilable``."""

    refusals = (NotCompilable,)

    def __init__(self, task: PartTask) -> None:
        super().__init__(task)
        self._scanner = CompiledStream(self.keys, self.report)
        self._questions = LogQuestions(self._scanner.rereader)
        self._batch_judge: CompiledAuditor | CompiledRowFollower

    def auditor(self, options: AuditOptions) -> Auditor:
        """Return the auditor to feed."""
        self._judge = self._batch_judge = CompiledAuditor(self.keys, self._questions, options)
        return self._batch_judge

    def follower(self, options: AuditOptions) -> RowFollower:
        """Return the replay-only judge to feed."""
        self._judge = self._batch_judge = CompiledRowFollower(
            CompiledReplay(self.keys, options.replay_rows_max, options.replay_findings_max),
            self._questions,
        )
        return self._batch_judge

    def read(self, block: Block) -> Iterator[tuple[str, str]]:
        """Judge a block; yield each step's GTIDs."""
        yield from self._judged(self._scanner.scan_file(block.open()))

    def finish(self) -> Iterator[tuple[str, str]]:
        """Judge what is open at the end."""
        yield from self._judged(self._scanner.finish())

    def _judged(self, items: Iterator[Batch | LoggedTransaction]) -> Iterator[tuple[str, str]]:
        try:
            for item in items:
                if isinstance(item, Batch):
                    self._batch_judge.observe_batch(item)
                    yield item.gtids()
                else:
                    yield self._take(item)
        except (PlanChanged, LogChanged) as reason:
            raise NotCompilable(str(reason)) from reason
