"""Timing by :mod:`paraply.reference_impl.applier.clock`.

The coordinator causes no wait (internal requirement 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from paraply.reference_impl.applier.clock import ticks_of
from paraply.reference_impl.applier.source_log import SourceSettings
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.source import RowSource
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.vocabulary.schedule import SeededSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Ticks; failed or stalled runs have not finished."""

    ticks: int
    has_finished: bool


def timing(dialect: str, workload: Workload, *, seed: int = 0) -> Timing:
    """Apply a seeded log, a step per busy worker and tick.

    All dialects share the log.
    """
    options = WL4648.options_of(workload)
    recorder = Recorder()
    settings = SourceSettings(
        barriers=False, rotations=0, collections=0, view_changes=0, sessions=1
    )  # fmt: skip
    source = SmallTransactions(workload.row_names, DIALECTS["wl8440"], settings)
    source.deletes, source.conflicts = False, bool(options["conflicts"])
    log = source.execute(SeededSchedule(seed), recorder, workload.transactions)
    replica = WL4648.replica(log, workload, dialect, options, recorder)
    ticks = ticks_of(replica)
    return Timing(ticks=ticks, has_finished=replica.has_finished)


class SmallTransactions(RowSource):
    """Transactions of one or two rows, to bound the sets."""

    def row_sets(self, rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
        """Return rows and neighbouring pairs."""
        names = sorted(rows)
        return [*((name,) for name in names), *pairwise(names)]
