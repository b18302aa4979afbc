"""Report of log reading: each file's content and end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paraply.adapters.binlog.event_types import event_name
from paraply.vocabulary.errors import ParaplyError

_HEAD = "FORMAT_DESCRIPTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One fault; ``ends_file`` stopped reading at ``where``."""

    code: str
    where: str
    text: str
    remedy: str
    ends_file: bool


def diagnostic_of(error: ParaplyError, *, ends_file: bool) -> Diagnostic:
    """Return a fault as a diagnostic."""
    return Diagnostic(
        code=error.error.code,
        where=error.where,
        text=error.text,
        remedy=error.remedy,
        ends_file=ends_file,
    )


@dataclass(slots=True, kw_only=True)
class FileReport:
    """One file's content and end.

    ``compression`` is ``plain``, ``gzip`` or ``zstd``. Relay logs may have two ``checksums``.
    ``bytes_read`` is unpacked. ``closed`` requires a final ROTATE or STOP. ``events`` include
    payloads' inner events.
    """

    file: str
    compression: str = "plain"
    is_relay_log: bool = False
    server_versions: list[str] = field(default_factory=list)
    checksums: list[str] = field(default_factory=list)
    bytes_read: int = 0
    closed: bool = False
    events: Counter[str] = field(default_factory=Counter)
    unknown_events: Counter[int] = field(default_factory=Counter)
    transactions: int = 0
    incomplete_transactions: int = 0
    rows: int = 0
    previous_gtids: str | None = None
    """All earlier files' GTID set (MySQL)."""
    gtid_list: tuple[str, ...] | None = None
    """MariaDB's binlog state at the file's start."""
    next_file: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def read_to_end(self) -> bool:
        """Return whether reading reached the file's end."""
        return not any(diagnostic.ends_file for diagnostic in self.diagnostics)

    @property
    def server_version(self) -> str:
        """Return the source server's version, or empty."""
        return self.server_versions[-1] if self.server_versions else ""

    def count_event(self, type_code: int, *, known: bool = True) -> None:
        """Count one event."""
        self.events[event_name(type_code)] += 1
        if not known:
            self.unknown_events[type_code] += 1

    def leave_out_head(self, begin: int) -> None:
        """Take out the file's head, which was read again, if the report's block begins later."""
        if begin:
            self.bytes_read = max(0, self.bytes_read - begin)
            self.events = Counter(self.events)
            self.events[_HEAD] -= 1
            self.events += Counter()


@dataclass(slots=True, kw_only=True)
class LogReport:
    """All files of one stream, in order."""

    files: list[FileReport] = field(default_factory=list)

    def diagnostics(self) -> Iterator[Diagnostic]:
        """Yield all faults, by file."""
        for file in self.files:
            yield from file.diagnostics

    @property
    def read_to_end(self) -> bool:
        """Return whether reading reached every file's end."""
        return all(file.read_to_end for file in self.files)


def joined(reports: Sequence[FileReport]) -> FileReport:
    """Return the report of a file that was read in blocks."""
    whole = reports[0]
    told = {_words(each) for each in whole.diagnostics}
    for report in reports[1:]:
        whole.bytes_read += report.bytes_read
        whole.events = whole.events + report.events
        whole.unknown_events = whole.unknown_events + report.unknown_events
        whole.transactions += report.transactions
        whole.incomplete_transactions += report.incomplete_transactions
        whole.rows += report.rows
        whole.closed, whole.next_file = report.closed, report.next_file
        for each in report.diagnostics:
            if _words(each) not in told:
                told.add(_words(each))
                whole.diagnostics.append(each)
    return whole


def _words(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.text.replace(diagnostic.where, "")
