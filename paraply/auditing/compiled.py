"""The audit by the compiled engine.

``NotCompilable`` requests the readable one.
"""

from __future__ import annotations

from collections.abc import Callable

from paraply.adapters.binlog.compiled.batch import Batch
from paraply.adapters.binlog.compiled.rereading import LogChanged, Rereader
from paraply.adapters.binlog.compiled.stream import CompiledStream, PlanChanged
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.properties.logs.audit import AuditOptions
from paraply.properties.logs.compiled.auditor import CompiledAuditor
from paraply.properties.logs.compiled.batches import NotCompilable
from paraply.vocabulary.audit_result import AuditResult
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedTransaction


class LogQuestions:
    """Rereads transactions and keys from the files."""

    def __init__(self, rereader: Rereader) -> None:
        self._rereader = rereader

    def reread(self, ordinal: int, at: int) -> LoggedTransaction:
        """Return the transaction at a place."""
        txn = self._rereader.read(at)
        txn.ordinal = ordinal
        return txn

    def keys_with(self, ordinal: int, at: int, digests: frozenset[int]) -> dict[int, ConflictKey]:
        """Return keys with these digests."""
        return self._rereader.keys_with(self.reread(ordinal, at), at, digests)


def audit_compiled(
    files: tuple[str, ...],
    keys: KeyBuilder,
    report: LogReport,
    options: AuditOptions,
    on_gtids: Callable[[str, str, str], None],
    advance: Callable[[float], None],
    **sizes: int,
) -> AuditResult:
    """Audit files; fill the report.

    ``on_gtids`` receives file, first and last GTID. ``NotCompilable`` invalidates the run.
    ``sizes`` are :class:`CompiledStream`'s, for tests.
    """
    stream = CompiledStream(keys, report, **sizes)
    auditor = CompiledAuditor(keys, LogQuestions(stream.rereader), options)
    try:
        for item in stream.read(files):
            if isinstance(item, Batch):
                auditor.observe_batch(item)
                first, last = item.gtids()
                on_gtids(item.file, first, last)
                advance(sum(file.bytes_read for file in report.files))
            else:
                keys.complete_transaction(item)
                auditor.observe(item)
                on_gtids(item.start.file, item.gtid, item.gtid)
        return auditor.result()
    except (PlanChanged, LogChanged) as reason:
        raise NotCompilable(str(reason)) from reason
