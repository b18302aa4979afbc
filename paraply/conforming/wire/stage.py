"""What a run over the wire starts from: the log, the tables, and how the logs are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paraply.adapters.wire.case_logs import CaseLog
from paraply.adapters.wire.live_log import LiveLog
from paraply.adapters.wire.run import Begin
from paraply.adapters.wire.served_log import ServedLog
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import NO_RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The surroundings of one run.

    Attributes:
        log: what the program reads.
        files: the source's log; empty if it is the target's own.
        schema: statements that create the tables, for a log of the target itself.
        words: replaced in the program's command, beside the addresses.
    """

    log: ServedLog | LiveLog
    files: tuple[Path, ...] = ()
    schema: tuple[str, ...] = ()
    drains: frozenset[int] = frozenset()
    begin: Begin | None = None
    rules: Rules = NO_RULES
    words: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_files(cls, made: CaseLog) -> Stage:
        """Return the stage of a recorded log."""
        return cls(log=made.served, files=made.files, drains=made.drains)
