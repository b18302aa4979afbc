"""The compiled engine led through blocks of a log."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.binlog.blocks import Block
from adapters.binlog.compiled.batch import Batch
from adapters.binlog.compiled.rereading import LogChanged
from adapters.binlog.compiled.stream import CompiledStream, PlanChanged
from adapters.binlog.keys.builder import KeyBuilder
from adapters.binlog.report import LogReport
from paraply.audit_parts import PartTask, ReadablePartReader, taught
from paraply.compiled_audit import LogQuestions
from properties.logs.compiled.auditor import CompiledAuditor
from properties.logs.compiled.batches import NotCompilable
from vocabulary.log import LoggedTransaction


class CompiledPartReader(ReadablePartReader):
    """Leads the compiled auditor through blocks; raises ``NotCompilable`` where it cannot."""

    def __init__(self, task: PartTask) -> None:
        self.registry = taught(task.lessons, task.schema)
        self.keys = KeyBuilder(self.registry)
        self.report = LogReport()
        self._scanner = CompiledStream(self.keys, self.report)
        self._compiled = CompiledAuditor(
            self.keys, LogQuestions(self._scanner.rereader), task.options
        )
        self.auditor = self._compiled

    def read(self, block: Block) -> Iterator[tuple[str, str]]:
        """Judge what a block holds; yield first and last GTID of each step."""
        yield from self._judged(self._scanner.scan_file(block.open()))

    def finish(self) -> Iterator[tuple[str, str]]:
        """Judge what is still open when the log ends."""
        yield from self._judged(self._scanner.finish())

    def _judged(self, items: Iterator[Batch | LoggedTransaction]) -> Iterator[tuple[str, str]]:
        try:
            for item in items:
                if isinstance(item, Batch):
                    self._compiled.observe_batch(item)
                    yield item.gtids()
                else:
                    yield self._take(item)
        except (PlanChanged, LogChanged) as reason:
            raise NotCompilable(str(reason)) from reason
